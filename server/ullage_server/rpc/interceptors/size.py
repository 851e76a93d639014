"""A request is bounded by its RPC, before it is parsed.

Rule (wire.md, MESSAGE_TOO_LARGE): ours says the limit; what exceeds the transport's own limit is refused by gRPC.
"""

import grpc

from ...core.errors import Reason, Refusal
from ..methods import Method
from . import Unary

#: Usage objects, plans and commands are a few KiB at most; the rest is room for what callers add to them.
MAX_REQUEST_BYTES = 1 << 20


def size(method: Method, inner: Unary) -> Unary:
    """`inner`, for requests of at most MAX_REQUEST_BYTES."""

    async def call(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        if len(request) > MAX_REQUEST_BYTES:
            raise Refusal(
                Reason.MESSAGE_TOO_LARGE,
                f"the request has {len(request)} bytes; {method.name} takes at most {MAX_REQUEST_BYTES}",
                subject=f"a request of {method.name}",
                recovery="send less in one request",
            )
        return await inner(request, context)

    return call
