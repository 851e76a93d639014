"""A request's bytes as its message.

Rule (wire.md, Errors): one that does not parse is ARGUMENT_INVALID like any other bad input.
"""

from google.protobuf.message import DecodeError, Message

from ..core.errors import Reason, Refusal
from .methods import Method


class Unparsable(Refusal):
    """The refusal of bytes that are no message of their RPC's."""

    def __init__(self, method: Method) -> None:
        super().__init__(
            Reason.ARGUMENT_INVALID,
            f"the request is no {method.request.DESCRIPTOR.full_name}: it is cut short, garbled, or holds a text "
            "that is not UTF-8",
            subject=f"a request of {method.name}",
            recovery="send the message as its proto file defines it",
        )


def parsed(method: Method, request: bytes) -> Message:
    """The message of `method` that `request` holds. Raises Unparsable."""
    try:
        return method.request.FromString(request)
    except DecodeError:
        raise Unparsable(method) from None
