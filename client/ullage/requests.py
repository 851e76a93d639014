"""What the caller says, as the wire's requests: pure functions, the same for both clients.

Rule: what the caller does not state is absent, for the ladder to decide. Domains are the server's to judge, in
the one place that knows them; here only words are looked up and units turned into the wire's.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Generic, Literal, NamedTuple, TypedDict, TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from .arguments import made, shown
from .usage import usage_on_the_wire
from .v1 import (
    building_pb2,
    building_service_pb2,
    exchange_pb2,
    insertion_pb2,
    plan_pb2,
    run_pb2,
    run_service_pb2,
    usage_pb2,
)

Rearm = Literal["per_run", "per_window"]
State = Literal["active", "finished"]

_REARMS = {"per_run": plan_pb2.REARM_PER_RUN, "per_window": plan_pb2.REARM_PER_WINDOW}
_STATES = {
    None: run_pb2.RUN_STATE_UNSPECIFIED,
    "active": run_pb2.RUN_STATE_ACTIVE,
    "finished": run_pb2.RUN_STATE_FINISHED,
}

_Number = TypeVar("_Number")
_Request = TypeVar("_Request")
_List = TypeVar("_List", run_service_pb2.ListRunsRequest, building_service_pb2.ListBuildingsRequest)


class StatedPlan(TypedDict, total=False):
    """What a caller may state of a run's plan. What is left out, None or empty is settled by the ladder.

    Attributes:
        address: the rung the run lives on: "" (the city), "building" or "building/resident".
        agent: the agent's name in the session context, `[A-Za-z0-9._:-]{1,128}`; empty turns that off.
        session_id: the session the run belongs to; empty: the run's own id.
        parent_session_id: the session it branched from; empty: it is a root.
        subagent: whether it is a helper's run; notices may be kept from those.
        model: the model's name, at most 256 characters; its window is looked up where context_tokens is 0.
        context_tokens: the window's width in tokens, 0 to 2^53 - 1; 0: look it up by the model.
        second_threshold: the percent at which the handover sounds, 31 to 90 (default 65).
        context_rearm: "per_run" (each threshold sounds once a run, the default) or "per_window" (once again
            after a window reset).
        context_finishing_act: the word by which the agent ends its work (default `succeed`).
        notices_every_steps: steps from one notice to the next, 1 every step, 0 none (default 20).
        notices_include_subagents: whether helpers' runs get notices (default True).
        time_budget: the time the whole run may take, a timedelta or seconds, above 0; None: no budget.
        exchange_budget_bytes: the bytes of text one exchange may hold before it is cut (default 32768).
        reminders_budget_chars: the characters the transient registered reminders of one call may hold
            together (default 8000).
        clock_zone: the IANA time zone of dates told to the agent (default `UTC`).
        labels: your own words for the run, at most 16: keys of 1 to 128 characters, values of at most 1024.

    """

    address: str
    agent: str
    session_id: str
    parent_session_id: str
    subagent: bool
    model: str
    context_tokens: int
    second_threshold: int | None
    context_rearm: Rearm | None
    context_finishing_act: str
    notices_every_steps: int | None
    notices_include_subagents: bool | None
    time_budget: timedelta | float | None
    exchange_budget_bytes: int | None
    reminders_budget_chars: int | None
    clock_zone: str
    labels: Mapping[str, str] | None


class BuildingChanges(TypedDict, total=False):
    """What a command may write to one rung of the ladder. What is left out or None stays as it is.

    Attributes:
        context_second_threshold: the percent at which the handover sounds, 31 to 90.
        context_rearm: "per_run" or "per_window".
        context_finishing_act: the word by which an agent ends its work.
        exchange_budget_bytes: the bytes of text one exchange may hold before it is cut.
        notices_every_steps: steps from one notice to the next; 0: none.
        notices_include_subagents: whether helpers' runs get notices.
        reminders_budget_chars: the characters the transient registered reminders of a call may hold together.
        clock_zone: the IANA time zone of dates told to an agent.
        models: the window's width in tokens by model name; entries not named stay.
        reset: keys to remove from this rung, as `context.second_threshold`, `models` or `models.NAME`.

    """

    context_second_threshold: int | None
    context_rearm: Rearm | None
    context_finishing_act: str | None
    exchange_budget_bytes: int | None
    notices_every_steps: int | None
    notices_include_subagents: bool | None
    reminders_budget_chars: int | None
    clock_zone: str | None
    models: Mapping[str, int] | None
    reset: Sequence[str]


class Asked(NamedTuple, Generic[_Request]):
    """A request, and what it does to what, as an error says it."""

    request: _Request
    action: str
    subject: str


def start_run(run_id: str, plan: StatedPlan) -> Asked[run_service_pb2.StartRunRequest]:
    """The start of a run."""
    request = made(run_service_pb2.StartRunRequest, run_id=run_id, plan=_plan(plan, "start_run"))
    return Asked(request, "starting a run", f"run {run_id}")


def fork_run(
    parent_run_id: str, through_turn: int, run_id: str, plan: StatedPlan
) -> Asked[run_service_pb2.ForkRunRequest]:
    """The start of a branch."""
    request = made(
        run_service_pb2.ForkRunRequest,
        parent_run_id=parent_run_id,
        through_turn=through_turn,
        run_id=run_id,
        plan=_plan(plan, "fork"),
    )
    return Asked(request, "forking a run", f"run {parent_run_id}, turn {through_turn}")


def prepare_call(
    run_id: str,
    turn: int,
    step: int,
    *,
    tail: insertion_pb2.Tail,
    candidates: Sequence[insertion_pb2.Candidate],
    unplaced_ids: Sequence[str],
    window_reset: bool,
    time_remaining: timedelta | float | None,
    session_id_in_context: bool | None,
    now: datetime | None,
    model: str,
    context_tokens: int | None,
) -> Asked[run_service_pb2.PrepareCallRequest]:
    """The question of what to say before a call."""
    request = made(
        run_service_pb2.PrepareCallRequest,
        run_id=run_id,
        turn=turn,
        step=step,
        tail=tail,
        candidates=candidates,
        unplaced_ids=unplaced_ids,
        window_reset=window_reset,
        time_remaining=None if time_remaining is None else _duration("time_remaining", time_remaining),
        session_id_in_context=session_id_in_context,
        now=None if now is None else _timestamp("now", now),
        model=model,
        context_tokens=context_tokens,
    )
    return Asked(request, "preparing a model call", f"run {run_id}, turn {turn}")


def observe_usage(
    run_id: str,
    turn: int,
    usage: object,
    *,
    window_reset: bool,
    model: str,
    context_tokens: int | None,
    dialect: str | None,
) -> Asked[run_service_pb2.ObserveUsageRequest]:
    """The report of a turn."""
    used = usage_on_the_wire(usage, dialect)
    report = made(
        usage_pb2.TurnReport,
        turn=turn,
        usage=used if isinstance(used, usage_pb2.ModelUsage) else None,
        provider_usage=used if isinstance(used, usage_pb2.ProviderUsage) else None,
        window_reset=window_reset,
        model=model,
        context_tokens=context_tokens,
    )
    request = made(run_service_pb2.ObserveUsageRequest, run_id=run_id, report=report)
    return Asked(request, "observing a turn's usage", f"run {run_id}, turn {turn}")


def compact_exchange(
    run_id: str, turn: int, exchange: exchange_pb2.Exchange
) -> Asked[run_service_pb2.CompactExchangeRequest]:
    """The question what of a turn's exchange stays."""
    request = made(
        run_service_pb2.CompactExchangeRequest, run_id=run_id, turn=turn, exchange=exchange, edits_only=True
    )
    return Asked(request, "compacting an exchange", f"run {run_id}, turn {turn}")


