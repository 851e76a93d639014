"""A request's bytes as its message.

Rule (wire.md, Errors): a request is bounded by its RPC, before it is parsed: MESSAGE_TOO_LARGE says the limit, and
what exceeds the transport's own is refused by gRPC. One that does not parse is ARGUMENT_INVALID like any other bad
input.
"""

from google.protobuf.message import DecodeError, Message

from ..core.errors import Reason, Refusal
from .methods import WITH_EXCHANGES, Method

#: Usage objects, plans and commands are a few KiB at most; the rest is room for what callers add to them.
MAX_REQUEST_BYTES = 1 << 20

#: An exchange of 16 MiB, and what stands around it.
MAX_EXCHANGE_BYTES = 17 << 20

#: What the transport takes: enough more that a request somewhat too large is told so by us.
MAX_RECEIVED_BYTES = 32 << 20


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
    """The message of `method` that `request` holds. Raises Unparsable; Refusal where it is too large."""
    limit = MAX_EXCHANGE_BYTES if method.name in WITH_EXCHANGES else MAX_REQUEST_BYTES
    if len(request) > limit:
        raise Refusal(
            Reason.MESSAGE_TOO_LARGE,
            f"the request has {len(request)} bytes; {method.name} takes at most {limit}",
            subject=f"a request of {method.name}",
            recovery="send less in one request",
        )
    try:
        return method.request.FromString(request)
    except DecodeError:
        raise Unparsable(method) from None
