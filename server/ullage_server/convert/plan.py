"""Plans: what a caller states, what was frozen, and where each value came from."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from ullage.v1 import plan_pb2

from ..core.errors import invalid
from ..core.plan import Plan, Settled, Stated
from ..core.settings import KEYS, Rearm, Value
from .times import from_duration, to_duration

_NO_LABELS: Mapping[str, str] = {}

_REARM_BY_NUMBER = {plan_pb2.REARM_PER_RUN: Rearm.PER_RUN, plan_pb2.REARM_PER_WINDOW: Rearm.PER_WINDOW}
_REARM_NUMBER = {rearm: number for number, rearm in _REARM_BY_NUMBER.items()}


def rearm_from(field: str, number: int) -> Rearm:
    """A Rearm by its number; refused, naming `field`, for one that is none."""
    if number not in _REARM_BY_NUMBER:
        raise invalid(field, f"{field} is {number}, no value of Rearm")
    return _REARM_BY_NUMBER[cast("plan_pb2.Rearm.ValueType", number)]


def stated_from(plan: plan_pb2.RunPlan) -> Stated:
    """What a request's plan states, unchecked but for the types. `exchange_rules` is an output and is ignored."""
    settings: dict[str, Value] = {}
    for name, key in KEYS.items():
        field = key.plan_field
        if name == "context.rearm":
            if plan.context_rearm:
                settings[name] = rearm_from("plan.context_rearm", plan.context_rearm)
        elif key.kind is str:
            if getattr(plan, field):
                settings[name] = getattr(plan, field)
        elif plan.HasField(cast("Any", field)):
            settings[name] = getattr(plan, field)
    return Stated(
        address=plan.address,
        agent=plan.agent,
        session_id=plan.session_id,
        parent_session_id=plan.parent_session_id,
        subagent=plan.subagent,
        model=plan.model,
        context_tokens=plan.context_tokens,
        time_budget=from_duration("plan.time_budget", plan.time_budget) if plan.HasField("time_budget") else None,
        labels=dict(plan.labels) or _NO_LABELS,
        settings=settings,
    )


def stated_to(stated: Stated) -> plan_pb2.RunPlan:
    """What was stated, as the ledger shows it."""
    return _to(stated, {KEYS[name].plan_field: value for name, value in stated.settings.items()})


def plan_to(plan: Plan) -> plan_pb2.RunPlan:
    """A frozen plan as the wire shows it."""
    settings = plan.settings
    message = _to(plan, {key.plan_field: getattr(settings, key.plan_field) for key in KEYS.values()})
    message.exchange_rules = plan.exchange_rules
    return message


def settled_to(settled: Iterable[Settled]) -> list[plan_pb2.Settled]:
    """Settled values as the wire shows them."""
    return [plan_pb2.Settled(key=one.key, value=one.value, source=one.source) for one in settled]


def _to(plan: Stated | Plan, settings: Mapping[str, Value]) -> plan_pb2.RunPlan:
    fields: dict[str, Any] = {
        field: _REARM_NUMBER[Rearm(str(value))] if field == "context_rearm" else value
        for field, value in settings.items()
    }
    if plan.time_budget is not None:
        fields["time_budget"] = to_duration(plan.time_budget)
    return plan_pb2.RunPlan(
        address=plan.address,
        agent=plan.agent,
        session_id=plan.session_id,
        parent_session_id=plan.parent_session_id,
        subagent=plan.subagent,
        model=plan.model,
        context_tokens=plan.context_tokens,
        labels=plan.labels,
        **fields,
    )
