"""WatchRuns: who watches sees every run as it came to stand, whatever is slow, breaks off or starts again."""

import asyncio
import gc
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rpc.calls import answer_of, path_of
from tests.rpc.in_process import Whole, whole_server
from ullage.v1.plan_pb2 import RunPlan
from ullage.v1.run_pb2 import RUN_STATE_FINISHED, Run
from ullage.v1.run_service_pb2 import (
    FinishRunRequest,
    FinishRunResponse,
    ForkRunRequest,
    ForkRunResponse,
    ListRunsRequest,
    ListRunsResponse,
    ObserveUsageRequest,
    ObserveUsageResponse,
    StartRunRequest,
    StartRunResponse,
    WatchRunsRequest,
    WatchRunsResponse,
)
from ullage.v1.usage_pb2 import ModelUsage, TurnReport
from ullage_server.rpc import watch
from ullage_server.store import changes
from ullage_server.store.memory import MemoryStore
from ullage_server.store.port import Append, StoreError


class Watching:
    """A watcher, and the runs as it knows them."""

    def __init__(
        self, whole: Whole, resume_token: str = "", known: Mapping[str, Run] | None = None, **asked: Any
    ) -> None:
        self.call: grpc.aio.StreamStreamCall[bytes, bytes] = whole.wire.channel.stream_stream(
            path_of("WatchRuns")
        )()
        self.asked = WatchRunsRequest(resume_token=resume_token, **asked)
        self.runs: dict[str, Run] = dict(known or {})
        self.token = resume_token
        self.begun = False

    async def next(self) -> WatchRunsResponse:
        if not self.begun:
            self.begun = True
            await self.call.write(self.asked.SerializeToString())
            await self.call.done_writing()
        frame = await asyncio.wait_for(self.call.read(), 30)
        if not isinstance(frame, bytes):
            raise EOFError(await self.call.code())
        event = WatchRunsResponse.FromString(frame)
        if event.HasField("run"):
            self.runs[event.run.run_id] = event.run
        assert event.resume_token
        self.token = event.resume_token
        return event

    async def complete(self) -> list[str]:
        """The runs that are told up to `snapshot_complete`."""
        told = []
        while not (event := await self.next()).HasField("snapshot_complete"):
            told.append(event.run.run_id)
        return told

    async def until(self, run_id: str, turn: int) -> int:
        """Reads until that run has come to that turn; how many events that took."""
        count = 1
        while (run := (await self.next()).run).run_id != run_id or run.last_turn < turn:
            count += 1
        return count

    async def end(self) -> Any:
        try:
            while True:
                await self.next()
        except grpc.aio.AioRpcError as error:
            return answer_of(error)


async def start(whole: Whole, name: str, address: str = "", **labels: str) -> None:
    plan = RunPlan(address=address, context_tokens=1000, labels=labels)
    await whole.wire.ask("StartRun", StartRunRequest(run_id=name, plan=plan), StartRunResponse)


async def observe(whole: Whole, name: str, turn: int) -> None:
    report = TurnReport(turn=turn, usage=ModelUsage(input_tokens=turn))
    await whole.wire.ask("ObserveUsage", ObserveUsageRequest(run_id=name, report=report), ObserveUsageResponse)


async def finish(whole: Whole, name: str) -> None:
    await whole.wire.ask("FinishRun", FinishRunRequest(run_id=name, outcome="done"), FinishRunResponse)


async def listed(whole: Whole, **asked: Any) -> dict[str, Run]:
    return {
        run.run_id: run
        for run in (await whole.wire.ask("ListRuns", ListRunsRequest(**asked), ListRunsResponse)).runs
    }


@asynccontextmanager
async def served(store: MemoryStore | None = None) -> AsyncIterator[Whole]:
    async with whole_server(store or MemoryStore()) as whole:
        yield whole


async def test_first_the_present_runs_then_every_change() -> None:
    async with served() as whole:
        for name in ("a", "b"):
            await start(whole, name)
        watching = Watching(whole)
        assert sorted(await watching.complete()) == ["a", "b"]
        await observe(whole, "a", 1)
        assert (await watching.next()).run.reading.used_tokens == 1
        await start(whole, "c")
        assert (await watching.next()).run.run_id == "c"
        await finish(whole, "b")
        assert (await watching.next()).run.state == RUN_STATE_FINISHED
        branch = ForkRunRequest(parent_run_id="a", through_turn=1, run_id="d")
        await whole.wire.ask("ForkRun", branch, ForkRunResponse)
        assert (await watching.next()).run.origin.run_id == "a"
        assert watching.runs == await listed(whole)
        watching.call.cancel()


