"""Every field of every RPC that is built, with nothing, too much, and all that is wrong in it.

Each answer is OK and then the value is legal, or one of the documented errors, whole; what is refused leaves no
trace. The table of what must be refused stands in `refused_values`.
"""

import shutil
from collections.abc import Iterator

import grpc
import pytest
from google.protobuf.message import Message

from tests.rpc.calls import RPCS, Answer, Wire
from tests.rpc.fields import Way, encoded, holder, name_of, ways, with_field
from tests.rpc.good_requests import ENCLOSES, GOOD, MISPLACED
from tests.rpc.hostile import TEXTS, hostile
from tests.rpc.legal import wrong_in
from tests.rpc.recorded import Recorded, Records
from tests.rpc.refusals import faults_of
from tests.rpc.refused_values import ROWS, Row, in_every_text
from tests.servers import Server, running_server

_BELOW_MISPLACED = tuple(f"{name}." for name in MISPLACED)
WAYS = {
    rpc: tuple(way for way in ways(method.input_type) if not name_of(way).startswith(_BELOW_MISPLACED))
    for rpc, method in RPCS.items()
}
CASES = [pytest.param(rpc, rpc, way, id=f"{rpc}-{name_of(way)}") for rpc in GOOD for way in WAYS[rpc]]
READS = {"GetRun", "ListRuns", "ReadLedger", "WatchRuns", "ReplayExchanges", "GetBuilding", "ListBuildings"}
WRITES_ONE = {"StartRun", "PrepareCall", "ObserveUsage", "CompactExchange", "FinishRun", "ForkRun"}


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server for the tests of one RPC: what one of them is granted another must not find."""
    with running_server() as server:
        yield server


@pytest.mark.parametrize(("server", "rpc", "way"), CASES, indirect=["server"], scope="module")
def test_each_value_of_a_field_is_legal_or_refused_as_the_table_says(
    rpc: str, way: Way, server: Server, wire: Wire, records: Records
) -> None:
    row = ROWS[rpc].get(name_of(way), Row({}))
    wrong = []
    for name in hostile(way[-1], b"", row.more):
        good, there = good_request(rpc, way, wire)
        request = with_field(good, way, hostile(way[-1], there, row.more)[name])
        before = records.now()
        answer = wire.send(rpc, request)
        faults = faults_in(rpc, way, name, row, answer, before, records.now())
        if answer.code is grpc.StatusCode.OK:
            faults += wrong_in(rpc, request, answer.payload, wire)
        wrong += [f"{name}: {fault}" for fault in faults]
        # As if an operator had taken the documents away: no case finds those of another.
        shutil.rmtree(server.data / "city", ignore_errors=True)
    assert not wrong, "\n".join(["", *wrong])


def good_request(rpc: str, way: Way, wire: Wire) -> tuple[Message, bytes]:
    """A good request to put something into that field of, and what it has there itself."""
    best: tuple[Message, bytes] | None = None
    for make in GOOD[rpc]:
        request = make(wire)
        message = holder(way, request)
        if message is not None:
            best = request, encoded(message, way[-1])
            if best[1]:
                break
    assert best is not None, f"no good request of {rpc} holds {name_of(way[:-1])}"
    return best


def faults_in(
    rpc: str, way: Way, value: str, row: Row, answer: Answer, before: Recorded, after: Recorded
) -> list[str]:
    """What in an answer, or in what was recorded, is not as the table has it; empty where nothing is."""
    refused_everywhere = in_every_text(rpc) if way[-1].type == way[-1].TYPE_STRING else {}
    due = refused_everywhere.get(value, row.refused.get(value, "OK"))
    faults = [] if answer.reason == due else [f"{answer.reason} instead of {due}: {answer.message}"]
    if answer.code is grpc.StatusCode.OK:
        added = after.rows["ledger"] - before.rows["ledger"]
        if rpc in READS and after != before:
            faults.append("a read has recorded something")
        if rpc in WRITES_ONE and added != 1:
            faults.append(f"{added} records instead of one")
        return faults
    if after != before:
        faults.append("something was recorded")
    fields = set() if value in refused_everywhere else set((row.fields or name_of(way)).split())
    if not answer.violations.keys() <= fields:
        faults.append(f"blamed: {', '.join(answer.violations)}; at fault: {', '.join(sorted(fields))}")
    # What an error must name is what the caller sent; a caller's own `/etc/passwd` tells nothing of the server.
    named = TEXTS.get(value, "") if due == "WAVE_INCOMPLETE" else ""
    return faults + faults_of(answer, named)


@pytest.mark.parametrize("server", ["all"], indirect=True)
def test_every_rpc_that_is_built_has_good_requests_that_are_taken(wire: Wire) -> None:
    built = {rpc for rpc in RPCS if wire.send(rpc, b"").reason != "UNSUPPORTED"}
    assert built == GOOD.keys() | ENCLOSES
    for rpc, makes in GOOD.items():
        assert [wire.send(rpc, make(wire)).code for make in makes] == [grpc.StatusCode.OK] * len(makes)


@pytest.mark.parametrize("rpc", GOOD)
def test_every_field_has_its_row_and_every_row_its_values(rpc: str) -> None:
    assert set(ROWS[rpc]) == {name_of(way) for way in WAYS[rpc]}
    for way in WAYS[rpc]:
        row = ROWS[rpc][name_of(way)]
        assert row.refused.keys() <= hostile(way[-1], b"", row.more).keys(), name_of(way)
