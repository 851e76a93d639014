"""The yardsticks: servers whose one call does nothing.

    python -m tests.bench.empty_server (ours | bare) unix:PATH

`ours` is an empty call on the same stack as every other: the same handlers on raw bytes, the same interceptors,
an empty message parsed and one written. `bare` is grpc.aio on uvloop alone.
"""

import asyncio
import signal
import sys

import grpc
import uvloop

from ullage.v1.run_service_pb2 import GetRunRequest, GetRunResponse
from ullage_server.rpc.interceptors.admission import Admission
from ullage_server.rpc.interceptors.errors import Errors
from ullage_server.rpc.interceptors.size import Size
from ullage_server.rpc.server import Handlers

METHOD = "/ullage.v1.RunService/GetRun"

_SERVICE, _, _NAME = METHOD[1:].rpartition("/")


async def _empty(request: GetRunRequest) -> GetRunResponse:
    return GetRunResponse()


async def _nothing(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
    return b""


async def serve(kind: str, listen: str) -> None:
    server = grpc.aio.server()
    if kind == "ours":
        server.add_generic_rpc_handlers((Handlers({_NAME: _empty}, [Errors(), Admission(), Size()]),))
    else:
        bare: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
            _NAME: grpc.unary_unary_rpc_method_handler(_nothing)
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, bare),))
    server.add_insecure_port(listen)
    await server.start()
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await ended.wait()
    await server.stop(0)


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1], sys.argv[2]))