async def test_only_what_was_asked_for_is_told() -> None:
    async with served() as whole:
        watchers = {
            "all": Watching(whole),
            "lab": Watching(whole, address="lab"),
            "ada": Watching(whole, address="lab/ada"),
            "red": Watching(whole, labels={"team": "red"}),
        }
        for watching in watchers.values():
            assert await watching.complete() == []
        places = {"r1": "", "r2": "lab", "r3": "lab/ada", "r4": "lab/bob", "r5": "labx"}
        for name, address in places.items():
            await start(whole, name, address, **({"team": "red"} if name in ("r1", "r4") else {"team": "blue"}))
        alone = Watching(whole, run_id="r2")
        assert await alone.complete() == ["r2"]
        for name in places:
            await observe(whole, name, 1)
        told = {
            "all": {"r1", "r2", "r3", "r4", "r5"},
            "lab": {"r2", "r3", "r4"},
            "ada": {"r3"},
            "red": {"r1", "r4"},
        }
        for name, runs in told.items():
            while {each for each, run in watchers[name].runs.items() if run.last_turn == 1} != runs:
                assert (await watchers[name].next()).run.run_id in runs
            watchers[name].call.cancel()
        await alone.until("r2", 1)
        assert set(alone.runs) == {"r2"}


@pytest.mark.parametrize(
    ("asked", "reason", "field"),
    [
        ({"run_id": "nobody"}, "RUN_NOT_FOUND", "run_id"),
        ({"run_id": "no name"}, "ARGUMENT_INVALID", "run_id"),
        ({"address": "No/Where"}, "ARGUMENT_INVALID", "address"),
        ({"labels": {"": "x"}}, "ARGUMENT_INVALID", "labels"),
        ({"resume_token": "none of ours"}, "ARGUMENT_INVALID", "resume_token"),
    ],
)
async def test_what_cannot_be_watched_is_refused(asked: dict[str, Any], reason: str, field: str) -> None:
    async with served() as whole:
        end = await Watching(whole, **asked).end()
        assert (end.reason, set(end.violations)) == (reason, {field})


async def test_a_token_is_good_for_the_same_filters_alone() -> None:
    async with served() as whole:
        watching = Watching(whole, address="lab")
        await watching.complete()
        assert (await Watching(whole, watching.token).end()).reason == "ARGUMENT_INVALID"
        assert (await Watching(whole, watching.token, address="lab", run_id="").complete()) == []


async def test_a_watcher_who_reads_slowly_skips_states_and_never_the_last() -> None:
    async with served() as whole:
        # So many names that not all of their states find room on their way.
        names = [f"{n:0100d}" for n in range(100)]
        for name in names:
            await start(whole, name, **{f"{n}" * 50: "x" * 1000 for n in range(10)})
        watching = Watching(whole)
        await watching.next()
        for turn in range(1, 21):
            await asyncio.gather(*(observe(whole, name, turn) for name in names))
        events = 0
        while any(run.last_turn < 20 for run in watching.runs.values()) or len(watching.runs) < 100:
            await watching.next()
            events += 1
        assert watching.runs == {name: run for name in names if (run := watching.runs[name]).last_turn == 20}
        assert events < 20 * len(names), "states were skipped"
        watching.call.cancel()


async def test_a_stream_that_broke_goes_on_behind_its_token_and_misses_nothing() -> None:
    async with served() as whole:
        for name in ("a", "b", "c"):
            await start(whole, name)
        first = Watching(whole)
        await first.complete()
        first.call.cancel()
        await observe(whole, "b", 1)
        await start(whole, "d")
        again = Watching(whole, first.token, first.runs)
        assert await again.complete() == ["b", "d"]
        assert again.runs == await listed(whole)
        await observe(whole, "a", 1)
        await again.until("a", 1)
        again.call.cancel()


async def test_a_token_from_within_the_present_runs_goes_on_there() -> None:
    async with served() as whole:
        for number in range(5):
            await start(whole, f"r{number}")
        first = Watching(whole)
        told = [(await first.next()).run.run_id for _ in range(2)]
        first.call.cancel()
        await observe(whole, told[0], 1)
        again = Watching(whole, first.token, first.runs)
        rest = await again.complete()
        assert sorted(rest) == sorted({"r0", "r1", "r2", "r3", "r4"} - set(told) | {told[0]})
        assert again.runs == await listed(whole)


async def test_a_token_of_a_store_that_has_come_less_far_begins_with_all_runs() -> None:
    async with served() as whole:
        await start(whole, "a")
        for turn in range(1, 5):
            await observe(whole, "a", turn)
        watching = Watching(whole)
        await watching.complete()
    async with served() as fresh:
        await start(fresh, "b")
        assert await Watching(fresh, watching.token).complete() == ["b"]


async def test_where_nothing_changes_a_heartbeat_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "HEARTBEAT_SECONDS", 0.01)
    async with served() as whole:
        watching = Watching(whole, address="lab")
        await watching.complete()
        await start(whole, "elsewhere")
        event = await watching.next()
        assert event.heartbeat.at.seconds > 0
        assert await Watching(whole, watching.token, address="lab").complete() == []