def replay_start(
    run_id: str | None, exchange_budget_bytes: int | None, exchange_rules: int | None
) -> Asked[run_service_pb2.ReplayStart]:
    """By what a history is replayed."""
    start = made(
        run_service_pb2.ReplayStart,
        run_id=run_id,
        exchange_budget_bytes=exchange_budget_bytes,
        exchange_rules=exchange_rules,
    )
    return Asked(start, "replaying a history", "a history" if run_id is None else f"run {run_id}")


def finish_run(run_id: str, outcome: str) -> Asked[run_service_pb2.FinishRunRequest]:
    """The end of a run."""
    request = made(run_service_pb2.FinishRunRequest, run_id=run_id, outcome=outcome)
    return Asked(request, "finishing a run", f"run {run_id}")


def get_run(run_id: str) -> Asked[run_service_pb2.GetRunRequest]:
    """The question how a run stands."""
    return Asked(made(run_service_pb2.GetRunRequest, run_id=run_id), "reading a run", f"run {run_id}")


def list_runs(
    address: str, state: State | None, labels: Mapping[str, str] | None
) -> Asked[run_service_pb2.ListRunsRequest]:
    """The question for the first page of runs."""
    request = made(
        run_service_pb2.ListRunsRequest,
        address=address,
        state=_word("state", _STATES, state),
        labels=labels or {},
    )
    return Asked(request, "listing runs", _rung(address))


