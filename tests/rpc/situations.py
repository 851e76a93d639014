"""Requests that tests make in many ways, and what must have happened before some of them."""

from typing import Any

from tests.rpc.calls import Wire
from tests.rpc.good_requests import fresh, started
from ullage.v1 import building_pb2, building_service_pb2, plan_pb2, run_service_pb2, usage_pb2
from ullage.v1.exchange_pb2 import Block, Exchange, Text


def starting(run_id: str = "", **plan: Any) -> run_service_pb2.StartRunRequest:
    """A start that states `plan`, under a new id where none is given."""
    return run_service_pb2.StartRunRequest(run_id=run_id or fresh(), plan=plan_pb2.RunPlan(**plan))


def observing(run_id: str, turn: int = 1, **report: Any) -> run_service_pb2.ObserveUsageRequest:
    """A report of a turn."""
    return run_service_pb2.ObserveUsageRequest(run_id=run_id, report=usage_pb2.TurnReport(turn=turn, **report))


def compacting(run_id: str, turn: int, words: str) -> run_service_pb2.CompactExchangeRequest:
    """An exchange of one short text."""
    return run_service_pb2.CompactExchangeRequest(
        run_id=run_id, turn=turn, exchange=Exchange(assistant=[Block(text=Text(text=words))])
    )


def forking(
    parent_run_id: str, through_turn: int, run_id: str = "", **plan: Any
) -> run_service_pb2.ForkRunRequest:
    """A fork that states `plan`, under a new id where none is given."""
    return run_service_pb2.ForkRunRequest(
        parent_run_id=parent_run_id,
        through_turn=through_turn,
        run_id=run_id or fresh(),
        plan=plan_pb2.RunPlan(**plan),
    )


def counted(**counts: Any) -> usage_pb2.ModelUsage:
    return usage_pb2.ModelUsage(**counts)


def commanding(
    request_id: str = "", etag: str = "", validate_only: bool = False, **command: Any
) -> building_service_pb2.ConfigureBuildingRequest:
    """A command, to a new building where no address is given."""
    return building_service_pb2.ConfigureBuildingRequest(
        command=building_pb2.ConfigureBuilding(**{"address": fresh(), **command}),
        request_id=request_id,
        etag=etag,
        validate_only=validate_only,
    )


def observed(wire: Wire, *turns: int) -> str:
    """A run whose turns have each been reported with 100 tokens."""
    run_id = started(wire)
    for turn in turns:
        request = observing(run_id, turn, usage=counted(input_tokens=100))
        wire.ask("ObserveUsage", request, run_service_pb2.ObserveUsageResponse)
    return run_id


def finished(wire: Wire) -> str:
    """A run that has ended with the outcome `done`."""
    run_id = started(wire)
    request = run_service_pb2.FinishRunRequest(run_id=run_id, outcome="done")
    wire.ask("FinishRun", request, run_service_pb2.FinishRunResponse)
    return run_id


def compacted(wire: Wire, *turns: int) -> str:
    """A run of whose turns each has been compacted with the text `Hi.`."""
    run_id = started(wire)
    for turn in turns:
        wire.ask("CompactExchange", compacting(run_id, turn, "Hi."), run_service_pb2.CompactExchangeResponse)
    return run_id


def forked(wire: Wire) -> str:
    """A branch of another run, that begins behind its first turn."""
    return wire.ask("ForkRun", forking(observed(wire, 1), 1), run_service_pb2.ForkRunResponse).run.run_id


def labelled(wire: Wire, count: int) -> str:
    """A run with that many labels."""
    request = starting(labels={f"a{number}": "" for number in range(count)})
    return wire.ask("StartRun", request, run_service_pb2.StartRunResponse).run.run_id


def commanded(wire: Wire) -> str:
    """The id of a command that has been carried out."""
    request_id = fresh()
    wire.ask("ConfigureBuilding", commanding(request_id), building_service_pb2.ConfigureBuildingResponse)
    return request_id


def page_of_runs(wire: Wire, **filters: Any) -> str:
    """The token of a second page of runs under those filters."""
    for _ in range(2):
        wire.ask("StartRun", starting(address="lab"), run_service_pb2.StartRunResponse)
    request = run_service_pb2.ListRunsRequest(page_size=1, **filters)
    return wire.ask("ListRuns", request, run_service_pb2.ListRunsResponse).next_page_token
