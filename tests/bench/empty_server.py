"""The yardsticks: servers whose one call does nothing.

    python -m tests.bench.empty_server (ours | bare | echo | parse | stream) unix:PATH

`ours` is an empty call on the same stack as every other: the same handlers on raw bytes, the same interceptors,
an empty message parsed and one written. `bare` is grpc.aio on uvloop alone. `echo` gives back the exchange that
it is sent: parsed and written again, on the same stack. `parse` is the same with an empty answer. `stream` answers
each message of a stream with an empty one, on the same stack.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator

import grpc
import uvloop

from ullage.v1.run_service_pb2 import (
    CompactExchangeRequest,
    CompactExchangeResponse,
    GetRunRequest,
    GetRunResponse,
)
from ullage.v1.wire_service_pb2 import ConverseRequest, ConverseResponse
from ullage_server.ops.memory import keep_large_blocks
from ullage_server.rpc.interceptors.admission import Admission
from ullage_server.rpc.interceptors.errors import Errors
from ullage_server.rpc.parsing import MAX_RECEIVED_BYTES
from ullage_server.rpc.server import Handlers, StreamAnswer, UnaryAnswer

METHOD = "/ullage.v1.RunService/GetRun"
COMPACT = "/ullage.v1.RunService/CompactExchange"
CONVERSE = "/ullage.v1.WireService/Converse"

_SERVICE, _, _NAME = METHOD[1:].rpartition("/")


async def _empty(request: GetRunRequest) -> GetRunResponse:
    return GetRunResponse()


async def _echo(request: CompactExchangeRequest) -> CompactExchangeRequest:
    return request


async def _parse(request: CompactExchangeRequest) -> CompactExchangeResponse:
    return CompactExchangeResponse()


async def _stream(requests: AsyncIterator[ConverseRequest]) -> AsyncIterator[ConverseResponse]:
    async for _ in requests:
        yield ConverseResponse()


async def _nothing(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
    return b""


_OURS: dict[str, dict[str, UnaryAnswer | StreamAnswer]] = {
    "ours": {_NAME: _empty},
    "echo": {"CompactExchange": _echo},
    "parse": {"CompactExchange": _parse},
    "stream": {"Converse": _stream},
}


async def serve(kind: str, listen: str) -> None:
    keep_large_blocks()
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", MAX_RECEIVED_BYTES)])
    if kind in _OURS:
        server.add_generic_rpc_handlers((Handlers(_OURS[kind], {}, [Errors(), Admission()]),))
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
