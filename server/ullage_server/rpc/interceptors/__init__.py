"""What stands around every handler; `rpc/server.py` lists them, the outermost first."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol

import grpc

from ..methods import Method

Context = grpc.aio.ServicerContext[bytes, bytes]

#: A handler of one message that gives one, on the wire's own bytes.
Unary = Callable[[bytes, Context], Awaitable[bytes]]

#: A handler of messages, one or many, that writes what it answers to the context; on the wire's own bytes.
Stream = Callable[[AsyncIterator[bytes], Context], Awaitable[None]]


class Interceptor(Protocol):
    """Puts something around the handler of an RPC, whichever kind it is."""

    def unary(self, method: Method, inner: Unary) -> Unary:
        """Around `inner`, the handler of `method`."""

    def stream(self, method: Method, inner: Stream) -> Stream:
        """Around `inner`, the handler of `method`."""
