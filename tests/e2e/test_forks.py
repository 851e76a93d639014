"""A branch at every turn of a long run: its gauge is its mother's there, and she never changes."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

import grpc
import pytest

from tests.rpc.calls import ANY_SIZE, Wire
from tests.rpc.exchanges import result, text, use
from tests.rpc.refusals import faults_of
from tests.servers import Server, running_server
from ullage import new_run_id
from ullage.v1.exchange_pb2 import Exchange
from ullage.v1.plan_pb2 import REARM_PER_WINDOW, RunPlan
from ullage.v1.run_pb2 import RUN_STATE_ACTIVE, Run
from ullage.v1.run_service_pb2 import (
    CompactExchangeRequest,
    CompactExchangeResponse,
    FinishRunRequest,
    FinishRunResponse,
    ForkRunRequest,
    ForkRunResponse,
    GetRunRequest,
    GetRunResponse,
    ObserveUsageRequest,
    ObserveUsageResponse,
    ReadLedgerRequest,
    StartRunRequest,
    StartRunResponse,
)
from ullage.v1.usage_pb2 import ModelUsage, TurnReport

TURNS = 300


class Mother(NamedTuple):
    """A run of 300 turns: what was sent and answered of each, and how she stood at the end of each."""

    run_id: str
    reports: dict[int, TurnReport]
    exchanges: dict[int, Exchange]
    heard: dict[int, list[bytes]]
    stood: dict[int, Run]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture
def wire(server: Server) -> Iterator[Wire]:
    with grpc.insecure_channel(server.target, ANY_SIZE) as channel:
        yield Wire(channel)


def observe(wire: Wire, run_id: str, report: TurnReport) -> ObserveUsageResponse:
    return wire.ask("ObserveUsage", ObserveUsageRequest(run_id=run_id, report=report), ObserveUsageResponse)


def compact(wire: Wire, run_id: str, turn: int, exchange: Exchange) -> CompactExchangeResponse:
    request = CompactExchangeRequest(run_id=run_id, turn=turn, exchange=exchange)
    return wire.ask("CompactExchange", request, CompactExchangeResponse)


def get(wire: Wire, run_id: str) -> Run:
    return wire.ask("GetRun", GetRunRequest(run_id=run_id), GetRunResponse).run


def ledger(wire: Wire, run_id: str) -> list[bytes]:
    return [answer.payload for answer in wire.stream("ReadLedger", [ReadLedgerRequest(run_id=run_id)])]


def fork(wire: Wire, parent: str, through: int, **plan: int) -> Run:
    request = ForkRunRequest(parent_run_id=parent, through_turn=through, run_id=new_run_id(), plan=RunPlan(**plan))
    return wire.ask("ForkRun", request, ForkRunResponse).run


def mother(wire: Wire) -> Mother:
    """Her window fills, is reset and fills again; calls report nothing, or another window; most are compacted."""
    chance = random.Random(5)
    run_id = new_run_id()
    plan = RunPlan(context_tokens=10_000, context_rearm=REARM_PER_WINDOW, exchange_budget_bytes=300)
    start = wire.ask("StartRun", StartRunRequest(run_id=run_id, plan=plan), StartRunResponse)
    she = Mother(run_id, {}, {}, {}, {0: start.run})
    used = 0
    for turn in range(1, TURNS + 1):
        used += chance.randrange(300)
        report = she.reports[turn] = TurnReport(turn=turn)
        if used > 9000:
            used, report.window_reset = 500, True
        if chance.random() < 0.9:
            report.usage.CopyFrom(ModelUsage(input_tokens=used + 1, output_tokens=10))
        if chance.random() < 0.03:
            report.context_tokens = chance.choice([8000, 12_000])
        she.exchanges[turn] = Exchange(
            assistant=[text(f"Turn {turn}."), use("a")], results=[result("a", "The sea was calm. " * (turn % 40))]
        )
        # A harness may observe before it compacts, and after.
        heard = she.heard[turn] = []
        if turn % 2:
            heard.append(observe(wire, run_id, report).SerializeToString())
        if turn % 3:
            heard.append(compact(wire, run_id, turn, she.exchanges[turn]).SerializeToString())
        if not turn % 2:
            heard.append(observe(wire, run_id, report).SerializeToString())
        she.stood[turn] = get(wire, run_id)
    return she


def test_a_branch_at_every_turn_has_her_gauge_and_she_stays_as_she_is(server: Server, wire: Wire) -> None:
    she = mother(wire)
    assert len({(stood.sounded, stood.window_epoch) for stood in she.stood.values()}) > 6
    before = get(wire, she.run_id), ledger(wire, she.run_id)
    branches = {through: fork(wire, she.run_id, through) for through in range(TURNS + 1)}
    for through, begun in branches.items():
        assert begun == as_at(she.stood[through], begun, she.run_id, through), f"through turn {through}"
        if through == TURNS:
            continue
        # It goes on as she did: nothing sounds again, and nothing is lost.
        said = observe(wire, begun.run_id, she.reports[through + 1])
        heard = she.heard[through + 1]
        hers = ObserveUsageResponse.FromString(heard[0] if (through + 1) % 2 else heard[-1])
        assert said == hers, f"after turn {through}"
    assert (get(wire, she.run_id), ledger(wire, she.run_id)) == before
    check_answers(wire, she)
    below_the_origin(wire, she, branches)
    finished(wire, she)
    gone(server, she, branches)


def as_at(stood: Run, begun: Run, parent: str, through: int) -> Run:
    """How a branch stands that left her as she stood then: her gauge and figures, under an id of its own."""
    wanted = Run()
    wanted.CopyFrom(stood)
    wanted.run_id = begun.run_id
    wanted.origin.run_id, wanted.origin.through_turn = parent, through
    wanted.revision, wanted.last_turn = 1, through
    for field in ("start_time", "update_time"):
        getattr(wanted, field).CopyFrom(getattr(begun, field))
    assert begun.plan.session_id == stood.plan.session_id
    return wanted


def check_answers(wire: Wire, she: Mother) -> None:
    """Asked for all of her turns again, she answers as she did, byte for byte, but that it is a replay."""
    for turn, heard in she.heard.items():
        said = observe(wire, she.run_id, she.reports[turn])
        cut = compact(wire, she.run_id, turn, she.exchanges[turn]) if turn % 3 else None
        assert said.replayed
        said.replayed = False
        again = [said.SerializeToString()]
        if cut is not None:
            assert cut.replayed
            cut.replayed = False
            again.insert(1 if turn % 2 else 0, cut.SerializeToString())
        assert again == heard, f"turn {turn}"


def below_the_origin(wire: Wire, she: Mother, branches: dict[int, Run]) -> None:
    """A fork below a branch's own origin goes up its line: to her, over branches of branches."""
    grandchild = fork(wire, branches[200].run_id, 200)
    great = fork(wire, grandchild.run_id, 200)
    for parent in (branches[200].run_id, grandchild.run_id, great.run_id):
        for through in (0, 1, 30, 99, 150, 199, 200):
            begun = fork(wire, parent, through)
            assert begun == as_at(she.stood[through], begun, parent, through), f"{parent} through {through}"
            # And up again from a branch that itself began below its mother's origin.
            if through > 20:
                again = fork(wire, begun.run_id, 20)
                assert again == as_at(she.stood[20], again, begun.run_id, 20)
    for parent in (branches[200].run_id, grandchild.run_id):
        request = ForkRunRequest(parent_run_id=parent, through_turn=290, run_id=new_run_id())
        assert wire.send("ForkRun", request).reason == "FORK_PAST_END"


