"""Errors that lie with the server: a fault of its own, a store that is away, a drain, a newer server's record."""

import asyncio
import gc
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from google.protobuf.message import Message
from msgspec import msgpack
from structlog.testing import capture_logs

from tests.rpc.calls import RPCS, AsyncWire, Metadata, path_of
from tests.rpc.good_requests import fresh
from tests.rpc.in_process import serving, whole_server
from tests.rpc.refusals import faults_of
from tests.rpc.situations import commanding, counted, observing, starting
from ullage.v1 import building_service_pb2, run_service_pb2
from ullage.v1.wire_service_pb2 import Command, ConverseRequest
from ullage_server.core.errors import Refusal, invalid
from ullage_server.rpc.converse import Conversations
from ullage_server.rpc.interceptors.admission import Admission
from ullage_server.rpc.interceptors.errors import Errors
from ullage_server.rpc.server import Handlers
from ullage_server.store.memory import MemoryStore
from ullage_server.store.port import Append, StoreError

GET_RUN = run_service_pb2.GetRunRequest(run_id="r")
SECRET = "secret of /etc/passwd: sqlite3.OperationalError"

#: A request of each RPC that needs the store, by RPC.
OF_THE_STORE: dict[str, Message] = {
    "StartRun": starting("r"),
    "ObserveUsage": observing("r", usage=counted(input_tokens=1)),
    "FinishRun": run_service_pb2.FinishRunRequest(run_id="r"),
    "GetRun": GET_RUN,
    "ListRuns": run_service_pb2.ListRunsRequest(),
    "ConfigureBuilding": commanding(fresh(), address="lab", notices_every_steps=1),
}


async def fails(request: Message) -> NoReturn:
    raise RuntimeError(SECRET)


async def answers_nothing(request: Message) -> Any:
    return None


async def lacks_a_key(request: Message) -> NoReturn:
    raise KeyError(SECRET)


async def fails_for_a_reason(request: Message) -> NoReturn:
    try:
        raise StoreError(SECRET)
    except StoreError as error:
        raise ValueError(SECRET) from error


@pytest.mark.parametrize("answer", [fails, answers_nothing, lacks_a_key, fails_for_a_reason])
async def test_a_fault_is_told_by_its_request_id_alone_and_logged_with_its_cause(answer: Any) -> None:
    async with serving({"GetRun": answer}, [Errors()]) as wire:
        with capture_logs() as logs:
            told = await wire.send("GetRun", GET_RUN, [("x-request-id", "call-77")])
            untold = await wire.send("GetRun", GET_RUN)
    assert told.reason == untold.reason == "INTERNAL"
    assert faults_of(told) == faults_of(untold) == []
    assert told.info.metadata["subject"] == "request call-77"
    given = untold.info.metadata["subject"].removeprefix("request ")
    assert str(uuid.UUID(given)) == given
    # But for the id, both say the same, and nothing of what happened.
    assert told.details is not None
    assert untold.details is not None
    assert told.status.SerializeToString() != untold.status.SerializeToString()
    assert untold.message.replace(given, "call-77") == told.message
    assert dict(untold.info.metadata) | {"subject": "request call-77"} == dict(told.info.metadata)
    assert len(told.status.details) == 1
    for word in ("secret", "passwd", "sqlite", "RuntimeError", "None"):
        assert word.encode() not in told.details
    assert [log["request_id"] for log in logs] == ["call-77", given]
    assert all(log["exc_info"] for log in logs)


async def test_a_request_id_is_bounded() -> None:
    async with serving({"GetRun": fails}, [Errors()]) as wire:
        metadata: Metadata = [("x-request-id", "x" * 4000)]
        with capture_logs():
            answer = await wire.send("GetRun", GET_RUN, metadata)
    assert answer.info.metadata["subject"] == "request " + "x" * 64
    assert faults_of(answer) == []


