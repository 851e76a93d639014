"""Converse: what a stream does that a call does not; that each command is answered as a call, the vectors show."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from tests.rpc.calls import answer_of, path_of
from tests.rpc.in_process import whole_server
from tests.servers import running_server
from ullage.v1.building_service_pb2 import GetBuildingRequest
from ullage.v1.error_reason_pb2 import ErrorReason
from ullage.v1.exchange_pb2 import Block, Exchange, Text
from ullage.v1.plan_pb2 import RunPlan
from ullage.v1.run_service_pb2 import (
    CompactExchangeRequest,
    FinishRunRequest,
    ForkRunRequest,
    GetRunRequest,
    GetRunResponse,
    ObserveUsageRequest,
    StartRunRequest,
)
from ullage.v1.usage_pb2 import ModelUsage, TurnReport
from ullage.v1.wire_service_pb2 import Answer, Command, ConverseRequest, ConverseResponse
from ullage_server.rpc import converse
from ullage_server.rpc.interceptors.admission import Admission
from ullage_server.rpc.interceptors.errors import Errors
from ullage_server.rpc.parsing import MAX_EXCHANGE_BYTES, MAX_REQUEST_BYTES
from ullage_server.store.memory import MemoryStore
from ullage_server.store.port import Standing, StoreError

GARBAGE = b"\xff\xff\xff"


def starting(name: str) -> Command:
    return Command(start_run=StartRunRequest(run_id=name, plan=RunPlan(context_tokens=1000)))


def observing(name: str, turn: int, used: int = 10) -> Command:
    report = TurnReport(turn=turn, usage=ModelUsage(input_tokens=used))
    return Command(observe_usage=ObserveUsageRequest(run_id=name, report=report))


def getting(name: str) -> Command:
    return Command(get_run=GetRunRequest(run_id=name))


class Stream:
    """A stream of commands; each has the number of its place as its id, from 1."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.call: grpc.aio.StreamStreamCall[bytes, bytes] = channel.stream_stream(path_of("Converse"))()
        self.sent = 0

    async def send(self, *commands: Command) -> None:
        for command in commands:
            self.sent += 1
            command.id = self.sent
            await self.call.write(ConverseRequest(command=command).SerializeToString())

    async def next(self) -> Answer:
        frame = await asyncio.wait_for(self.call.read(), 30)
        assert isinstance(frame, bytes), f"the stream has ended: {await self.call.code()}"
        return ConverseResponse.FromString(frame).answer

    async def rest(self) -> list[Answer]:
        """What is still answered when no more is sent."""
        await self.call.done_writing()
        answers = []
        while isinstance(frame := await asyncio.wait_for(self.call.read(), 30), bytes):
            answers.append(ConverseResponse.FromString(frame).answer)
        return answers

    async def end(self) -> Any:
        """How the stream ended."""
        try:
            while await asyncio.wait_for(self.call.read(), 30) is not grpc.aio.EOF:
                pass
        except grpc.aio.AioRpcError as error:
            return answer_of(error)
        return await self.call.code()


class Gated(MemoryStore):
    """A memory store that holds up what is read and written of the runs that are shut."""

    def __init__(self) -> None:
        super().__init__()
        self.shut: set[str] = set()
        self.opened = asyncio.Condition()
        self.asked = asyncio.Event()

    async def standing(self, run_id: str) -> Standing | None:
        self.asked.set()
        async with self.opened:
            await self.opened.wait_for(lambda: run_id not in self.shut)
        return await super().standing(run_id)

    async def open(self) -> None:
        async with self.opened:
            self.shut.clear()
            self.opened.notify_all()


class Served:
    """A server in this process over a gated store, and streams to it."""

    def __init__(self, channel: grpc.aio.Channel, store: Gated, drain: Callable[[float], Any]) -> None:
        self.channel, self.store, self.drain = channel, store, drain

    def stream(self) -> Stream:
        return Stream(self.channel)


@asynccontextmanager
async def served() -> AsyncIterator[Served]:
    store = Gated()
    async with whole_server(store) as whole:
        yield Served(whole.wire.channel, store, whole.app.drain)


async def test_a_stream_says_that_it_is_there_before_anything_is_asked() -> None:
    async with served() as here:
        stream = here.stream()
        await asyncio.wait_for(stream.call.initial_metadata(), 30)
        assert not stream.call.done()
        assert await stream.rest() == []


