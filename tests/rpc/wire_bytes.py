"""Bytes of the wire made by hand: what no well-behaved client would send."""

VARINT = 0
LENGTH_DELIMITED = 2


def varint(number: int) -> bytes:
    """`number`, a negative one in its 64 bits, seven bits a byte."""
    number %= 1 << 64
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def tag(field: int, wire_type: int) -> bytes:
    """What stands before a field's value."""
    return varint(field << 3 | wire_type)


def number_field(field: int, number: int) -> bytes:
    """The field as a varint: a number, a bool, an enum."""
    return tag(field, VARINT) + varint(number)


def bytes_field(field: int, data: bytes) -> bytes:
    """The field with its length before it: a text, bytes, a message."""
    return tag(field, LENGTH_DELIMITED) + varint(len(data)) + data
