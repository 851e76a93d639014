"""Requests whose fields are each legal and together are not: refused, the field named, and nothing recorded."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from tests.rpc.calls import Wire
from tests.rpc.good_requests import started
from tests.rpc.recorded import Records
from tests.rpc.refusals import faults_of
from tests.rpc.situations import (
    commanded,
    commanding,
    compacted,
    compacting,
    counted,
    finished,
    forked,
    forking,
    labelled,
    observed,
    observing,
    page_of_runs,
    starting,
)
from ullage.v1 import building_service_pb2, run_pb2, run_service_pb2, usage_pb2

MOST = 2**53 - 1


class Contradiction(NamedTuple):
    """The RPC, the request (made when what it needs is there), and what it is refused with."""

    rpc: str
    request: Callable[[Wire], Message]
    reason: str
    field: str


CONTRADICTIONS = {
    "two usages": Contradiction(
        "ObserveUsage",
        lambda wire: observing(
            started(wire),
            usage=counted(input_tokens=1),
            provider_usage=usage_pb2.ProviderUsage(json='{"prompt_tokens": 1}'),
        ),
        "ARGUMENT_INVALID",
        "report.provider_usage",
    ),
    "two usages, the second no usage": Contradiction(
        "ObserveUsage",
        lambda wire: observing(
            started(wire), usage=counted(), provider_usage=usage_pb2.ProviderUsage(json="null")
        ),
        "ARGUMENT_INVALID",
        "report.provider_usage",
    ),
    "parts whose sum is beyond all counts": Contradiction(
        "ObserveUsage",
        lambda wire: observing(
            started(wire), usage=counted(input_tokens=1, cache_read_input_tokens=MOST, cache_accounting=2)
        ),
        "ARGUMENT_INVALID",
        "report.usage.input_tokens",
    ),
    "a prompt and an output beyond all counts": Contradiction(
        "ObserveUsage",
        lambda wire: observing(started(wire), usage=counted(input_tokens=MOST, output_tokens=1)),
        "ARGUMENT_INVALID",
        "report.usage.output_tokens",
    ),
    "another report of a turn": Contradiction(
        "ObserveUsage",
        lambda wire: observing(observed(wire, 1), 1, usage=counted(input_tokens=101)),
        "TURN_ALREADY_RECORDED",
        "report.turn",
    ),
    "a report of a turn that was left out": Contradiction(
        "ObserveUsage",
        lambda wire: observing(observed(wire, 1, 3), 2, usage=counted(input_tokens=100)),
        "TURN_OUT_OF_ORDER",
        "report.turn",
    ),
    "a turn of a finished run": Contradiction(
        "ObserveUsage", lambda wire: observing(finished(wire)), "RUN_FINISHED", ""
    ),
    "another end": Contradiction(
        "FinishRun",
        lambda wire: run_service_pb2.FinishRunRequest(run_id=finished(wire), outcome="undone"),
        "RUN_FINISHED",
        "",
    ),
    "another start under a run's id": Contradiction(
        "StartRun",
        lambda wire: starting(started(wire), context_tokens=1001),
        "RUN_ALREADY_EXISTS",
        "run_id",
    ),
    "a start with nothing stated under a run's id": Contradiction(
        "StartRun",
        lambda wire: run_service_pb2.StartRunRequest(run_id=started(wire)),
        "RUN_ALREADY_EXISTS",
        "run_id",
    ),
    "seconds and nanos of two signs": Contradiction(
        "StartRun",
        lambda wire: starting(time_budget=Duration(seconds=1, nanos=-1)),
        "ARGUMENT_INVALID",
        "plan.time_budget",
    ),
    "a budget below 0": Contradiction(
        "StartRun",
        lambda wire: starting(time_budget=Duration(nanos=-1)),
        "ARGUMENT_INVALID",
        "plan.time_budget",
    ),
    "another exchange of a turn": Contradiction(
        "CompactExchange",
        lambda wire: compacting(compacted(wire, 1), 1, "Ho."),
        "EXCHANGE_ALREADY_COMPACTED",
        "exchange",
    ),
    "an exchange of a turn that was left out": Contradiction(
        "CompactExchange",
        lambda wire: compacting(compacted(wire, 1, 3), 2, "Hi."),
        "TURN_OUT_OF_ORDER",
        "turn",
    ),
    "an exchange of a finished run": Contradiction(
        "CompactExchange", lambda wire: compacting(finished(wire), 1, "Hi."), "RUN_FINISHED", ""
    ),
    "an exchange of a turn that a branch inherits": Contradiction(
        "CompactExchange", lambda wire: compacting(forked(wire), 1, "Hi."), "TURN_OUT_OF_ORDER", "turn"
    ),
    "a report of a turn that a branch inherits": Contradiction(
        "ObserveUsage",
        lambda wire: observing(forked(wire), 1, usage=counted(input_tokens=100)),
        "TURN_OUT_OF_ORDER",
        "report.turn",
    ),
    "a fork past the end": Contradiction(
        "ForkRun", lambda wire: forking(observed(wire, 1, 2), 3), "FORK_PAST_END", "through_turn"
    ),
    "a fork that states its mother's own exchange budget": Contradiction(
        "ForkRun",
        lambda wire: forking(started(wire), 0, exchange_budget_bytes=32768),
        "ARGUMENT_INVALID",
        "plan.exchange_budget_bytes",
    ),
    "a fork with more labels than a run has": Contradiction(
        "ForkRun",
        lambda wire: forking(labelled(wire, 10), 0, labels={f"b{n}": "" for n in range(7)}),
        "ARGUMENT_INVALID",
        "plan.labels",
    ),
    "a fork under a run's id": Contradiction(
        "ForkRun",
        lambda wire: forking(started(wire), 0, run_id=started(wire)),
        "RUN_ALREADY_EXISTS",
        "run_id",
    ),
    "a fork under its mother's id": Contradiction(
        "ForkRun",
        lambda wire: forking(mother := started(wire), 0, run_id=mother),
        "RUN_ALREADY_EXISTS",
        "run_id",
    ),
    "another fork under a branch's id": Contradiction(
        "ForkRun",
        lambda wire: forking(observed(wire, 1), 1, run_id=forked(wire)),
        "RUN_ALREADY_EXISTS",
        "run_id",
    ),
    "a start under a branch's id": Contradiction(
        "StartRun", lambda wire: starting(forked(wire)), "RUN_ALREADY_EXISTS", "run_id"
    ),
    "a key stated and reset": Contradiction(
        "ConfigureBuilding",
        lambda wire: commanding(context_second_threshold=50, reset=["context.second_threshold"]),
        "ARGUMENT_INVALID",
        "command.reset",
    ),
    "a model stated and reset": Contradiction(
        "ConfigureBuilding",
        lambda wire: commanding(models={"a.b": 1, "c": 1}, reset=["models.a.b"]),
        "ARGUMENT_INVALID",
        "command.reset",
    ),
    "a model stated and the table reset": Contradiction(
        "ConfigureBuilding",
        lambda wire: commanding(models={"a": 1}, reset=["models"]),
        "ARGUMENT_INVALID",
        "command.reset",
    ),
    "a dry run of a key stated and reset": Contradiction(
        "ConfigureBuilding",
        lambda wire: commanding(validate_only=True, clock_zone="UTC", reset=["clock.zone"]),
        "ARGUMENT_INVALID",
        "command.reset",
    ),
    "an id used for another command": Contradiction(
        "ConfigureBuilding",
        lambda wire: commanding(commanded(wire), notices_every_steps=3),
        "REQUEST_ID_REUSED",
        "request_id",
    ),
    "an id used for another command, in a dry run": Contradiction(
        "ConfigureBuilding",
        lambda wire: commanding(commanded(wire), validate_only=True, notices_every_steps=3),
        "REQUEST_ID_REUSED",
        "request_id",
    ),
    "an etag of nothing": Contradiction(
        "ConfigureBuilding", lambda wire: commanding(etag="x"), "CONFIG_CHANGED", "etag"
    ),
    "a dry run with an etag of nothing": Contradiction(
        "ConfigureBuilding", lambda wire: commanding(etag="x", validate_only=True), "CONFIG_CHANGED", "etag"
    ),
    "another address's page": Contradiction(
        "ListRuns",
        lambda wire: run_service_pb2.ListRunsRequest(
            address="lab/ada", page_token=page_of_runs(wire, address="lab")
        ),
        "ARGUMENT_INVALID",
        "page_token",
    ),
    "another state's page": Contradiction(
        "ListRuns",
        lambda wire: run_service_pb2.ListRunsRequest(
            state=run_pb2.RUN_STATE_ACTIVE, page_token=page_of_runs(wire)
        ),
        "ARGUMENT_INVALID",
        "page_token",
    ),
    "a page of runs among buildings": Contradiction(
        "ListBuildings",
        lambda wire: building_service_pb2.ListBuildingsRequest(page_token=page_of_runs(wire)),
        "ARGUMENT_INVALID",
        "page_token",
    ),
}


@pytest.mark.parametrize("case", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_what_contradicts_itself_or_the_record_is_refused(
    case: Contradiction, wire: Wire, records: Records
) -> None:
    request = case.request(wire)
    before = records.now()
    answer = wire.send(case.rpc, request)
    assert answer.reason == case.reason, answer.message
    assert list(answer.violations) == ([case.field] if case.field else [])
    assert faults_of(answer) == []
    assert records.now() == before