async def test_commands_to_one_run_keep_their_order_whatever_they_wait_for() -> None:
    # An exchange is read, decided and hashed before the run's turn comes; an observation is not.
    exchange = Exchange(assistant=[Block(text=Text(text="lamp " * 100_000))])
    async with served() as here:
        stream = here.stream()
        await stream.send(starting("a"))
        for turn in range(1, 6):
            compacting = CompactExchangeRequest(run_id="a", turn=turn, exchange=exchange, edits_only=True)
            await stream.send(Command(compact_exchange=compacting), observing("a", turn, 100 * turn), getting("a"))
        await stream.send(
            Command(fork_run=ForkRunRequest(parent_run_id="a", through_turn=5, run_id="b")),
            Command(finish_run=FinishRunRequest(run_id="a", outcome="done")),
            getting("b"),
            getting("a"),
        )
        answers = await stream.rest()
    ids = [answer.id for answer in answers]
    assert sorted(ids) == list(range(1, stream.sent + 1))
    of_b = [stream.sent - 3, stream.sent - 1]
    assert [id for id in ids if id in of_b] == of_b
    assert [id for id in ids if id != of_b[1]] == [id for id in sorted(ids) if id != of_b[1]]
    assert not [answer.failure for answer in answers if answer.HasField("failure")]
    runs = [answer.get_run.run for answer in answers if answer.HasField("get_run")]
    assert [run.last_turn for run in runs if run.run_id == "a"] == [1, 2, 3, 4, 5, 5]
    (branch,) = [answer.get_run.run for answer in answers if answer.id == of_b[1]]
    assert branch.reading.used_tokens == 500, "the branch saw what came before it on the stream"


async def test_no_run_waits_for_another() -> None:
    async with served() as here:
        here.store.shut = {"slow"}
        stream = here.stream()
        await stream.send(
            getting("slow"), starting("fast"), observing("fast", 1), getting("slow"), getting("fast")
        )
        assert [(await stream.next()).id for _ in range(3)] == [2, 3, 5]
        await here.store.open()
        assert [answer.id for answer in await stream.rest()] == [1, 4]


async def test_a_command_is_answered_within_its_timeout_and_the_next_one_goes_on() -> None:
    async with served() as here:
        here.store.shut = {"slow"}
        stream = here.stream()
        hurried = getting("slow")
        hurried.timeout.CopyFrom(Duration(nanos=20_000_000))
        late = getting("slow")
        await stream.send(hurried, late)
        failure = (await stream.next()).failure
        assert (failure.code, failure.reason) == (4, ErrorReason.ERROR_REASON_DEADLINE_PASSED)
        assert "0.02 s" in failure.message
        assert failure.recovery
        await here.store.open()
        assert [answer.failure.reason for answer in await stream.rest()] == [
            ErrorReason.ERROR_REASON_RUN_NOT_FOUND
        ]


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        (Duration(), "more than 0"),
        (Duration(seconds=-1), "more than 0"),
        (Duration(seconds=1, nanos=-1), "no duration"),
        (Duration(seconds=2**62), "no duration"),
    ],
)
async def test_a_timeout_that_is_none_is_refused(stated: Duration, told: str) -> None:
    async with served() as here:
        stream = here.stream()
        command = starting("a")
        command.timeout.CopyFrom(stated)
        await stream.send(command, getting("a"))
        refused, gone = await stream.rest()
    assert refused.failure.reason == ErrorReason.ERROR_REASON_ARGUMENT_INVALID
    assert [violation.field for violation in refused.failure.field_violations] == ["command.timeout"]
    assert told in refused.failure.message
    assert gone.failure.reason == ErrorReason.ERROR_REASON_RUN_NOT_FOUND, "nothing was begun"


async def test_a_failure_says_what_a_status_says() -> None:
    class Away(MemoryStore):
        async def standing(self, run_id: str) -> Standing | None:
            raise StoreError("away") if run_id == "away" else ZeroDivisionError

    async with whole_server(Away()) as whole:
        stream = Stream(whole.wire.channel)
        await stream.send(getting("away"), getting("broken"), getting("no name"), Command())
        by_id = {answer.id: answer.failure for answer in await stream.rest()}
    assert all(failure.message and failure.action and failure.subject for failure in by_id.values())
    assert all(failure.recovery for failure in by_id.values())
    away, broken, named, empty = (by_id[id] for id in range(1, 5))
    assert (away.code, away.reason) == (14, ErrorReason.ERROR_REASON_STORE_UNAVAILABLE)
    assert away.retry_delay.seconds == 1
    assert (broken.code, broken.reason) == (13, ErrorReason.ERROR_REASON_INTERNAL)
    assert "ZeroDivision" not in str(broken)
    assert not broken.HasField("retry_delay")
    assert [(one.field, one.description) for one in named.field_violations] == [("run_id", named.message)]
    assert named.action == "reading a run"
    assert empty.reason == ErrorReason.ERROR_REASON_ARGUMENT_INVALID


