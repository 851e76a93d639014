"""The digest of an exchange, which any language can compute again.

Rule (wire.md, Digest): SHA-256 over the ASCII text `ullage.exchange.1`, then for the reply and for the results
the number of blocks, and each block as its kind byte and its fields in the wire's order; a tool result's parts as
their number, and each as its kind byte and its fields. A number is 8 bytes, the greatest first; a field is its
length as a number and its bytes.
"""

from hashlib import sha256

_RULE = b"ullage.exchange.1"


class Digest:
    """A digest in the making; it is fed in the order of the rule, and keeps nothing of what it was fed."""

    def __init__(self) -> None:
        self._hash = sha256(_RULE)

    def number(self, number: int) -> None:
        """How many blocks or parts follow."""
        self._hash.update(number.to_bytes(8))

    def kind(self, kind: bytes) -> None:
        """The kind byte of a block or part."""
        self._hash.update(kind)

    def field(self, data: bytes) -> None:
        """A field as bytes: a string in UTF-8, bytes as they are, a bool as one byte 0 or 1."""
        self._hash.update(len(data).to_bytes(8))
        self._hash.update(data)

    def result(self) -> bytes:
        """The digest of what was fed so far, 32 bytes."""
        return self._hash.digest()
