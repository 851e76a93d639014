"""A request is bounded by its RPC, before it is parsed.

Rule (wire.md, MESSAGE_TOO_LARGE): ours says the limit; what exceeds the transport's own limit is refused by gRPC.
"""

from collections.abc import AsyncIterator

from ...core.errors import Reason, Refusal
from ..methods import WITH_EXCHANGES, Method
from . import Context, Stream, Unary

#: Usage objects, plans and commands are a few KiB at most; the rest is room for what callers add to them.
MAX_REQUEST_BYTES = 1 << 20

#: An exchange of 16 MiB, and what stands around it.
MAX_EXCHANGE_BYTES = 17 << 20

#: What the transport takes: enough more that a request somewhat too large is told so by us.
MAX_RECEIVED_BYTES = 32 << 20


class Size:
    """Refuses requests beyond what their RPC takes."""

    def unary(self, method: Method, inner: Unary) -> Unary:
        """`inner`, for requests that its RPC takes."""

        async def call(request: bytes, context: Context) -> bytes:
            check_size(request, method)
            return await inner(request, context)

        return call

    def stream(self, method: Method, inner: Stream) -> Stream:
        """`inner`, for requests that its RPC takes, each for itself."""

        async def bounded(requests: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
            async for request in requests:
                check_size(request, method)
                yield request

        def call(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
            return inner(bounded(requests), context)

        return call


def check_size(request: bytes, method: Method) -> None:
    """Refused with MESSAGE_TOO_LARGE where `request` has more bytes than `method` takes."""
    limit = MAX_EXCHANGE_BYTES if method.name in WITH_EXCHANGES else MAX_REQUEST_BYTES
    if len(request) > limit:
        raise Refusal(
            Reason.MESSAGE_TOO_LARGE,
            f"the request has {len(request)} bytes; {method.name} takes at most {limit}",
            subject=f"a request of {method.name}",
            recovery="send less in one request",
        )