def finished(wire: Wire, she: Mother) -> None:
    """Her end is none of her branches'."""
    wire.ask("FinishRun", FinishRunRequest(run_id=she.run_id, outcome="done"), FinishRunResponse)
    before = get(wire, she.run_id), ledger(wire, she.run_id)
    for through in (0, 7, 150, TURNS):
        begun = fork(wire, she.run_id, through)
        assert begun == as_at(she.stood[through], begun, she.run_id, through)
        assert begun.state == RUN_STATE_ACTIVE
    assert (get(wire, she.run_id), ledger(wire, she.run_id)) == before
    check_answers(wire, she)


def gone(server: Server, she: Mother, branches: dict[int, Run]) -> None:
    """With her ledger gone a branch stands as it stood, and is forked down to where it began, not below."""
    with grpc.insecure_channel(server.target, ANY_SIZE) as channel:
        stood = get(Wire(channel), branches[200].run_id)
        grandchild = fork(Wire(channel), branches[200].run_id, 201)
    assert server.end() == 0
    with closing(sqlite3.connect(server.data / "ullage.db")) as db, db:
        for table in ("ledger", "runs"):
            db.execute(f"DELETE FROM {table} WHERE run_id = ?", (she.run_id,))  # the table is ours
    server.start()
    with grpc.insecure_channel(server.target, ANY_SIZE) as channel:
        wire = Wire(channel)
        assert get(wire, branches[200].run_id) == stood
        begun = fork(wire, branches[200].run_id, 200)
        assert begun == as_at(she.stood[200], begun, branches[200].run_id, 200)
        for parent, through in ((branches[200].run_id, 199), (grandchild.run_id, 0), (begun.run_id, 3)):
            request = ForkRunRequest(parent_run_id=parent, through_turn=through, run_id=new_run_id())
            answer = wire.send("ForkRun", request)
            assert (answer.reason, list(answer.violations)) == ("FORK_BEFORE_ORIGIN", ["through_turn"])
            assert "turn 200 is the earliest" in answer.message
            assert faults_of(answer) == []
        request = ForkRunRequest(parent_run_id=she.run_id, through_turn=1, run_id=new_run_id())
        assert wire.send("ForkRun", request).reason == "RUN_NOT_FOUND"