@pytest.mark.parametrize(
    "garbage",
    [
        GARBAGE,
        b"\x0a\x05\x08",  # a command that is cut short
        b"\x0a\x06\x1a\x04\x0a\x02\xff\xfe",  # a name that is no UTF-8
    ],
)
async def test_a_frame_that_does_not_parse_ends_the_stream_when_what_was_taken_is_answered(garbage: bytes) -> None:
    async with served() as here:
        here.store.shut = {"slow"}
        stream = here.stream()
        await stream.send(getting("slow"), starting("a"))
        assert (await stream.next()).id == 2
        await stream.call.write(garbage)
        await here.store.open()
        assert (await stream.next()).id == 1
        end = await stream.end()
        assert (end.code, end.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "ARGUMENT_INVALID")


async def test_a_text_that_is_no_utf8_ends_the_stream_too() -> None:
    text = b"\x0a\x04\x0a\x02\xff\xfe"  # of an exchange's first block
    request = CompactExchangeRequest(run_id="a", turn=1).SerializeToString() + b"\x1a\x06" + text
    assert CompactExchangeRequest(exchange=Exchange()).SerializeToString()[:1] == b"\x1a"
    enclosed = Command(compact_exchange=CompactExchangeRequest()).SerializeToString()[:1]
    command = enclosed + bytes([len(request)]) + request
    async with served() as here:
        stream = here.stream()
        await stream.send(starting("a"))
        assert (await stream.next()).HasField("start_run")
        await stream.call.write(b"\x0a" + bytes([len(command)]) + command)
        end = await stream.end()
    assert end.reason == "ARGUMENT_INVALID"
    assert "CompactExchangeRequest" in end.message


async def test_what_is_too_large_for_its_rpc_is_refused_and_a_frame_that_is_ends_the_stream() -> None:
    async with served() as here:
        stream = here.stream()
        await stream.send(getting("x" * (MAX_REQUEST_BYTES + 1)), starting("a"))
        by_id = {answer.id: answer for answer in [await stream.next(), await stream.next()]}
        assert by_id[1].failure.reason == ErrorReason.ERROR_REASON_MESSAGE_TOO_LARGE
        assert by_id[2].HasField("start_run")
        await stream.send(getting("x" * (MAX_EXCHANGE_BYTES + 1)))
        end = await stream.end()
    assert (end.code, end.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "MESSAGE_TOO_LARGE")


async def test_with_256_in_work_no_more_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    all_taken = asyncio.Event()
    take = converse._Conversation._take

    def counted(self: converse._Conversation, command: Command) -> None:
        take(self, command)
        if command.WhichOneof("request") == "get_run":
            taken.append(command.id)
            if len(taken) == converse.MAX_COMMANDS:
                all_taken.set()

    monkeypatch.setattr(converse._Conversation, "_take", counted)
    async with served() as here:
        here.store.shut = {f"r{n}" for n in range(300)}
        stream = here.stream()
        await stream.send(*(getting(f"r{n}") for n in range(300)))
        await asyncio.wait_for(all_taken.wait(), 30)
        await asyncio.sleep(0.05)
        assert len(taken) == converse.MAX_COMMANDS == 256
        other = here.stream()
        await other.send(starting("other"))
        assert (await other.next()).HasField("start_run"), "others are unharmed"
        await here.store.open()
        assert len(await stream.rest()) == 300
    assert taken == list(range(1, 301))


async def test_an_answer_that_waits_to_leave_holds_up_no_command() -> None:
    carried_out: list[str] = []
    all_in = asyncio.Event()

    async def get_run(request: GetRunRequest) -> GetRunResponse:
        carried_out.append(request.run_id)
        if len(carried_out) == 4:
            all_in.set()
        return GetRunResponse()

    class Stuck:
        gate = asyncio.Event()
        written = 0

        async def send_initial_metadata(self, metadata: tuple[()]) -> None:
            pass

        async def write(self, frame: bytes) -> None:
            await self.gate.wait()
            self.written += 1

    async def requests() -> AsyncIterator[bytes]:
        for name in ("a", "a", "b", "a"):
            yield ConverseRequest(command=getting(name)).SerializeToString()

    caller: Any = Stuck()
    conversations = converse.Conversations({"GetRun": get_run}, Errors(), Admission())
    held = asyncio.ensure_future(conversations.converse(requests(), caller))
    await asyncio.wait_for(all_in.wait(), 30)
    assert caller.written == 0
    caller.gate.set()
    await held
    assert (caller.written, sorted(carried_out)) == (4, ["a", "a", "a", "b"])


