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
    counted,
    finished,
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