class StoreAway(MemoryStore):
    """A store that can be taken away."""

    away = False

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name.startswith("_") or name in ("away", "exclusive", "close") or not self.away:
            return value

        async def fail(*_: object) -> NoReturn:
            raise StoreError(SECRET)

        return fail


@pytest.mark.parametrize("exclusive", [True, False])
async def test_a_store_that_is_away_is_unavailable_until_it_is_back(exclusive: bool) -> None:
    store = StoreAway(exclusive=exclusive)
    async with whole_server(store) as (wire, data, _):
        store.away = True
        with capture_logs() as logs:
            for rpc, request in OF_THE_STORE.items():
                answer = await wire.send(rpc, request)
                assert answer.reason == "STORE_UNAVAILABLE", f"{rpc}: {answer.message}"
                assert faults_of(answer) == [], rpc
                assert "safe" in answer.info.metadata["recovery"]
        told = [log for log in logs if log["event"] == "the store can't answer"]
        assert [(log["log_level"], log["cause"]) for log in told] == [("warning", SECRET)], "once, not each time"
        assert not list(data.rglob("CONFIG.toml"))
        store.away = False
        for rpc, request in OF_THE_STORE.items():
            assert (await wire.send(rpc, request)).reason == "OK", rpc


async def test_a_store_that_goes_away_loses_no_run_that_was_there() -> None:
    store = StoreAway()
    async with whole_server(store) as (wire, _, _):
        await wire.ask("StartRun", starting("r", context_tokens=1000), run_service_pb2.StartRunResponse)
        report = observing("r", usage=counted(input_tokens=300))
        store.away = True
        assert (await wire.send("ObserveUsage", report)).reason == "STORE_UNAVAILABLE"
        store.away = False
        answer = await wire.ask("ObserveUsage", report, run_service_pb2.ObserveUsageResponse)
    assert not answer.replayed
    assert answer.reminder.id == "1/context/first"


async def test_a_server_that_drains_refuses_every_rpc_it_has() -> None:
    async def answers(request: Message) -> Message:
        return run_service_pb2.GetRunResponse()

    admission = Admission()
    unary = [rpc for rpc, method in RPCS.items() if not method.server_streaming]
    async with serving(dict.fromkeys(unary, answers), [Errors(), admission]) as wire:
        assert (await wire.send("GetRun", GET_RUN)).reason == "OK"
        await admission.drain()
        for rpc in unary:
            answer = await wire.send(rpc, b"")
            assert answer.reason == "DRAINING", rpc
            assert faults_of(answer) == []
            assert rpc in answer.info.metadata["subject"]
            assert answer.retry_seconds > 0


