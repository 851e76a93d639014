"""The ledger over the memory store: once, in order, current, and whole whatever its callers do."""

import asyncio
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from tests.core.runs import report, started, stated
from ullage_server.core.errors import Refusal
from ullage_server.core.observe import Report, observe
from ullage_server.core.plan import freeze
from ullage_server.core.records import RunStarted, UsageObserved
from ullage_server.core.run import present, same_start, start
from ullage_server.core.state import State
from ullage_server.store.cache import STATE_BYTES, StateCache
from ullage_server.store.ledger import Ledger, Outcome
from ullage_server.store.memory import MemoryStore
from ullage_server.store.port import Append, Standing, StoreError

ROOM = 1 << 20


class SlowStore(MemoryStore):
    """A memory store whose appends wait to be let through, and may be made to fail."""

    def __init__(self, *, exclusive: bool = True) -> None:
        super().__init__(exclusive=exclusive)
        self.gate = asyncio.Event()
        self.gate.set()
        self.fails = 0
        self.batches: list[int] = []

    async def append(self, batch: Sequence[Append]) -> list[bool]:
        await self.gate.wait()
        self.batches.append(len(batch))
        if self.fails:
            self.fails -= 1
            raise StoreError("away")
        return await super().append(batch)


async def begin(ledger: Ledger, run_id: str = "r") -> Outcome[RunStarted]:
    what = stated()

    async def decide(state: State | None) -> RunStarted:
        if state is not None:
            return same_start(state, what, await ledger.first(run_id))
        return start(run_id, what, freeze(run_id, what, [], lambda model: None), at=1)

    return await ledger.command(run_id, decide)


async def tell(ledger: Ledger, one: Report, run_id: str = "r") -> Outcome[UsageObserved]:
    async def decide(state: State | None) -> UsageObserved:
        run = present(state, run_id)
        recorded = None
        if one.turn <= run.last_observed:
            recorded = await ledger.recorded(run_id, UsageObserved, one.turn)
        return observe(run, one, recorded, None, at=2)

    return await ledger.command(run_id, decide)


async def length(ledger: Ledger, run_id: str = "r") -> int:
    return len([record async for record in ledger.records(run_id)])


async def test_the_same_command_again_is_answered_from_the_ledger() -> None:
    ledger = Ledger(MemoryStore(), ROOM)
    assert not (await begin(ledger)).replayed
    assert (await begin(ledger)).replayed
    first = await tell(ledger, report(1, 300))
    again = await tell(ledger, report(1, 300))
    assert (first.replayed, again.replayed) == (False, True)
    assert again.record == first.record
    assert await length(ledger) == 2


async def test_a_refused_command_leaves_no_trace_and_lets_the_next_one_in() -> None:
    ledger = Ledger(MemoryStore(), ROOM)
    with pytest.raises(Refusal):
        await tell(ledger, report(1, 300))
    await begin(ledger)
    await tell(ledger, report(1, 300))
    with pytest.raises(Refusal):
        await tell(ledger, report(1, 301))
    assert await length(ledger) == 2
    assert not ledger._order._waiting


async def test_commands_of_one_run_go_one_after_another_and_those_of_many_in_one_batch() -> None:
    store = SlowStore()
    ledger = Ledger(store, ROOM)
    for n in range(20):
        await begin(ledger, f"r{n}")
    store.batches.clear()
    store.gate.clear()
    told = [asyncio.ensure_future(tell(ledger, report(turn, 10), f"r{n}")) for turn in (1, 2) for n in range(20)]
    for _ in range(10):
        await asyncio.sleep(0)
    store.gate.set()
    outcomes = await asyncio.gather(*told)
    assert [o.replayed for o in outcomes] == [False] * 40
    assert sum(store.batches) == 40
    assert len(store.batches) <= 4


async def test_an_append_that_fails_is_told_and_the_same_command_again_succeeds() -> None:
    store = SlowStore()
    ledger = Ledger(store, ROOM)
    await begin(ledger)
    store.fails = 1
    with pytest.raises(StoreError):
        await tell(ledger, report(1, 300))
    assert ledger._cache.get("r") is None
    outcome = await tell(ledger, report(1, 300))
    assert not outcome.replayed
    assert outcome.record.reminder is not None


@pytest.mark.parametrize("steps", range(12))
async def test_a_caller_that_gives_up_leaves_all_as_if_it_had_waited(steps: int) -> None:
    store = SlowStore()
    ledger = Ledger(store, ROOM)
    await begin(ledger)
    store.gate.clear()
    caller = asyncio.ensure_future(tell(ledger, report(1, 300)))
    for _ in range(steps):
        await asyncio.sleep(0)
    given_up = steps > 0 and not caller.done()
    caller.cancel()
    store.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    outcome = await tell(ledger, report(1, 300))
    assert outcome.replayed == (given_up and steps > 0)
    assert outcome.record.reminder is not None
    assert outcome.state.position == 2
    assert outcome.state == await Ledger(store, ROOM).state("r"), "the cache is what a cold start folds"
    assert not ledger._order._waiting


async def test_a_caller_that_gives_up_in_the_queue_lets_the_others_pass() -> None:
    store = SlowStore()
    ledger = Ledger(store, ROOM)
    await begin(ledger)
    store.gate.clear()
    callers = [asyncio.ensure_future(tell(ledger, report(turn, 10))) for turn in range(1, 6)]
    await asyncio.sleep(0)
    callers[1].cancel()
    callers[3].cancel()
    await asyncio.sleep(0)
    store.gate.set()
    results = await asyncio.gather(*callers, return_exceptions=True)
    assert [type(result) for result in results] == [
        Outcome,
        asyncio.CancelledError,
        Outcome,
        asyncio.CancelledError,
        Outcome,
    ]
    assert not ledger._order._waiting


