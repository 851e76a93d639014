"""The asynchronous client against a small server of its own kind: the same rules as the synchronous one."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from google.protobuf.message import Message

import ullage
from tests.client.wire import CANCELLED, NOTHING, UNREACHABLE, Failing, started
from ullage.async_calls import AsyncCalls
from ullage.standing import status_of
from ullage.v1 import building_pb2, building_service_pb2, run_pb2, run_service_pb2

pytestmark = pytest.mark.timeout(20)

LOST = Failing(grpc.StatusCode.DEADLINE_EXCEEDED)


class RawServer(grpc.GenericRpcHandler):
    """Answers the calls in their order, whatever they ask; a float is a silence of so many seconds."""

    def __init__(self, *script: Message | Failing | float) -> None:
        self.script = list(script)
        self.calls: list[tuple[str, bytes]] = []

    def service(self, details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[bytes, bytes]":
        async def answer(request: bytes, context: "grpc.aio.ServicerContext[bytes, bytes]") -> bytes:
            self.calls.append((details.method.rpartition("/")[2], request))
            outcome = self.script.pop(0)
            if isinstance(outcome, float):
                await asyncio.sleep(outcome)
                return b""
            if isinstance(outcome, Failing):
                await context.abort(outcome.code, outcome.message, outcome.trailing)
            return outcome.SerializeToString()

        return grpc.unary_unary_rpc_method_handler(answer)

    @property
    def turns(self) -> list[int]:
        parse = run_service_pb2.ObserveUsageRequest.FromString
        return [parse(raw).report.turn for name, raw in self.calls if name == "ObserveUsage"]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder whose path is short enough for a unix socket."""
    if len(str(tmp_path)) < 80:
        yield tmp_path
        return
    short = Path(tempfile.mkdtemp(prefix="u"))
    yield short
    shutil.rmtree(short)


@asynccontextmanager
async def serving(folder: Path, handler: RawServer) -> AsyncIterator[str]:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((handler,))
    target = f"unix:{folder}/s"
    server.add_insecure_port(target)
    await server.start()
    try:
        yield target
    finally:
        await server.stop(None)


@asynccontextmanager
async def talking(
    folder: Path, *script: Message | Failing | float
) -> AsyncIterator[tuple[ullage.AsyncClient, RawServer, list[float]]]:
    """A client and its server; the client's pauses are noted and not waited for."""
    handler = RawServer(*script)
    pauses: list[float] = []

    async def note(seconds: float) -> None:
        pauses.append(seconds)

    async with serving(folder, handler) as target, ullage.AsyncClient(target) as client:
        client._call = AsyncCalls(target, 10.0, sleep=note, chance=lambda: 0.0)
        yield client, handler, pauses
    assert handler.script == []


async def test_a_run_from_start_to_finish(folder: Path) -> None:
    finished = run_pb2.Run(run_id="r1", state=run_pb2.RUN_STATE_FINISHED)
    script: list[Message] = [
        started(),
        NOTHING,
        run_service_pb2.GetRunResponse(run=run_pb2.Run(run_id="r1", last_turn=1)),
        run_service_pb2.FinishRunResponse(run=finished),
    ]
    async with talking(folder, *script) as (client, server, _):
        run = await client.start_run("r1", model="m")
        seen = await run.observe({"input_tokens": 70})
        assert seen == ullage.Observation(None, None, ullage.Sounded.NOTHING, False)
        assert (await run.status()).last_turn == 1
        assert await run.finish("done") == status_of(finished)
    assert [name for name, _ in server.calls] == ["StartRun", "ObserveUsage", "GetRun", "FinishRun"]


async def test_unavailable_is_sent_again_unchanged(folder: Path) -> None:
    async with talking(folder, UNREACHABLE, UNREACHABLE, started()) as (client, server, pauses):
        await client.start_run(labels={"a": "1", "b": "2"})
    assert len(server.calls) == 3
    assert len(set(server.calls)) == 1
    assert pauses == [0.025, 0.05]


async def test_a_call_that_a_server_going_down_cancels_is_sent_again_under_its_number(folder: Path) -> None:
    async with talking(folder, started(), CANCELLED, CANCELLED, NOTHING) as (client, server, pauses):
        run = await client.start_run()
        await run.observe(7)
    assert server.turns == [1, 1, 1]
    assert pauses == [0.025, 0.05]