class SlowStore(MemoryStore):
    """A store whose appends wait to be let through."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()

    async def append(self, batch: Sequence[Append]) -> list[bool]:
        self.asked.set()
        await self.gate.wait()
        return await super().append(batch)


async def test_in_a_drain_what_runs_is_finished_and_what_comes_is_refused() -> None:
    store = SlowStore()
    async with whole_server(store) as (wire, _, app):
        runs = asyncio.ensure_future(wire.send("StartRun", starting("r")))
        await store.asked.wait()
        drained = asyncio.ensure_future(app.drain(20))
        await asyncio.sleep(0.1)
        answer = await wire.send("StartRun", starting("s"))
        assert answer.reason == "DRAINING", answer.message
        assert faults_of(answer) == []
        store.gate.set()
        assert (await runs).reason == "OK"
        await drained
    assert await store.position("r") == 1
    assert await store.position("s") == 0


async def with_a_newer_record(store: MemoryStore, wire: AsyncWire) -> None:
    """A run `r` whose second record is of a kind that this server does not know, written by a newer one."""
    await wire.ask("StartRun", starting("r", address="lab"), run_service_pb2.StartRunResponse)
    await wire.ask("StartRun", starting("s", address="shop"), run_service_pb2.StartRunResponse)
    newer = msgpack.encode(["moon_risen", 2, 7])
    append = Append("r", 2, 7, "moon_risen", 0, newer, fold_version=99, state=b"of a newer fold")
    assert await store.append([append]) == [True]


async def test_a_record_of_a_newer_server_stops_its_own_run_alone() -> None:
    store = MemoryStore(exclusive=False)
    async with whole_server(store) as (wire, _, _):
        await with_a_newer_record(store, wire)
        for rpc, request in {
            "GetRun": GET_RUN,
            "ObserveUsage": observing("r"),
            "FinishRun": run_service_pb2.FinishRunRequest(run_id="r"),
            "StartRun": starting("r", address="lab"),
        }.items():
            answer = await wire.send(rpc, request)
            assert answer.reason == "RECORD_UNKNOWN", f"{rpc}: {answer.message}"
            assert faults_of(answer) == []
            assert answer.info.metadata["subject"] == "run r"
        assert (await wire.send("GetRun", run_service_pb2.GetRunRequest(run_id="s"))).reason == "OK"
        assert (await wire.send("ObserveUsage", observing("s"))).reason == "OK"
        listed = await wire.ask("ListRuns", run_service_pb2.ListRunsRequest(), run_service_pb2.ListRunsResponse)
        assert [run.run_id for run in listed.runs] == ["s"], "one run must not hide the others"
    assert await store.position("r") == 2


async def test_a_building_that_nobody_can_write_is_unavailable_and_says_why() -> None:
    async with whole_server(MemoryStore()) as (wire, data, _):
        (data / "city").mkdir(parents=True)
        (data / "city" / "lab").write_text("a file where the folder would be")
        answer = await wire.send("ConfigureBuilding", commanding(address="lab", notices_every_steps=1))
        assert answer.reason == "STORE_UNAVAILABLE", answer.message
        assert faults_of(answer) == []
        other = commanding(address="shop", notices_every_steps=1)
        await wire.ask("ConfigureBuilding", other, building_service_pb2.ConfigureBuildingResponse)


async def test_a_refused_call_leaves_nothing_for_the_collector_of_cycles() -> None:
    class Caller:
        """A context whose calls end as an abort ends them."""

        def invocation_metadata(self) -> tuple[()]:
            return ()

        async def send_initial_metadata(self, metadata: tuple[()]) -> None:
            pass

        async def write(self, answer: bytes) -> None:
            pass

        async def abort(self, *status: object) -> None:
            raise ZeroDivisionError

    async def get_run(request: run_service_pb2.GetRunRequest) -> run_service_pb2.GetRunResponse:
        raise invalid("run_id", "it is none")

    async def frames() -> AsyncIterator[bytes]:
        yield ConverseRequest(command=Command(get_run=run_service_pb2.GetRunRequest())).SerializeToString()
        yield garbage

    garbage = b"\xff\xff\xff"
    errors, admission = Errors(), Admission()
    streams = {"Converse": Conversations({"GetRun": get_run}, errors, admission).converse}
    handlers = Handlers({"GetRun": get_run}, streams, [errors, admission])

    def handler(rpc: str) -> Any:
        details: Any = SimpleNamespace(method=path_of(rpc))
        return handlers.service(details)

    calls: list[Callable[[], Any]] = [
        lambda: handler("GetRun").unary_unary(garbage, Caller()),
        lambda: handler("GetRun").unary_unary(b"", Caller()),
        lambda: handler("Converse").stream_stream(frames(), Caller()),
    ]

    def refusals() -> int:
        return sum(isinstance(one, Refusal) for one in gc.get_objects())

    gc.collect()
    before = refusals()
    gc.disable()
    try:
        for call in calls:
            for _ in range(3):
                with pytest.raises(ZeroDivisionError):
                    await asyncio.ensure_future(call())
        await asyncio.sleep(0)
        assert refusals() == before
    finally:
        gc.enable()
