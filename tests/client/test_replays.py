"""A replay over a stream that breaks: no exchange is given twice, and none is missing."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

import ullage
from tests.servers import owned_folder
from ullage.v1 import exchange_pb2, run_service_pb2
from ullage.v1.run_service_pb2 import ReplayExchangesRequest, ReplayExchangesResponse

pytestmark = pytest.mark.timeout(60)
HISTORY = [{"role": "assistant", "content": f"{number} " * 60_000} for number in range(30)]


class Breaking:
    """Answers each reply as it came; the second stream breaks off behind its first answer, once."""

    def __init__(self) -> None:
        self.streams: list[list[ReplayExchangesRequest]] = []
        self.without_deadline = 0

    def replay_exchanges(
        self, request_iterator: Iterator[ReplayExchangesRequest], context: grpc.ServicerContext
    ) -> Iterator[ReplayExchangesResponse]:
        self.without_deadline += context.time_remaining() is None
        requests = list(request_iterator)
        self.streams.append(requests)
        for request in requests[1:]:
            reply = request.model_returned
            exchange = exchange_pb2.Exchange(assistant=reply.blocks)
            told = run_service_pb2.ReplayedExchange(turn=reply.turn, exchange=exchange)
            yield ReplayExchangesResponse(exchange=told)
            if len(self.streams) == 2:
                context.abort(grpc.StatusCode.UNAVAILABLE, "going down")


@pytest.fixture
def breaking() -> Iterator[tuple[Breaking, str]]:
    servicer = Breaking()
    rpc = grpc.stream_stream_rpc_method_handler(
        servicer.replay_exchanges,
        ReplayExchangesRequest.FromString,
        ReplayExchangesResponse.SerializeToString,
    )
    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler("ullage.v1.RunService", {"ReplayExchanges": rpc})]
    )
    with owned_folder() as folder:
        server.add_insecure_port(f"unix:{folder}/u.sock")
        server.start()
        yield servicer, f"unix:{folder}/u.sock"
        server.stop(None).wait()


def check(servicer: Breaking, seen: list[Any]) -> None:
    assert [each.turn for each in seen] == list(range(1, 31))
    assert [each.messages for each in seen] == [[message] for message in HISTORY]
    broken, again = servicer.streams[1:3]
    assert broken == again
    assert all(len(stream) < 12 for stream in servicer.streams)
    assert {stream[0].WhichOneof("item") for stream in servicer.streams} == {"start"}
    assert not servicer.without_deadline


def test_a_stream_that_breaks_is_sent_again(breaking: tuple[Breaking, str]) -> None:
    servicer, target = breaking
    with ullage.Client(target) as client:
        check(servicer, list(client.replay(HISTORY)))


def test_a_stream_that_breaks_is_sent_again_asynchronously(breaking: tuple[Breaking, str]) -> None:
    servicer, target = breaking

    async def replayed() -> list[Any]:
        async with ullage.AsyncClient(target) as client:
            return [each async for each in client.replay(HISTORY)]

    check(servicer, asyncio.run(replayed()))


def test_a_replay_that_is_left_early_asks_for_no_more(breaking: tuple[Breaking, str]) -> None:
    servicer, target = breaking
    with ullage.Client(target) as client:
        for each in client.replay(HISTORY):
            assert each.turn == 1
            break
    assert len(servicer.streams) == 1
