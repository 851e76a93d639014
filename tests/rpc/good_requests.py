"""Good requests of every RPC that is built: each as a server takes it, whole, and never the same twice."""

import uuid
from collections.abc import Callable

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from tests.rpc.calls import Wire
from ullage.v1 import building_pb2, building_service_pb2, plan_pb2, run_service_pb2, usage_pb2

#: Makes a good request, and first what it needs to be there.
Make = Callable[[Wire], Message]


def fresh() -> str:
    """A name that nobody has, fit for a run and for a building."""
    return f"n{uuid.uuid4().hex}"


def started(wire: Wire) -> str:
    """A run with a window of 1000 tokens that has just begun."""
    request = run_service_pb2.StartRunRequest(run_id=fresh(), plan=plan_pb2.RunPlan(context_tokens=1000))
    return wire.ask("StartRun", request, run_service_pb2.StartRunResponse).run.run_id


def _start_run(wire: Wire) -> Message:
    plan = plan_pb2.RunPlan(context_tokens=1000, labels={"team": "blue"}, time_budget=Duration(seconds=60))
    return run_service_pb2.StartRunRequest(run_id=fresh(), plan=plan)


def _observe_numbers(wire: Wire) -> Message:
    usage = usage_pb2.ModelUsage(input_tokens=100, output_tokens=10)
    return run_service_pb2.ObserveUsageRequest(
        run_id=started(wire), report=usage_pb2.TurnReport(turn=1, usage=usage)
    )


def _observe_object(wire: Wire) -> Message:
    usage = usage_pb2.ProviderUsage(json='{"prompt_tokens": 100, "completion_tokens": 10}')
    return run_service_pb2.ObserveUsageRequest(
        run_id=started(wire), report=usage_pb2.TurnReport(turn=1, provider_usage=usage)
    )


def _finish_run(wire: Wire) -> Message:
    return run_service_pb2.FinishRunRequest(run_id=started(wire), outcome="done")


def _get_run(wire: Wire) -> Message:
    return run_service_pb2.GetRunRequest(run_id=started(wire))


def _list_runs(wire: Wire) -> Message:
    return run_service_pb2.ListRunsRequest(address="lab", labels={"team": "blue"}, page_size=10)


def _configure_building(wire: Wire) -> Message:
    command = building_pb2.ConfigureBuilding(address=fresh(), context_second_threshold=50, models={"m": 1000})
    return building_service_pb2.ConfigureBuildingRequest(command=command, request_id=fresh())


def _get_building(wire: Wire) -> Message:
    configure = _configure_building(wire)
    built = wire.ask("ConfigureBuilding", configure, building_service_pb2.ConfigureBuildingResponse).building
    return building_service_pb2.GetBuildingRequest(address=built.address)


def _list_buildings(wire: Wire) -> Message:
    return building_service_pb2.ListBuildingsRequest(page_size=10)


#: RPCs that are built and whose fields are not yet tried one by one.
UNTRIED = {"CompactExchange", "ForkRun", "PrepareCall", "ReadLedger", "ReplayExchanges"}

#: By RPC; several where no one request holds every message that its fields stand in.
GOOD: dict[str, tuple[Make, ...]] = {
    "StartRun": (_start_run,),
    "ObserveUsage": (_observe_numbers, _observe_object),
    "FinishRun": (_finish_run,),
    "GetRun": (_get_run,),
    "ListRuns": (_list_runs,),
    "ConfigureBuilding": (_configure_building,),
    "GetBuilding": (_get_building,),
    "ListBuildings": (_list_buildings,),
}
