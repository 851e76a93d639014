"""A caller that gives up at any moment leaves the ledger, the cache and the next answer as if it had waited."""

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from random import Random

import grpc
import pytest

from tests.e2e.callers import rising
from tests.e2e.doomed import WINDOW, reports
from tests.e2e.giving_up import PATIENCE, Callee, Way, by_cancelling, by_closing, by_deadline, rpcs
from tests.e2e.ledger_file import LedgerFile, one_after_the_other
from tests.e2e.plain_rule import answers, said
from tests.servers import Server, environment, running_server
from tests.shared_data import REPOSITORY
from ullage import AsyncClient, RunNotFound, new_run_id
from ullage.answers import observation_of
from ullage.v1 import (
    building_pb2,
    building_service_pb2,
    plan_pb2,
    run_pb2,
    run_service_pb2,
    usage_pb2,
)

RUNS = 16
TURNS = 24
SECOND = 65


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@asynccontextmanager
async def calling(server: Server) -> AsyncIterator[Callee]:
    async with grpc.aio.insecure_channel(server.target) as channel:
        await channel.channel_ready()
        yield Callee(server.target, rpcs(channel))


class Impatient:
    """A run of whose calls every other one is given up and then made again."""

    def __init__(self, callee: Callee, way: Way, chance: Random, moments: Iterator[float]) -> None:
        self.callee = callee
        self.way = way
        self.moments = moments
        self.run_id = new_run_id()
        self.reports = rising(chance, WINDOW, TURNS)
        self.met: Counter[str] = Counter()

    async def live(self) -> None:
        plan = plan_pb2.RunPlan(context_tokens=WINDOW)
        start = run_service_pb2.StartRunRequest(run_id=self.run_id, plan=plan)
        await self.give_up("StartRun", start)
        started = await self.callee.rpcs.runs.StartRun(start, timeout=PATIENCE)
        assert (started.run.run_id, started.run.revision) == (self.run_id, 1)
        expected = answers(self.reports, WINDOW, SECOND)
        for turn, used in enumerate(self.reports, start=1):
            report = observed(self.run_id, turn, used)
            if turn % 2:
                await self.give_up("ObserveUsage", report)
            answer = await self.callee.rpcs.runs.ObserveUsage(report, timeout=PATIENCE)
            self.met["had been recorded"] += answer.replayed
            assert said(observation_of(answer)) == expected[turn - 1], f"{self.run_id}, turn {turn}"
        finish = run_service_pb2.FinishRunRequest(run_id=self.run_id, outcome="done")
        await self.give_up("FinishRun", finish)
        finished = await self.callee.rpcs.runs.FinishRun(finish, timeout=PATIENCE)
        assert finished.run.state == run_pb2.RUN_STATE_FINISHED
        assert finished.run.insertions_given == sum(each.reminder is not None for each in expected)

    async def give_up(self, rpc: str, request: object) -> None:
        answered = await self.way(self.callee, lambda rpcs: getattr(rpcs.runs, rpc), request, next(self.moments))
        self.met["answered in time" if answered else "given up"] += 1


def observed(run_id: str, turn: int, used: int | None) -> run_service_pb2.ObserveUsageRequest:
    usage = None if used is None else usage_pb2.ModelUsage(input_tokens=used)
    return run_service_pb2.ObserveUsageRequest(run_id=run_id, report=usage_pb2.TurnReport(turn=turn, usage=usage))


def small_steps() -> Iterator[float]:
    """Every moment of a call's life, on a fast machine and on a slow one: from half a millisecond up."""
    while True:
        yield from (0.0005 + step * 0.0001 for step in range(300))


def at_any_moment(chance: Random) -> Iterator[float]:
    """Mostly soon, where the call is on its way."""
    while True:
        yield chance.choice([0.0, chance.uniform(0, 0.003), chance.uniform(0, 0.015)])


async def same_after_a_restart(server: Server, run_ids: list[str]) -> None:
    """How the runs stand in the server that is up is how they stand in one that reads them from disk."""
    async with AsyncClient(server.target, timeout=PATIENCE) as client:
        running = [await client.get_run(run_id) for run_id in run_ids]
        rungs = [building async for building in client.list_buildings()]
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)
    async with AsyncClient(server.target, timeout=PATIENCE) as client:
        assert [await client.get_run(run_id) for run_id in run_ids] == running
        assert [building async for building in client.list_buildings()] == rungs


@pytest.mark.parametrize("way", [by_deadline, by_cancelling, by_closing])
async def test_a_call_given_up_at_any_moment_is_answered_when_it_is_made_again(server: Server, way: Way) -> None:
    chance = Random(7)
    moments = small_steps() if way is by_deadline else at_any_moment(chance)
    met = Counter[str]()
    async with calling(server) as callee:
        runs = [Impatient(callee, way, chance, moments) for _ in range(RUNS)]
        async with asyncio.TaskGroup() as tasks:
            for run in runs:
                tasks.create_task(run.live())
    for run in runs:
        met += run.met
    sys.stdout.write(f"{way.__name__}: {dict(met)}\n")
    assert met["given up"] > 0
    ledger = LedgerFile(server.data).runs()
    assert all(ledger[run.run_id] == one_after_the_other(TURNS, finished=True) for run in runs)
    await same_after_a_restart(server, [run.run_id for run in runs])