async def test_a_cold_cache_and_a_bounded_one_give_the_same() -> None:
    store = MemoryStore()
    ledger = Ledger(store, 3 * STATE_BYTES)
    for n in range(10):
        await begin(ledger, f"r{n}")
        await tell(ledger, report(1, 300), f"r{n}")
    assert len(ledger._cache._states) == 3
    for n in range(10):
        outcome = await tell(ledger, report(2, 310), f"r{n}")
        assert outcome.record.reminder is None
        assert outcome.state.insertions_given == 1


async def test_a_state_of_another_fold_is_folded_from_the_start() -> None:
    store = MemoryStore()
    ledger = Ledger(store, ROOM)
    await begin(ledger)
    done = await tell(ledger, report(1, 300))
    store._ledgers["r"][-1] = store._ledgers["r"][-1]._replace(fold_version=99, state=b"of another time")
    assert await Ledger(store, ROOM).state("r") == done.state
    assert [state for _, state in await Ledger(store, ROOM).page("", None, {}, None, 5)] == [done.state]


async def test_servers_that_share_a_store_agree_on_who_was_first() -> None:
    store = MemoryStore(exclusive=False)
    one, two = Ledger(store, ROOM), Ledger(store, ROOM)
    await begin(one)
    assert (await begin(two)).replayed
    a = await tell(one, report(1, 300))
    b = await tell(two, report(1, 300))
    assert (a.replayed, b.replayed) == (False, True)
    assert a.record == b.record
    await tell(two, report(2, 400))
    assert (await tell(one, report(3, 700))).record.reminder is not None
    assert (await tell(two, report(4, 800))).record.reminder is None
    assert await one.state("r") == await two.state("r")
    with pytest.raises(Refusal):
        await tell(one, report(2, 401))


async def test_an_answer_from_a_cached_state_is_proved_current() -> None:
    store = MemoryStore(exclusive=False)
    one, two = Ledger(store, ROOM), Ledger(store, ROOM)
    await begin(one)
    await begin(two)
    await tell(two, report(1, 300))
    state = await one.state("r")
    assert state is not None
    assert state.last_observed == 1


async def test_two_servers_racing_for_every_turn_lose_none_and_double_none() -> None:
    class Yielding(MemoryStore):
        async def append(self, batch: Sequence[Append]) -> list[bool]:
            await asyncio.sleep(0)
            return await super().append(batch)

    store = Yielding(exclusive=False)
    ledgers = [Ledger(store, ROOM) for _ in range(3)]
    await begin(ledgers[0])
    for turn in range(1, 60):
        used = turn * 15
        outcomes = await asyncio.gather(*(tell(ledger, report(turn, used)) for ledger in ledgers))
        assert sum(not outcome.replayed for outcome in outcomes) == 1
        assert len({outcome.record for outcome in outcomes}) == 1
    state = await ledgers[1].state("r")
    assert state is not None
    assert (state.position, state.insertions_given) == (60, 2)


async def test_closing_waits_for_what_is_under_way() -> None:
    store = SlowStore()
    ledger = Ledger(store, ROOM)
    await begin(ledger)
    store.gate.clear()
    caller = asyncio.ensure_future(tell(ledger, report(1, 300)))
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(ledger.close())
    await asyncio.sleep(0)
    assert not closing.done()
    store.gate.set()
    await closing
    assert not (await caller).replayed


async def test_a_status_that_is_read_late_is_not_kept_for_the_next() -> None:
    class Paused(MemoryStore):
        gate: asyncio.Event | None = None

        async def standing(self, run_id: str) -> Standing | None:
            found = await super().standing(run_id)
            if self.gate is not None and run_id == "r":
                await self.gate.wait()
            return found

    store = Paused()
    ledger = Ledger(store, STATE_BYTES)
    await begin(ledger)
    await begin(ledger, "s")  # the cache holds one run, and "r" is out
    store.gate = asyncio.Event()
    reading = asyncio.ensure_future(ledger.state("r"))
    await asyncio.sleep(0)
    gate, store.gate = store.gate, None
    await tell(ledger, report(1, 300))
    await begin(ledger, "t")
    gate.set()
    await reading
    state = await ledger.state("r")
    assert state is not None
    assert state.last_observed == 1


async def test_the_cache_is_bounded_by_what_its_runs_weigh() -> None:
    cache = StateCache(20 * STATE_BYTES)
    plain = started()
    heavy = started(replace(stated(), labels={"k": "x" * 1024}))
    for n in range(50):
        cache.put(replace(plain, run_id=f"p{n}"))
    assert len(cache._states) == 20
    for n in range(50):
        cache.put(replace(heavy, run_id=f"h{n}"))
    assert len(cache._states) == 3, "a kibichar of label may take four KiB"
    for n in range(50):
        cache.put(replace(plain, run_id=f"h{n}"))
        cache.put(replace(plain, run_id=f"h{n}", outcome="x" * 1024))
    assert len(cache._states) == 4, "nor is its outcome forgotten, which comes later"
    for n in range(50):
        cache.drop(f"h{n}")
    assert (cache._held, len(cache._states)) == (0, 0)
