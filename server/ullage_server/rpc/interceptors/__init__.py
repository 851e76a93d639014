"""What stands around every handler; `rpc/server.py` lists them, the outermost first."""

from collections.abc import Awaitable, Callable

import grpc

#: A handler of one message, on the wire's own bytes.
Unary = Callable[[bytes, grpc.aio.ServicerContext[bytes, bytes]], Awaitable[bytes]]