async def test_of_many_that_make_one_report_most_give_up_and_it_is_recorded_once(server: Server) -> None:
    chance = Random(8)
    ways: list[Way] = [by_deadline, by_cancelling, by_closing]
    moments = at_any_moment(chance)
    run_id, used = new_run_id(), rising(chance, WINDOW, TURNS)
    async with calling(server) as callee:
        plan = plan_pb2.RunPlan(context_tokens=WINDOW)
        await callee.rpcs.runs.StartRun(run_service_pb2.StartRunRequest(run_id=run_id, plan=plan))
        for turn, expected in enumerate(answers(used, WINDOW, SECOND), start=1):
            report = observed(run_id, turn, used[turn - 1])
            async with asyncio.TaskGroup() as tasks:
                for _ in range(8):
                    moment = max(next(moments), 0.0005)
                    tasks.create_task(
                        chance.choice(ways)(callee, lambda rpcs: rpcs.runs.ObserveUsage, report, moment)
                    )
                waits = tasks.create_task(ask(callee, report))
            assert said(observation_of(waits.result())) == expected
            again = await ask(callee, report)
            assert again.replayed
            assert said(observation_of(again)) == expected
    assert LedgerFile(server.data).runs()[run_id] == one_after_the_other(TURNS)
    await same_after_a_restart(server, [run_id])


async def ask(callee: Callee, report: run_service_pb2.ObserveUsageRequest) -> run_service_pb2.ObserveUsageResponse:
    answer: run_service_pb2.ObserveUsageResponse = await callee.rpcs.runs.ObserveUsage(report, timeout=PATIENCE)
    return answer


@pytest.mark.parametrize("way", [by_deadline, by_cancelling, by_closing])
async def test_a_write_given_up_at_any_moment_is_done_once(server: Server, way: Way) -> None:
    rung, moments = f"of-{way.__name__}".replace("_", "-"), at_any_moment(Random(9))
    async with calling(server) as callee:
        for number in range(40):
            threshold = 31 + number
            command = building_pb2.ConfigureBuilding(address=rung, context_second_threshold=threshold)
            request = building_service_pb2.ConfigureBuildingRequest(command=command, request_id=f"{rung}:{number}")
            moment = max(next(moments), 0.0005)
            await way(callee, lambda rpcs: rpcs.buildings.ConfigureBuilding, request, moment)
            answer = await callee.rpcs.buildings.ConfigureBuilding(request, timeout=PATIENCE)
            get = building_service_pb2.GetBuildingRequest(address=rung)
            stands = await callee.rpcs.buildings.GetBuilding(get, timeout=PATIENCE)
            assert [(each.key, each.value) for each in stands.building.stated] == [
                ("context.second_threshold", str(threshold))
            ]
            assert answer.building.stated == stands.building.stated
            assert answer.building.etag == stands.building.etag
    held = [name for name, done in LedgerFile(server.data).commands() if done and name.startswith(f"{rung}:")]
    assert held == [f"{rung}:{number}" for number in range(40)]
    await same_after_a_restart(server, [])


async def test_a_client_process_killed_in_mid_call_leaves_its_runs_as_they_were_reported(server: Server) -> None:
    chance = Random(10)
    run_ids: list[str] = []
    for _ in range(8):
        run_ids += (mine := [new_run_id() for _ in range(8)])
        await killed_while_it_reports(server.target, mine, chance.uniform(0, 0.15))
    async with AsyncClient(server.target, timeout=PATIENCE) as client:
        reached = [await goes_on(client, run_id) for run_id in run_ids]
    sys.stdout.write(f"killed at turns {sorted(reached)}\n")
    assert max(reached) > 0
    await same_after_a_restart(server, run_ids)


async def killed_while_it_reports(target: str, run_ids: list[str], moment: float) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.e2e.doomed", target, *run_ids),
        stdout=subprocess.PIPE,
        cwd=REPOSITORY,
        env=environment(),
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"answered\n"
    await asyncio.sleep(moment)
    process.kill()
    await process.communicate()


async def goes_on(client: AsyncClient, run_id: str) -> int:
    """Takes up a run that was left, as whoever comes next would; gives the turn that it had come to."""
    used = reports(run_id)
    expected = answers(used, WINDOW, SECOND)
    try:
        run = await client.resume_run(run_id)
    except RunNotFound:
        run = await client.start_run(run_id, context_tokens=WINDOW)
    left_at = run.last_turn
    stands = await run.status()
    if left_at:
        # The server may yet have taken one more report than it told of.
        assert stands.sounded == expected[stands.last_turn - 1].sounded
        again = await run.observe(used[left_at - 1], turn=left_at)
        assert again.replayed
        assert said(again) == expected[left_at - 1]
    for turn in (left_at + 1, left_at + 2):
        assert said(await run.observe(used[turn - 1])) == expected[turn - 1]
    return left_at