async def test_what_another_server_wrote_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "POLL_SECONDS", 0.01)
    shared = MemoryStore(exclusive=False)
    async with served(shared) as one, served(shared) as other:
        watching = Watching(one)
        await watching.complete()
        await start(other, "a")
        assert (await watching.next()).run.run_id == "a"
        await observe(other, "a", 1)
        await watching.until("a", 1)
        # A token of one server is good at the other.
        await observe(one, "a", 2)
        assert await Watching(other, watching.token, watching.runs).complete() == ["a"]
        watching.call.cancel()


async def test_a_drain_ends_a_watch_at_once_though_nobody_reads_it() -> None:
    async with served() as whole:
        for number in range(50):
            await start(whole, f"r{number}", **{f"{n}" * 50: "x" * 1000 for n in range(10)})
        reading, stalled = Watching(whole), Watching(whole)
        await reading.complete()
        await stalled.next()
        await asyncio.wait_for(whole.app.drain(1000), 30)
        end = await reading.end()
        assert (end.code, end.reason) == (grpc.StatusCode.UNAVAILABLE, "DRAINING")
        assert end.retry_seconds > 0


async def test_what_the_store_shows_before_it_has_settled_is_told_as_it_is_there() -> None:
    class Late(MemoryStore):
        recorded, gate = asyncio.Event(), asyncio.Event()

        async def append(self, batch: Sequence[Append]) -> list[bool]:
            won = await super().append(batch)
            if any((one.run_id, one.position) == ("a", 2) for one in batch):
                self.recorded.set()
                await self.gate.wait()
            return won

    store = Late()
    async with served(store) as whole:
        for name in ("a", "b"):
            await start(whole, name)
        watching = Watching(whole)
        await watching.complete()
        reports = [asyncio.ensure_future(observe(whole, name, 1)) for name in ("b", "a")]
        await store.recorded.wait()
        await whole.wire.ask("ListRuns", ListRunsRequest(), ListRunsResponse)
        alone = Watching(whole, run_id="a")
        assert await alone.complete() == ["a"]
        assert alone.runs["a"].last_turn == 1
        store.gate.set()
        await asyncio.gather(*reports)
        await watching.until("a", 1)
        watching.call.cancel()


async def test_a_store_that_fails_ends_the_watch_and_the_next_one_goes_on() -> None:
    class Failing(MemoryStore):
        fails = False

        async def changes(self, after: int, limit: int) -> list[changes.Change]:
            if self.fails:
                raise StoreError("away")
            return await super().changes(after, limit)

    store = Failing()
    async with served(store) as whole:
        watching = Watching(whole)
        await watching.complete()
        store.fails = True
        await start(whole, "a")
        assert (await watching.end()).reason == "STORE_UNAVAILABLE"
        store.fails = False
        again = Watching(whole, watching.token)
        assert await again.complete() == ["a"]
        await start(whole, "b")
        assert (await again.next()).run.run_id == "b"


async def test_a_thousand_watchers_are_told_and_leave_nothing_behind() -> None:
    async with served() as whole:
        await start(whole, "a", "lab")
        watchers = [Watching(whole, address="lab") for _ in range(1000)]
        for watching in watchers:
            await watching.complete()
        await observe(whole, "a", 1)
        for watching in watchers:
            await watching.until("a", 1)
            watching.call.cancel()
        for _ in range(600):
            if not any(isinstance(one, changes.Watch) for one in gc.get_objects()):
                break
            gc.collect()
            await asyncio.sleep(0.05)
        else:
            raise AssertionError("watches were left behind")


steps = st.lists(
    st.one_of(
        st.tuples(st.just("start"), st.integers(0, 5)),
        st.tuples(st.just("observe"), st.integers(0, 5)),
        st.tuples(st.just("finish"), st.integers(0, 5)),
        st.tuples(st.just("read"), st.integers(1, 3)),
        st.tuples(st.just("break"), st.just(0)),
    ),
    max_size=25,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps, st.sampled_from(["", "lab"]))
def test_however_it_breaks_and_is_taken_up_a_watch_comes_to_know_what_is_listed(
    steps: list[tuple[str, int]], address: str
) -> None:
    async def play() -> None:
        turns: dict[str, int] = {}
        async with served() as whole:
            watching = Watching(whole, address=address)
            for step, number in steps:
                name, place = f"r{number}", "lab" if number % 2 else ""
                if step == "start" and name not in turns:
                    turns[name] = 0
                    await start(whole, name, place)
                elif step == "observe" and turns.get(name, -1) >= 0:
                    turns[name] += 1
                    await observe(whole, name, turns[name])
                elif step == "finish" and turns.get(name, -1) >= 0:
                    turns[name] = -1
                    await finish(whole, name)
                elif step == "read" and not watching.begun:
                    for _ in range(number):
                        if (await watching.next()).HasField("snapshot_complete"):
                            break
                elif step == "break":
                    watching.call.cancel()
                    watching = Watching(whole, watching.token, watching.runs, address=address)
            watching.call.cancel()
            last = Watching(whole, watching.token, watching.runs, address=address)
            await last.complete()
            assert last.runs == await listed(whole, address=address)
            last.call.cancel()

    asyncio.run(play())
