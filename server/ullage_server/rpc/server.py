"""The gRPC server: which handler answers which RPC, and what stands around each.

Rule (architecture.md, The server's shape): handlers are registered on raw bytes and parse inside the interceptor
of errors, so that a request that does not parse is ARGUMENT_INVALID like any other bad input. An RPC without a
handler, known or not, is UNSUPPORTED.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import grpc
from google.protobuf.message import Message

from ..convert.raw import NotUtf8
from ..core.errors import Reason, Refusal
from .interceptors import Context, Interceptor, Stream, Unary
from .interceptors.errors import abort
from .methods import METHODS, Method
from .parsing import Unparsable, parsed

#: Answers one request of one RPC: from its message to its answer's. Raises Refusal.
UnaryAnswer = Callable[..., Awaitable[Message]]

#: Answers the requests of one RPC that streams: from their messages, or its one message, to its answers'.
StreamAnswer = Callable[..., AsyncIterator[Message]]

if TYPE_CHECKING:  # the class takes no parameters when it runs
    _Handler = grpc.RpcMethodHandler[bytes, bytes]


class Handlers(grpc.GenericRpcHandler):
    """The handlers of the wire by their paths, each with `interceptors` around it, the outermost first.

    An RPC is answered by one of `answers`, by its name, or by one of `streams`, which is on the wire's own bytes.
    """

    def __init__(
        self,
        answers: Mapping[str, UnaryAnswer | StreamAnswer],
        streams: Mapping[str, Stream],
        interceptors: Sequence[Interceptor],
    ) -> None:
        self._by_path = {}
        for method in METHODS:
            if method.name in streams:
                self._by_path[method.path] = _stream_handler(method, streams[method.name], interceptors)
            elif method.name in answers:
                self._by_path[method.path] = _handler(method, answers[method.name], interceptors)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "_Handler | None":
        """The handler of the RPC that is called; None where it is none of these."""
        return self._by_path.get(handler_call_details.method)


class Unsupported(grpc.GenericRpcHandler):
    """Takes whatever is called; it stands behind all others."""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "_Handler":
        """The handler that refuses."""
        return _UNSUPPORTED


def _handler(method: Method, answer: Callable[..., object], interceptors: Sequence[Interceptor]) -> "_Handler":
    if not method.streams:
        unary = _unary(method, answer)  # type: ignore[arg-type]  # the kind of an answer goes with its method's
        for interceptor in reversed(interceptors):
            unary = interceptor.unary(method, unary)
        return grpc.unary_unary_rpc_method_handler(unary)
    return _stream_handler(method, _stream(method, answer), interceptors)  # type: ignore[arg-type]  # as above


def _stream_handler(method: Method, stream: Stream, interceptors: Sequence[Interceptor]) -> "_Handler":
    for interceptor in reversed(interceptors):
        stream = interceptor.stream(method, stream)
    return grpc.stream_stream_rpc_method_handler(stream)


def _unary(method: Method, answer: UnaryAnswer) -> Unary:
    async def call(request: bytes, context: Context) -> bytes:
        try:
            return (await answer(parsed(method, request))).SerializeToString()
        except NotUtf8:
            raise Unparsable(method) from None

    return call


def _stream(method: Method, answer: StreamAnswer) -> Stream:
    async def messages(requests: AsyncIterator[bytes]) -> AsyncIterator[Message]:
        async for request in requests:
            yield parsed(method, request)

    async def call(requests: AsyncIterator[bytes], context: Context) -> None:
        try:
            async for message in answer(messages(requests)):
                await context.write(message.SerializeToString())
        except NotUtf8:
            raise Unparsable(method) from None

    return call


async def _unsupported(requests: AsyncIterator[bytes], context: Context) -> None:
    refusal = Refusal(
        Reason.UNSUPPORTED,
        "this server does not have the RPC that was called",
        subject="the RPC",
        recovery="call one that this server has, or ask a newer server",
    )
    await abort(context, refusal, "calling an RPC")


# A stream in both directions fits callers of every kind.
_UNSUPPORTED: "_Handler" = grpc.stream_stream_rpc_method_handler(_unsupported)
