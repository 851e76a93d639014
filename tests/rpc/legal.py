"""What was taken is what was sent: the answers to good requests, held against them."""

from google.protobuf.message import Message

from tests.rpc.calls import Wire
from tests.rpc.exchanges import digest, exchange_not_as_sent
from ullage.v1 import building_pb2, building_service_pb2, plan_pb2, run_pb2, run_service_pb2

#: What the server gives, whatever a request says there.
_OUTPUTS = {"exchange_rules"}


def wrong_in(rpc: str, request: bytes, payload: bytes, wire: Wire) -> list[str]:
    """What in the answer `payload`, or when it is read back, is not as the request asked; empty: nothing."""
    if rpc == "StartRun":
        started = run_service_pb2.StartRunRequest.FromString(request)
        run = run_service_pb2.StartRunResponse.FromString(payload).run
        return [*_plan_not_as_stated(started.plan, run.plan), *_run_not_as_answered(run, wire)]
    if rpc == "ObserveUsage":
        observed = run_service_pb2.ObserveUsageRequest.FromString(request)
        run = _read(observed.run_id, wire)
        turns = (run.last_turn, run.revision)
        return [] if turns == (observed.report.turn, 2) else [f"after turn {observed.report.turn}: {turns}"]
    if rpc == "PrepareCall":
        prepared = run_service_pb2.PrepareCallRequest.FromString(request)
        insertions = run_service_pb2.PrepareCallResponse.FromString(payload).insertions
        ids = [one.id for one in insertions]
        told = [] if len(set(ids)) == len(ids) and f"{prepared.turn}/time" in ids else [f"given {ids}"]
        return told if _read(prepared.run_id, wire).insertions_given == len(ids) else [*told, "miscounted"]
    if rpc == "FinishRun":
        finished = run_service_pb2.FinishRunRequest.FromString(request)
        run = run_service_pb2.FinishRunResponse.FromString(payload).run
        told = [] if run.outcome == finished.outcome else [f"outcome {run.outcome!r}"]
        return [*told, *_run_not_as_answered(run, wire)]
    if rpc == "ConfigureBuilding":
        configured = building_service_pb2.ConfigureBuildingRequest.FromString(request)
        building = building_service_pb2.ConfigureBuildingResponse.FromString(payload).building
        return _building_not_as_commanded(configured, building, wire)
    if rpc == "ForkRun":
        forked = run_service_pb2.ForkRunRequest.FromString(request)
        run = run_service_pb2.ForkRunResponse.FromString(payload).run
        begun = (run.origin.run_id, run.origin.through_turn, run.last_turn, run.revision)
        told = [] if begun == (forked.parent_run_id, forked.through_turn, forked.through_turn, 1) else [str(begun)]
        return [*told, *_plan_not_as_stated(forked.plan, run.plan), *_run_not_as_answered(run, wire)]
    if rpc == "CompactExchange":
        compacted = run_service_pb2.CompactExchangeRequest.FromString(request)
        answer = run_service_pb2.CompactExchangeResponse.FromString(payload)
        run = _read(compacted.run_id, wire)
        turns = (run.last_turn, run.revision)
        told = [] if turns == (compacted.turn, 2) else [f"after turn {compacted.turn}: {turns}"]
        return [*told, *exchange_not_as_sent(compacted, answer)]
    if rpc == "ReadLedger":
        asked = run_service_pb2.ReadLedgerRequest.FromString(request)
        record = run_service_pb2.ReadLedgerResponse.FromString(payload).record
        wanted = 1 if asked.from_position <= 1 else 0
        return [] if record.position == wanted else [f"position {record.position}, wanted {wanted}"]
    if rpc == "ReplayExchanges" and payload:
        replayed = run_service_pb2.ReplayExchangesResponse.FromString(payload).exchange
        return [] if replayed.digest in (b"", digest(replayed.exchange)) else ["the digest is another exchange's"]
    return []


def _plan_not_as_stated(stated: plan_pb2.RunPlan, frozen: plan_pb2.RunPlan) -> list[str]:
    return [
        f"{field.name}: {getattr(frozen, field.name)!r:.200} frozen, {value!r:.200} stated"
        for field, value in stated.ListFields()
        if field.name not in _OUTPUTS and getattr(frozen, field.name) != value
    ]


def _read(run_id: str, wire: Wire) -> run_pb2.Run:
    return wire.ask("GetRun", run_service_pb2.GetRunRequest(run_id=run_id), run_service_pb2.GetRunResponse).run


def _run_not_as_answered(answered: run_pb2.Run, wire: Wire) -> list[str]:
    return _differing(_read(answered.run_id, wire), answered)


def _building_not_as_commanded(
    request: building_service_pb2.ConfigureBuildingRequest, building: building_pb2.Building, wire: Wire
) -> list[str]:
    command = request.command
    stated = {settled.key: settled.value for settled in building.stated}
    wanted = {f"models.{name}": str(window) for name, window in command.models.items()}
    wanted |= {
        key: str(getattr(command, field))
        for key, field in _KEYS.items()
        if command.HasField(field)  # type: ignore[arg-type]
    }
    if command.HasField("context_rearm"):
        wanted["context.rearm"] = plan_pb2.Rearm.Name(command.context_rearm).removeprefix("REARM_").lower()
    if command.HasField("notices_include_subagents"):
        wanted["notices.include_subagents"] = str(command.notices_include_subagents).lower()
    wrong = [f"{key}: {stated.get(key)!r} stated" for key, value in wanted.items() if stated.get(key) != value]
    read = wire.send("GetBuilding", building_service_pb2.GetBuildingRequest(address=command.address))
    if request.validate_only:
        return wrong if read.reason == "BUILDING_NOT_FOUND" else [*wrong, "a dry run made a rung"]
    now = building_service_pb2.GetBuildingResponse.FromString(read.payload).building
    return [*wrong, *_differing(now, building)]


_KEYS = {
    "context.second_threshold": "context_second_threshold",
    "context.finishing_act": "context_finishing_act",
    "exchange.budget_bytes": "exchange_budget_bytes",
    "notices.every_steps": "notices_every_steps",
    "reminders.budget_chars": "reminders_budget_chars",
    "clock.zone": "clock_zone",
}


def _differing(read: Message, answered: Message) -> list[str]:
    names = [field.name for field in answered.DESCRIPTOR.fields]
    wrong = [name for name in names if getattr(read, name) != getattr(answered, name)]
    return [
        f"{name}: read back as {getattr(read, name)!r:.100}, answered {getattr(answered, name)!r:.100}"
        for name in wrong
    ]
