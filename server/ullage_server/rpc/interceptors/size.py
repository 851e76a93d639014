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
        limit = _limit(method)

        async def call(request: bytes, context: Context) -> bytes:
            if len(request) > limit:
                raise _too_large(request, method, limit)
            return await inner(request, context)

        return call

    def stream(self, method: Method, inner: Stream) -> Stream:
        """`inner`, for requests that its RPC takes, each for itself."""
        limit = _limit(method)

        async def bounded(requests: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
            async for request in requests:
                if len(request) > limit:
                    raise _too_large(request, method, limit)
                yield request

        def call(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
            return inner(bounded(requests), context)

        return call


def _limit(method: Method) -> int:
    return MAX_EXCHANGE_BYTES if method.name in WITH_EXCHANGES else MAX_REQUEST_BYTES


def _too_large(request: bytes, method: Method, limit: int) -> Refusal:
    return Refusal(
        Reason.MESSAGE_TOO_LARGE,
        f"the request has {len(request)} bytes; {method.name} takes at most {limit}",
        subject=f"a request of {method.name}",
        recovery="send less in one request",
    )
