"""Good requests of every RPC that is built: each as a server takes it, whole, and never the same twice."""

import uuid
from collections.abc import Callable, Sequence

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from tests.rpc.calls import Wire
from ullage.v1 import building_pb2, building_service_pb2, insertion_pb2, plan_pb2, run_service_pb2, usage_pb2
from ullage.v1.exchange_pb2 import (
    Attachment,
    Block,
    Exchange,
    Opaque,
    Part,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)

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


def _compact(assistant: list[Block], results: Sequence[Block] = (), edits_only: bool = False) -> Make:
    """One exchange of a run that has just begun, and whose budget it exceeds."""

    def make(wire: Wire) -> Message:
        plan = plan_pb2.RunPlan(exchange_budget_bytes=100)
        start = run_service_pb2.StartRunRequest(run_id=fresh(), plan=plan)
        run = wire.ask("StartRun", start, run_service_pb2.StartRunResponse).run
        exchange = Exchange(assistant=assistant, results=results)
        return run_service_pb2.CompactExchangeRequest(
            run_id=run.run_id, turn=1, exchange=exchange, edits_only=edits_only
        )

    return make


_WORDS = "The sea was calm, and nobody spoke of the weather. " * 4
_SAID = Block(text=Text(text=_WORDS))
_PICTURE = Attachment(media_type="image/png", reference="a.png", data=b"png")
_CALL = Block(tool_use=ToolUse(id="call", name="read", input_json='{"path": "a.txt"}'))


def _result(*parts: Part) -> Block:
    return Block(tool_result=ToolResult(tool_use_id="call", is_error=True, parts=parts))


_READ = _result(Part(text=_WORDS))
_SEEN = _result(Part(attachment=_PICTURE))
#: A block of each kind that a reply may hold.
_BLOCKS = (
    _SAID,
    _CALL,
    Block(thinking=Thinking(text="Well.", signature=b"signed")),
    Block(redacted_thinking=RedactedThinking(data=b"hidden")),
    Block(image=_PICTURE),
    Block(opaque=Opaque(type="citation", json='{"at": 1}')),
)


def _prepare(candidate: insertion_pb2.Candidate) -> Make:
    """A call of a run that is near its end, so that something is said in any case."""

    def make(wire: Wire) -> Message:
        plan = plan_pb2.RunPlan(agent="Weaver", context_tokens=1000, time_budget=Duration(seconds=60))
        start = run_service_pb2.StartRunRequest(run_id=fresh(), plan=plan)
        run = wire.ask("StartRun", start, run_service_pb2.StartRunResponse).run
        return run_service_pb2.PrepareCallRequest(
            run_id=run.run_id,
            turn=3,
            step=1,
            tail=insertion_pb2.Tail(role=insertion_pb2.TAIL_ROLE_USER),
            candidates=[candidate],
            time_remaining=Duration(seconds=30, nanos=1),
            session_id_in_context=False,
            unplaced_ids=["2/notice"],
            now=Timestamp(seconds=1_791_523_427, nanos=1),
            model="m",
            context_tokens=2000,
        )

    return make


_EACH = insertion_pb2.Candidate(
    id="each",
    label="each",
    edge=insertion_pb2.EDGE_EVERY_CALL,
    lifetime=insertion_pb2.LIFETIME_TRANSIENT,
    priority=60,
    text="Mind the gate.",
)
_HOUSE = insertion_pb2.Candidate(
    id="house",
    label="house",
    edge=insertion_pb2.EDGE_SESSION_START,
    lifetime=insertion_pb2.LIFETIME_DURABLE,
    text="Shoes off.",
)


def _fork_run(wire: Wire) -> Message:
    observe = _observe_numbers(wire)
    assert isinstance(observe, run_service_pb2.ObserveUsageRequest)
    wire.ask("ObserveUsage", observe, run_service_pb2.ObserveUsageResponse)
    plan = plan_pb2.RunPlan(context_tokens=2000, labels={"team": "blue"}, time_budget=Duration(seconds=60))
    return run_service_pb2.ForkRunRequest(parent_run_id=observe.run_id, through_turn=1, run_id=fresh(), plan=plan)


def _watch_runs(wire: Wire) -> Message:
    return run_service_pb2.WatchRunsRequest(run_id=started(wire))


def _watch_labels(wire: Wire) -> Message:
    return run_service_pb2.WatchRunsRequest(address="lab", labels={"team": "blue"})


def _read_ledger(wire: Wire) -> Message:
    return run_service_pb2.ReadLedgerRequest(run_id=started(wire), from_position=1)


def _replay(**item: Message) -> Make:
    return lambda wire: run_service_pb2.ReplayExchangesRequest(**item)  # type: ignore[arg-type]  # by its kind


def _replay_of_a_run(wire: Wire) -> Message:
    return run_service_pb2.ReplayExchangesRequest(start=run_service_pb2.ReplayStart(run_id=started(wire)))


#: Kinds of block that the wire's types would let stand where they never may: nothing in them is tried.
MISPLACED = {
    "exchange.assistant.tool_result",
    "model_returned.blocks.tool_result",
    *(
        f"{field}.{kind}"
        for field in ("exchange.results", "tool_result")
        for kind in ("text", "thinking", "redacted_thinking", "tool_use", "image", "opaque")
    ),
}

#: Its commands' fields are those of the RPCs that they ask for, and go the same way; its own few are tried in
#: test_converse.py.
ENCLOSES = {"Converse"}

#: By RPC; several where no one request holds every message that its fields stand in.
GOOD: dict[str, tuple[Make, ...]] = {
    "StartRun": (_start_run,),
    "PrepareCall": (_prepare(_EACH), _prepare(_HOUSE)),
    "ObserveUsage": (_observe_numbers, _observe_object),
    "FinishRun": (_finish_run,),
    "GetRun": (_get_run,),
    "ListRuns": (_list_runs,),
    "ConfigureBuilding": (_configure_building,),
    "GetBuilding": (_get_building,),
    "ListBuildings": (_list_buildings,),
    "CompactExchange": (
        _compact([_SAID], edits_only=True),
        _compact([_CALL], [_READ]),
        *(_compact([block]) for block in _BLOCKS if block not in (_SAID, _CALL)),
        _compact([_CALL], [_SEEN]),
    ),
    "ForkRun": (_fork_run,),
    "ReadLedger": (_read_ledger,),
    "WatchRuns": (_watch_runs, _watch_labels),
    "ReplayExchanges": (
        _replay_of_a_run,
        _replay(start=run_service_pb2.ReplayStart(exchange_budget_bytes=100, exchange_rules=1)),
        *(_replay(model_returned=run_service_pb2.ModelReturned(turn=1, blocks=[block])) for block in _BLOCKS),
        *(_replay(tool_result=block) for block in (_READ, _SEEN)),
    ),
}