async def test_a_server_that_only_cancels_is_told_as_unreachable_and_not_as_a_cancelled_task(folder: Path) -> None:
    server = RawServer(*[CANCELLED] * 50)
    async with serving(folder, server) as target, ullage.AsyncClient(target, timeout=0.5) as client:
        with pytest.raises(ullage.ServerUnreachable, match="broke the call off"):
            await client.start_run()
    assert len(server.calls) > 1


async def test_a_task_that_is_cancelled_stays_so_and_sends_nothing_again(folder: Path) -> None:
    async with talking(folder, 5.0) as (client, server, pauses):
        asking = asyncio.create_task(client.get_run("r1"))
        await asyncio.sleep(0.2)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert asking.cancelled()
    assert (len(server.calls), pauses) == (1, [])


async def test_nothing_else_is_sent_again(folder: Path) -> None:
    overloaded = Failing(grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED", retry=2)
    invalid = Failing(grpc.StatusCode.INVALID_ARGUMENT, "ARGUMENT_INVALID", field="run_id")
    async with talking(folder, overloaded, invalid) as (client, _, pauses):
        with pytest.raises(ullage.Overloaded) as raised:
            await client.start_run()
        assert raised.value.retry_delay == 2
        with pytest.raises(ullage.ArgumentInvalid) as wrong:
            await client.start_run()
        assert wrong.value.field_violations == (("run_id", "is wrong"),)
    assert pauses == []


async def test_the_deadline_is_the_calls_and_not_an_attempts(folder: Path) -> None:
    draining = Failing(grpc.StatusCode.UNAVAILABLE, "DRAINING", retry=0.3)
    handler = RawServer(draining, 5.0)
    async with serving(folder, handler) as target, ullage.AsyncClient(target, timeout=0.6) as client:
        began = asyncio.get_running_loop().time()
        with pytest.raises(ullage.DeadlinePassed, match=r"within 0\.6 s"):
            await client.start_run()
        assert 0.5 < asyncio.get_running_loop().time() - began < 0.9
    assert len(handler.calls) == 2


async def test_no_server_at_all_is_given_up_soon(folder: Path) -> None:
    async with ullage.AsyncClient(f"unix:{folder}/none") as client:
        began = asyncio.get_running_loop().time()
        with pytest.raises(ullage.ServerUnreachable, match="ullage serve"):
            await client.get_run("r1")
        assert asyncio.get_running_loop().time() - began < 3


async def test_a_server_that_comes_late_is_found(folder: Path) -> None:
    async with ullage.AsyncClient(f"unix:{folder}/s") as client:
        starting = asyncio.create_task(client.start_run("r1"))
        await asyncio.sleep(0.3)
        async with serving(folder, RawServer(started())):
            assert (await starting).run_id == "r1"


async def test_a_server_that_is_started_again_is_found(folder: Path) -> None:
    async with ullage.AsyncClient(f"unix:{folder}/s") as client:
        async with serving(folder, RawServer(started())):
            run = await client.start_run()
        observing = asyncio.create_task(run.observe(1))
        await asyncio.sleep(2.5)  # more than one that was never there would be waited for
        async with serving(folder, RawServer(NOTHING)):
            await observing
    assert run.last_turn == 1


async def test_turns_go_on_past_a_lost_answer(folder: Path) -> None:
    taken = Failing(grpc.StatusCode.ALREADY_EXISTS, "TURN_ALREADY_RECORDED")
    script: list[Message | Failing] = [started(last_turn=3), LOST, NOTHING, LOST, taken, NOTHING, taken]
    async with talking(folder, *script) as (client, server, _):
        run = await client.start_run()
        with pytest.raises(ullage.DeadlinePassed):
            await run.observe(1)
        await run.observe(1)
        with pytest.raises(ullage.DeadlinePassed):
            await run.observe(2)
        await run.observe(3)
        with pytest.raises(ullage.TurnAlreadyRecorded):
            await run.observe(4)
        assert run.last_turn == 6
    assert server.turns == [4, 4, 5, 5, 6, 7]


async def test_a_report_whose_task_was_cancelled_is_in_doubt(folder: Path) -> None:
    taken = Failing(grpc.StatusCode.ALREADY_EXISTS, "TURN_ALREADY_RECORDED")
    async with talking(folder, started(), 5.0, taken, NOTHING) as (client, server, _):
        run = await client.start_run()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(run.observe(1), 0.2)
        await run.observe(2)
    assert server.turns == [1, 1, 2]


async def test_reports_of_several_tasks_are_turns_of_their_own(folder: Path) -> None:
    async with talking(folder, started(), *[NOTHING] * 10, LOST, *[NOTHING] * 9) as (client, server, _):
        run = await client.start_run()
        ends = await asyncio.gather(*(run.observe(100 + n) for n in range(20)), return_exceptions=True)
        assert run.last_turn == 19
    assert server.turns == [*range(1, 12), *range(11, 20)]
    assert [isinstance(end, ullage.DeadlinePassed) for end in ends].count(True) == 1


async def test_a_task_that_is_cancelled_lets_the_next_report_through(folder: Path) -> None:
    async with talking(folder, started(), 5.0, NOTHING) as (client, server, _):
        run = await client.start_run()
        first, second = (asyncio.create_task(run.observe(n)) for n in (1, 2))
        await asyncio.sleep(0.2)
        first.cancel()
        await second
    assert server.turns == [1, 1]


async def test_many_tasks_share_a_client(folder: Path) -> None:
    async with talking(folder, *[started()] * 50) as (client, server, _):
        await asyncio.gather(*(client.start_run() for _ in range(50)))
    parse = run_service_pb2.StartRunRequest.FromString
    assert len({parse(raw).run_id for _, raw in server.calls}) == 50


async def test_lists_and_buildings(folder: Path) -> None:
    script: list[Message] = [
        run_service_pb2.ListRunsResponse(runs=[run_pb2.Run(run_id="a")], next_page_token="2"),
        run_service_pb2.ListRunsResponse(runs=[run_pb2.Run(run_id="b")]),
        building_service_pb2.ListBuildingsResponse(buildings=[building_pb2.Building()], next_page_token="2"),
        building_service_pb2.ListBuildingsResponse(buildings=[building_pb2.Building(address="lab")]),
        building_service_pb2.GetBuildingResponse(building=building_pb2.Building(etag="e")),
        building_service_pb2.ConfigureBuildingResponse(building=building_pb2.Building(etag="f")),
    ]
    async with talking(folder, *script) as (client, server, _):
        assert [run.run_id async for run in client.list_runs("lab", state="active")] == ["a", "b"]
        assert [building.address async for building in client.list_buildings()] == ["", "lab"]
        assert (await client.get_building("lab")).etag == "e"
        assert (await client.configure_building("lab", models={"m": 5})).etag == "f"
        with pytest.raises(ValueError, match="state is one of"):
            client.list_runs(state="over")  # type: ignore[arg-type]
    second = run_service_pb2.ListRunsRequest.FromString(server.calls[1][1])
    assert second == run_service_pb2.ListRunsRequest(address="lab", state=run_pb2.RUN_STATE_ACTIVE, page_token="2")


async def test_a_closed_client_says_so(folder: Path) -> None:
    async with serving(folder, RawServer(5.0)) as target:
        client = ullage.AsyncClient(target)
        under_way = asyncio.create_task(client.get_run("r1"))
        await asyncio.sleep(0.2)
        await client.close()
        await client.close()
        with pytest.raises(RuntimeError, match="closed"):
            await under_way
        with pytest.raises(RuntimeError, match="closed"):
            await client.get_run("r1")


def test_a_client_belongs_to_one_event_loop(folder: Path) -> None:
    client = ullage.AsyncClient(f"unix:{folder}/none", timeout=0.1)

    async def ask() -> None:
        with pytest.raises(ullage.ServerUnreachable):
            await client.get_run("r1")

    async def ask_elsewhere() -> None:
        with pytest.raises(RuntimeError, match="another event loop"):
            await client.get_run("r1")

    first = asyncio.new_event_loop()
    try:
        first.run_until_complete(ask())
        asyncio.run(ask_elsewhere())
        first.run_until_complete(client.close())
    finally:
        first.close()