async def test_many_bytes_in_work_hold_up_the_reading_as_many_commands_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converse, "MAX_BYTES", 1000)
    async with served() as here:
        here.store.shut = {"x" * 128}
        stream = here.stream()
        await stream.send(*[getting("x" * 128)] * 20, starting("behind"))
        await here.store.asked.wait()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(reading := asyncio.ensure_future(stream.next())), 0.1)
        await here.store.open()
        await reading
        assert len(await stream.rest()) == 20


async def test_an_idle_stream_does_not_hold_up_a_drain_and_what_was_taken_is_answered() -> None:
    async with served() as here:
        here.store.shut = {"slow"}
        idle, busy = here.stream(), here.stream()
        await idle.send(starting("a"))
        await idle.next()
        await busy.send(getting("slow"), starting("b"))
        assert (await busy.next()).id == 2
        draining = asyncio.ensure_future(here.drain(30))
        end = await idle.end()
        assert (end.code, end.reason) == (grpc.StatusCode.UNAVAILABLE, "DRAINING")
        assert end.retry_seconds > 0
        await here.store.open()
        assert (await busy.next()).failure.reason == ErrorReason.ERROR_REASON_RUN_NOT_FOUND
        assert (await busy.end()).reason == "DRAINING"
        await draining


async def test_a_caller_that_goes_away_leaves_nothing_behind_and_loses_nothing_that_was_written() -> None:
    class Slow(MemoryStore):
        begun, gate = asyncio.Event(), asyncio.Event()

        async def append(self, batch: Any) -> list[bool]:
            if any(one.position > 1 for one in batch):
                self.begun.set()
                await self.gate.wait()
            return await super().append(batch)

    store = Slow()
    async with whole_server(store) as whole:
        stream = Stream(whole.wire.channel)
        await stream.send(starting("a"))
        await stream.next()
        tasks = len(asyncio.all_tasks())
        await stream.send(observing("a", 1, 300), observing("a", 2, 310))
        await store.begun.wait()
        stream.call.cancel()
        store.gate.set()
        again = Stream(whole.wire.channel)
        await again.send(observing("a", 1, 300), observing("a", 2, 310))
        first, second = await again.rest()
        assert first.observe_usage.replayed
        assert first.observe_usage.reminder.id == "1/context/first"
        assert not second.HasField("failure")
        await until(lambda: len(asyncio.all_tasks()) <= tasks)


async def test_a_thousand_streams_that_come_and_go_leave_no_conversation_behind() -> None:
    async with served() as here:
        for number in range(1000):
            stream = here.stream()
            await stream.send(getting("nobody"))
            if number % 2:
                assert len(await stream.rest()) == 1
            else:
                stream.call.cancel()
        await until(lambda: not any(type(one) is converse._Conversation for one in gc.get_objects()))


def test_a_caller_who_never_reads_costs_bounded_memory_and_harms_nobody() -> None:
    # So long that not all of them find room on their way.
    nowhere = GetBuildingRequest(address="nowhere" * 200)
    asked = ConverseRequest(command=Command(get_building=nowhere)).SerializeToString()

    async def flood(target: str, pid: int) -> tuple[int, int, int]:
        async with grpc.aio.insecure_channel(target) as channel, grpc.aio.insecure_channel(target) as other:
            stream, beside = Stream(channel), Stream(other)
            written = 0

            async def write() -> None:
                nonlocal written
                while written < 100_000:
                    await stream.call.write(asked)
                    written += 1

            before = resident(pid)
            writing = asyncio.ensure_future(write())
            last = -1
            while last != written:  # until it is stuck, or all of it is sent
                last = written
                await asyncio.sleep(0.5)
                await beside.send(getting("nobody"))
                assert (await beside.next()).HasField("failure")
            grown = resident(pid) - before
            writing.cancel()
            stream.call.cancel()
            return written, before, grown

    with running_server() as server:
        written, before, grown = asyncio.run(flood(server.target, server.pid))
    assert written < 100_000, "the server read on, though nobody read its answers"
    assert grown < 32 << 20, (written, before, grown)


def resident(pid: int) -> int:
    """The bytes a process holds in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


async def until(holds: Callable[[], bool]) -> None:
    """Returns when it holds; fails where it does not come to."""
    for _ in range(600):
        if holds():
            return
        gc.collect()
        await asyncio.sleep(0.05)
    raise AssertionError("it never came to hold")
