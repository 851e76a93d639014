"""The yardstick: a server of the same stack (grpc.aio on uvloop) whose one call does nothing.

python -m tests.bench.empty_server unix:PATH
"""

import asyncio
import signal
import sys

import grpc
import uvloop

METHOD = "/ullage.bench.Empty/Call"


async def _nothing(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
    return b""


async def serve(listen: str) -> None:
    server = grpc.aio.server()
    handler = grpc.unary_unary_rpc_method_handler(_nothing)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("ullage.bench.Empty", {"Call": handler}),)
    )
    server.add_insecure_port(listen)
    await server.start()
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await ended.wait()
    await server.stop(0)


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1]))
