"""Group commit: what arrives together goes together, and each append hears of its own batch."""

import asyncio
from collections.abc import Sequence

import pytest

from tests.store.contract import append
from ullage_server.store import commit
from ullage_server.store.commit import GroupCommit, Result
from ullage_server.store.memory import MemoryStore
from ullage_server.store.port import Append, StoreError


class Gated(MemoryStore):
    """A memory store whose batches wait for the test."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Semaphore(0)
        self.batches: list[int] = []
        self.error: Exception | None = None

    async def append(self, batch: Sequence[Append]) -> list[bool]:
        self.batches.append(len(batch))
        await self.gate.acquire()
        if self.error is not None:
            raise self.error
        return await super().append(batch)


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_what_arrives_while_a_batch_is_on_its_way_goes_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "GATHER_SECONDS", 0)
    store = Gated()
    group = GroupCommit(store)
    settled: dict[str, Result] = {}
    for n in range(5):
        group.append(append(f"r{n}", 1), lambda result, n=n: settled.update({f"r{n}": result}))  # type: ignore[misc]
        await turns()
    assert store.batches == [1]
    assert settled == {}
    store.gate.release()
    await turns()
    assert store.batches == [1, 4]
    assert settled == {"r0": True}, "each is settled after its own batch"
    store.gate.release()
    await group.drained()
    assert settled == {f"r{n}": True for n in range(5)}


async def test_a_caller_that_is_alone_never_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "GATHER_SECONDS", 1e6)
    group = GroupCommit(MemoryStore())
    for n in range(5):
        group.append(append(f"r{n}", 1), lambda result: None)
        await group.drained()


async def two_of_six(store: Gated, group: GroupCommit) -> None:
    """A batch of two has been written, and four more came meanwhile; and once more so."""
    for n in range(2):
        group.append(append(f"a{n}", 1), lambda result: None)
    await turns()
    for n in range(4):
        group.append(append(f"b{n}", 1), lambda result: None)
    store.gate.release()
    await turns()
    for n in range(2):
        group.append(append(f"c{n}", 1), lambda result: None)
    assert store.batches == [2, 4]
    store.gate.release()
    await turns()


async def test_a_batch_waits_for_as_many_as_were_under_way_and_not_a_moment_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(commit, "GATHER_SECONDS", 1e6)
    store = Gated()
    group = GroupCommit(store)
    await two_of_six(store, group)
    for n in range(4):
        assert store.batches == [2, 4], "some of the six are still to come"
        group.append(append(f"d{n}", 1), lambda result: None)
        await turns()
    assert store.batches == [2, 4, 6]
    store.gate.release()
    await group.drained()


async def test_a_batch_goes_without_those_who_do_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "GATHER_SECONDS", 0.01)
    store = Gated()
    group = GroupCommit(store)
    await two_of_six(store, group)
    assert store.batches == [2, 4]
    store.gate.release()
    await group.drained()
    assert store.batches == [2, 4, 2]


async def test_a_caller_that_met_others_by_chance_does_not_wait_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "GATHER_SECONDS", 1e6)
    group = GroupCommit(MemoryStore())
    for n in range(5):
        group.append(append(f"a{n}", 1), lambda result: None)
        for other in range(3 if n % 2 else 0):
            group.append(append(f"b{n}-{other}", 1), lambda result: None)
        await group.drained()


async def test_a_batch_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "MAX_BATCH", 3)
    monkeypatch.setattr(commit, "GATHER_SECONDS", 0)
    store = Gated()
    group = GroupCommit(store)
    for n in range(8):
        group.append(append(f"r{n}", 1), lambda result: None)
        store.gate.release()
    await group.drained()
    assert store.batches == [3, 3, 2]


async def test_an_error_is_told_to_the_whole_batch_and_the_next_one_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(commit, "GATHER_SECONDS", 0)
    store = Gated()
    group = GroupCommit(store)
    results: list[Result] = []
    store.error = StoreError("away")
    group.append(append("a", 1), results.append)
    group.append(append("b", 1), results.append)
    store.gate.release()
    await group.drained()
    assert results == [store.error, store.error]
    store.error = None
    group.append(append("a", 1), results.append)
    store.gate.release()
    await group.drained()
    assert results[2:] == [True]
