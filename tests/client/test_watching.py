"""client.watch_runs and client.read_ledger: what is told, and that a server which comes back is no end of it."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

import ullage
from tests.servers import Server, running_server


@pytest.fixture
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


def until_complete(events: Iterator[object]) -> list[str]:
    """The runs that are told before SnapshotComplete."""
    told: list[str] = []
    for event in events:
        if isinstance(event, ullage.SnapshotComplete):
            return told
        assert isinstance(event, ullage.RunChanged)
        told.append(event.run.run_id)
    raise AssertionError("the watch ended")


def test_the_present_runs_then_changes_over_a_restart_of_the_server(server: Server) -> None:
    with ullage.Client(server.target) as client:
        a = client.start_run("a", context_tokens=1000, address="lab")
        client.start_run("b", address="other")
        events = client.watch_runs("lab")
        assert until_complete(events) == ["a"]
        a.observe(310)
        changed = next(events)
        assert isinstance(changed, ullage.RunChanged)
        assert (changed.run.last_turn, changed.run.sounded) == (1, "first")
        server.kill()
        server.start()
        a.observe(400)
        while True:
            again = next(events)
            assert isinstance(again, ullage.RunChanged), "SnapshotComplete comes once"
            if again.run.last_turn == 2:
                break
        events.close()  # type: ignore[attr-defined]  # a generator's
        assert until_complete(client.watch_runs(run_id="b")) == ["b"]
        assert until_complete(client.watch_runs(labels={"no": "such"})) == []


def test_what_cannot_be_watched_raises(server: Server) -> None:
    with ullage.Client(server.target) as client:
        with pytest.raises(ullage.RunNotFound):
            next(client.watch_runs(run_id="nobody"))
        with pytest.raises(ullage.ArgumentInvalid, match="address"):
            next(client.watch_runs("No/Where"))
        with pytest.raises(TypeError, match="labels"):
            client.watch_runs(labels=7)  # type: ignore[arg-type]  # as callers do


def test_a_server_that_stays_away_ends_it(server: Server) -> None:
    with ullage.Client(server.target, timeout=0.5) as client:
        events = client.watch_runs()
        assert until_complete(events) == []
        server.kill()
        with pytest.raises(ullage.ServerUnreachable):
            next(events)


async def test_the_async_client_does_the_same(server: Server) -> None:
    async def next_run(events: AsyncIterator[object]) -> ullage.RunStatus:
        while not isinstance(event := await asyncio.wait_for(anext(events), 30), ullage.RunChanged):
            pass
        return event.run

    async with ullage.AsyncClient(server.target) as client:
        run = await client.start_run("a", context_tokens=1000)
        events = client.watch_runs()
        assert (await next_run(events)).run_id == "a"
        await run.observe(310)
        assert (await next_run(events)).last_turn == 1
        server.kill()
        server.start()
        await run.observe(400)
        while (await next_run(events)).last_turn < 2:
            pass
        closing = asyncio.ensure_future(next_run(events))
        await asyncio.sleep(0.05)
    with pytest.raises(RuntimeError, match="closed"):
        await closing


async def test_a_ledger_is_read_in_order_from_where_it_is_asked(server: Server) -> None:
    with ullage.Client(server.target) as client:
        run = client.start_run("a", context_tokens=1000)
        for used in (310, 320):
            run.observe(used)
        records = list(client.read_ledger("a"))
        assert [record.WhichOneof("happened") for record in records] == ["run_started", *["usage_observed"] * 2]
        assert [record.position for record in client.read_ledger("a", 3)] == [3]
        assert list(client.read_ledger("a", 4)) == []
        reading = client.read_ledger("a")
        assert next(reading).position == 1
        server.kill()
        server.start()
        assert [record.position for record in reading][-1:] == [3]
        with pytest.raises(ullage.RunNotFound):
            next(client.read_ledger("nobody"))
    async with ullage.AsyncClient(server.target) as other:
        assert [record async for record in other.read_ledger("a")] == records
