"""An exchange keeps its bytes: through kills, restarts, callers that give up, and in another process."""

import asyncio
import os
import signal
import sys
from random import Random

import grpc
import pytest

from tests.e2e.compacting import BUDGET, KNOCKING, Compactor, exchange, replayed
from tests.e2e.giving_up import PATIENCE, Callee, Way, by_cancelling, by_closing, by_deadline, rpcs
from tests.e2e.killed import siege
from tests.e2e.ledger_file import LedgerFile, Row
from tests.rpc.calls import AsyncWire, Wire
from tests.rpc.exchanges import exchange_not_as_sent, history
from tests.rpc.test_exchanges import real_exchanges
from tests.servers import running_server
from ullage import new_run_id
from ullage.v1.plan_pb2 import RunPlan
from ullage.v1.run_service_pb2 import (
    CompactExchangeRequest,
    CompactExchangeResponse,
    ReadLedgerRequest,
    ReadLedgerResponse,
    ReplayExchangesRequest,
    ReplayExchangesResponse,
    ReplayStart,
    StartRunRequest,
    StartRunResponse,
)

KILLS = -(-int(os.environ.get("ULLAGE_KILLS", "200")) // 10)
CALLERS = 6


@pytest.mark.timeout(120 + 10 * KILLS)
async def test_a_server_killed_under_exchanges_records_each_once_and_keeps_its_bytes() -> None:
    seed = int(os.environ.get("ULLAGE_SEED") or Random().getrandbits(32))
    sys.stdout.write(f"ULLAGE_SEED={seed}\n")
    with siege(seed) as besieged:
        over = asyncio.Event()

        async def keep_compacting(chance: Random) -> list[Compactor]:
            done = []
            async with grpc.aio.insecure_channel(besieged.target, KNOCKING) as channel:
                while not over.is_set():
                    done.append(Compactor(besieged, chance))
                    await done[-1].live(AsyncWire(channel))
            return done

        async with asyncio.TaskGroup() as tasks:
            living = [tasks.create_task(keep_compacting(Random(seed * 1000 + each))) for each in range(CALLERS)]
            await besieged.kills(KILLS)
            over.set()
        compactors = [compactor for task in living for compactor in task.result()]
        # Once more of a server that reads all from disk, and of one that never heard of any of it.
        await besieged.end()
        besieged.start()
        await besieged.up()
        async with grpc.aio.insecure_channel(besieged.target, KNOCKING) as channel:
            for compactor in compactors:
                await compactor.ask_again(AsyncWire(channel))
                await compactor.replay(channel, by_name=True)
        with running_server() as stranger:
            async with grpc.aio.insecure_channel(stranger.target, KNOCKING) as channel:
                for compactor in compactors:
                    await compactor.replay(channel, by_name=False)
        assert await besieged.end(signal.SIGTERM) == 0
        ledger = LedgerFile(besieged.data)
        assert ledger.is_whole()
        assert ledger.runs() == {
            run_id: rows for compactor in compactors for run_id, rows in compactor.rows.items()
        }
        sys.stdout.write(f"{dict(besieged.met)}, {sum(len(one.sent) for one in compactors)} exchanges\n")
        assert not besieged.faults, "\n".join(besieged.blamed[:20])
        assert besieged.met["kills under load"] >= KILLS


@pytest.mark.parametrize("way", [by_deadline, by_cancelling, by_closing])
async def test_an_exchange_whose_caller_gives_up_is_recorded_once_and_answered_the_same(way: Way) -> None:
    chance = Random(11)
    with running_server() as server:
        run_ids = [new_run_id() for _ in range(8)]
        answers: dict[tuple[str, int], CompactExchangeResponse] = {}
        requests = {
            (run_id, turn): CompactExchangeRequest(run_id=run_id, turn=turn, exchange=exchange(chance))
            for run_id in run_ids
            for turn in range(1, 11)
        }

        async def live(callee: Callee, run_id: str) -> None:
            plan = RunPlan(exchange_budget_bytes=BUDGET)
            await callee.rpcs.runs.StartRun(StartRunRequest(run_id=run_id, plan=plan), timeout=PATIENCE)
            for turn in range(1, 11):
                request = requests[run_id, turn]
                moment = max(chance.choice([0.0, chance.uniform(0, 0.005), chance.uniform(0, 0.05)]), 0.0005)
                await way(callee, lambda rpcs: rpcs.runs.CompactExchange, request, moment)
                answers[run_id, turn] = await callee.rpcs.runs.CompactExchange(request, timeout=PATIENCE)
                assert exchange_not_as_sent(request, answers[run_id, turn]) == []

        async with grpc.aio.insecure_channel(server.target, KNOCKING) as channel, asyncio.TaskGroup() as tasks:
            await channel.channel_ready()
            callee = Callee(server.target, rpcs(channel))
            for run_id in run_ids:
                tasks.create_task(live(callee, run_id))
        server.kill()
        server.start()
        async with grpc.aio.insecure_channel(server.target, KNOCKING) as channel:
            for at, request in requests.items():
                again = await AsyncWire(channel).ask("CompactExchange", request, CompactExchangeResponse)
                assert again.replayed
                answers[at].replayed = True
                assert again == answers[at]
        ledger = LedgerFile(server.data).runs()
    rows = [Row(1, "run_started", 0), *(Row(turn + 1, "exchange_compacted", turn) for turn in range(1, 11))]
    assert ledger == dict.fromkeys(run_ids, rows)


async def test_real_exchanges_have_the_same_bytes_after_a_restart_and_in_another_process() -> None:
    runs: dict[str, str] = {}
    said: dict[str, list[ReplayExchangesRequest]] = {}
    live: dict[str, list[tuple[int, bytes, bytes]]] = {}
    with running_server() as server, running_server() as stranger:
        with grpc.insecure_channel(server.target, KNOCKING) as channel:
            wire = Wire(channel)
            for name, turn, sent in real_exchanges():
                if name not in runs:
                    runs[name] = new_run_id()
                    wire.ask("StartRun", StartRunRequest(run_id=runs[name]), StartRunResponse)
                request = CompactExchangeRequest(run_id=runs[name], turn=turn, exchange=sent)
                answer = wire.send("CompactExchange", request)
                if answer.reason == "WAVE_INCOMPLETE":
                    continue  # a call that was broken off has no answer
                told = CompactExchangeResponse.FromString(answer.payload)
                live.setdefault(name, []).append((turn, told.exchange.SerializeToString(), told.digest))
                said.setdefault(name, []).extend(history(turn, sent))
        server.kill()
        server.start()
        for target, by_name in ((server.target, True), (stranger.target, False)):
            async with grpc.aio.insecure_channel(target, KNOCKING) as channel:
                for name, run_id in runs.items():
                    start = ReplayStart(run_id=run_id) if by_name else ReplayStart()
                    answers = await replayed(channel, [ReplayExchangesRequest(start=start), *said[name]])
                    assert [_told(answer) for answer in answers] == live[name]
                    assert all(answer.exchange.matches_ledger is by_name for answer in answers)
        with grpc.insecure_channel(server.target) as channel:
            for name, run_id in runs.items():
                rows = Wire(channel).stream("ReadLedger", [ReadLedgerRequest(run_id=run_id, from_position=2)])
                kept = [ReadLedgerResponse.FromString(row.payload).record.exchange_compacted for row in rows]
                assert [(one.turn, one.result_digest) for one in kept] == [(t, d) for t, _, d in live[name]]


def _told(answer: ReplayExchangesResponse) -> tuple[int, bytes, bytes]:
    return answer.exchange.turn, answer.exchange.exchange.SerializeToString(), answer.exchange.digest