def read_ledger(run_id: str, from_position: int) -> Asked[run_service_pb2.ReadLedgerRequest]:
    """The question for a run's records."""
    request = made(run_service_pb2.ReadLedgerRequest, run_id=run_id, from_position=from_position)
    return Asked(request, "reading a run's ledger", f"run {run_id}")


def watch_runs(
    address: str, run_id: str | None, labels: Mapping[str, str] | None
) -> Asked[run_service_pb2.WatchRunsRequest]:
    """The question to be told of runs."""
    request = made(run_service_pb2.WatchRunsRequest, address=address, run_id=run_id or "", labels=labels or {})
    return Asked(request, "watching runs", _rung(address) if run_id is None else f"run {run_id}")


def configure_building(
    address: str, changes: BuildingChanges, *, request_id: str, etag: str, validate_only: bool
) -> Asked[building_service_pb2.ConfigureBuildingRequest]:
    """The command to one rung."""
    _only_known(changes, BuildingChanges, "configure_building")
    if isinstance(changes.get("reset"), str):
        raise TypeError("reset is a sequence of keys, not one string")
    command = made(building_pb2.ConfigureBuilding, address=address, **_stated(changes))
    request = made(
        building_service_pb2.ConfigureBuildingRequest,
        command=command,
        request_id=request_id,
        etag=etag,
        validate_only=validate_only,
    )
    return Asked(request, "configuring a building", _rung(address))


def get_building(address: str) -> Asked[building_service_pb2.GetBuildingRequest]:
    """The question for one rung."""
    request = made(building_service_pb2.GetBuildingRequest, address=address)
    return Asked(request, "reading a building", _rung(address))


def list_buildings() -> Asked[building_service_pb2.ListBuildingsRequest]:
    """The question for the first page of rungs."""
    return Asked(building_service_pb2.ListBuildingsRequest(), "listing buildings", "the city")


def page_after(asked: Asked[_List], page_token: str) -> Asked[_List]:
    """The same question for the next page."""
    request = type(asked.request)()
    request.CopyFrom(asked.request)
    request.page_token = page_token
    return asked._replace(request=request)


def _plan(said: StatedPlan, function: str) -> plan_pb2.RunPlan:
    _only_known(said, StatedPlan, function)
    stated = _stated(said)
    if "time_budget" in stated:
        stated["time_budget"] = _duration("time_budget", stated["time_budget"])
    return made(plan_pb2.RunPlan, **stated)


def _stated(said: Mapping[str, Any]) -> dict[str, Any]:
    """What is said and not None, with the words of `context_rearm` looked up."""
    stated = {key: value for key, value in said.items() if value is not None}
    if "context_rearm" in stated:
        stated["context_rearm"] = _word("context_rearm", _REARMS, stated["context_rearm"])
    return stated


def _rung(address: str) -> str:
    return f"building {address}" if address else "the city"


def _word(argument: str, words: Mapping[Any, _Number], word: object) -> _Number:
    """What `word` stands for; ValueError, naming the argument, for one that is none of `words`."""
    try:
        return words[word]
    except (KeyError, TypeError):
        known = ", ".join(repr(known) for known in words)
        raise ValueError(f"{argument} is one of {known}; not {word!r}") from None


def _duration(argument: str, time: timedelta | float) -> Duration:
    duration = Duration()
    try:
        duration.FromTimedelta(time if isinstance(time, timedelta) else timedelta(seconds=time))
    except (TypeError, ValueError, OverflowError) as error:
        refusal = TypeError if isinstance(error, TypeError) else ValueError
        raise refusal(f"{argument} is a timedelta or a number of seconds; not {shown(time)}") from None
    return duration


def _timestamp(argument: str, moment: datetime) -> Timestamp:
    if not isinstance(moment, datetime):
        raise TypeError(f"{argument} is an aware datetime; not {shown(moment)}")
    if moment.tzinfo is None:
        raise ValueError(f"{argument} is a datetime in a time zone; {shown(moment)} is in none")
    timestamp = Timestamp()
    timestamp.FromDatetime(moment)
    return timestamp


def _only_known(given: Mapping[str, object], known: type, function: str) -> None:
    """Refuses, as Python itself would, an argument that `function` does not have."""
    for name in given:
        if name not in known.__annotations__:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
