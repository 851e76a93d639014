"""The plan of a run, and the freeze that settles it.

Rule (rules.md 2): at its start a run's plan is settled key by key: what the request states, else the
resident's rung, else the building's, else the city's, else the default; the answer says each value and its
source. The window: stated, else the ladder's table of models by name, else the catalogue, else unknown (0).
Nothing changes a plan afterwards.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .domain import check_tokens
from .errors import invalid
from .kept import Kept
from .names import check_address, check_labels, check_model, check_name
from .rung import Rung
from .settings import KEYS, Settings, Value, value_text

#: The version of the exchange rules that a new run freezes.
EXCHANGE_RULES = 1

#: The longest time budget in nanoseconds: a billion seconds, about 31 years.
MAX_TIME_BUDGET = 10**18

#: The window of a model by its name, in tokens; None where the catalogue does not know it.
Catalogue = Callable[[str], int | None]


class Stated(Kept, frozen=True):
    """What a caller states of a plan: empty, 0 or None where it states nothing.

    `settings` holds the stated ones by the ladder's keys; `time_budget` is in nanoseconds.
    """

    address: str
    agent: str
    session_id: str
    parent_session_id: str
    subagent: bool
    model: str
    context_tokens: int
    time_budget: int | None
    labels: Mapping[str, str]
    settings: Mapping[str, Value]


class Plan(Kept, frozen=True):
    """What governs a run, frozen at its start.

    `context_tokens` is 0 where the window is unknown; `time_budget` is in nanoseconds, None for none.
    """

    address: str
    agent: str
    session_id: str
    parent_session_id: str
    subagent: bool
    model: str
    context_tokens: int
    time_budget: int | None
    exchange_rules: int
    labels: Mapping[str, str]
    settings: Settings


class Settled(Kept, frozen=True):
    """One settled value and where it came from: `run`, `fork`, an address, `city`, `catalogue` or `default`."""

    key: str
    value: str
    source: str


#: What one of those who may state values does state, by the ladder's keys, under its source.
Layer = tuple[str, Mapping[str, Value]]


@dataclass(frozen=True, slots=True)
class Frozen:
    """What the freeze gives: the plan, and where each of its values came from."""

    plan: Plan
    settled: tuple[Settled, ...]


def check_stated(stated: Stated, zones: Collection[str]) -> Stated:
    """`stated` with its settings parsed; refused, with the field at fault, where a part of it is wrong."""
    check_address("plan.address", stated.address)
    for field, value in (
        ("plan.agent", stated.agent),
        ("plan.session_id", stated.session_id),
        ("plan.parent_session_id", stated.parent_session_id),
    ):
        if value:
            check_name(field, value)
    check_model("plan.model", stated.model)
    check_tokens("plan.context_tokens", stated.context_tokens)
    if stated.time_budget is not None and not 0 < stated.time_budget <= MAX_TIME_BUDGET:
        raise invalid(
            "plan.time_budget",
            f"plan.time_budget is not above 0 and at most {MAX_TIME_BUDGET // 10**9} s; state none for no budget",
        )
    return Stated(
        address=stated.address,
        agent=stated.agent,
        session_id=stated.session_id,
        parent_session_id=stated.parent_session_id,
        subagent=stated.subagent,
        model=stated.model,
        context_tokens=stated.context_tokens,
        time_budget=stated.time_budget,
        labels=check_labels("plan.labels", stated.labels),
        settings={
            name: KEYS[name].check(f"plan.{KEYS[name].plan_field}", value, zones)
            for name, value in stated.settings.items()
        },
    )


def freeze(run_id: str, stated: Stated, rungs: Sequence[Rung], catalogue: Catalogue) -> Frozen:
    """The plan of the run `run_id` from what it `stated` and its `rungs`, the nearest first."""
    values, settled = settle([("run", stated.settings), *layers(rungs)])
    if stated.context_tokens:
        window, source = stated.context_tokens, "run"
    else:
        window, source = find_window(stated.model, rungs, catalogue) or (0, "default")
    plan = planned(run_id, stated, window, EXCHANGE_RULES, values)
    return Frozen(plan, (*settled, settled_window(window, source)))


def planned(run_id: str, stated: Stated, window: int, exchange_rules: int, settings: Settings) -> Plan:
    """The plan of the run `run_id` from what is stated for it and what was settled."""
    return Plan(
        address=_shared(stated.address),
        agent=_shared(stated.agent),
        session_id=stated.session_id or run_id,
        parent_session_id=stated.parent_session_id,
        subagent=stated.subagent,
        model=_shared(stated.model),
        context_tokens=window,
        time_budget=stated.time_budget,
        exchange_rules=exchange_rules,
        labels=stated.labels,
        settings=settings,
    )


def settled_window(window: int, source: str) -> Settled:
    """The window among the settled values."""
    return Settled("context_tokens", str(window), source)


def layers(rungs: Sequence[Rung]) -> list[Layer]:
    """What each rung states, under its source."""
    return [(rung.source, rung.values) for rung in rungs]


def settle(layers: Sequence[Layer]) -> tuple[Settings, tuple[Settled, ...]]:
    """Every key's value with its source: from the first of `layers` that states it, else the default."""
    values: dict[str, Any] = {}
    settled = []
    for name, key in KEYS.items():
        value, source = next(
            ((stated[name], source) for source, stated in layers if name in stated), (key.default, "default")
        )
        values[key.plan_field] = value
        settled.append(Settled(name, value_text(value), source))
    return _settings(tuple(values.items())), tuple(settled)


# The words that a fleet's runs have in common are held once.
@lru_cache(maxsize=4096)
def _shared(word: str) -> str:
    return word


# Few settings serve many runs: equal ones are held once.
@lru_cache(maxsize=1024)
def _settings(values: tuple[tuple[str, Any], ...]) -> Settings:
    return Settings(**dict(values))


def find_window(model: str, rungs: Sequence[Rung], catalogue: Catalogue) -> tuple[int, str] | None:
    """The window of `model` in tokens and its source; None where neither the ladder nor the catalogue knows it."""
    if not model:
        return None
    for rung in rungs:
        if model in rung.models:
            return rung.models[model], rung.source
    window = catalogue(model)
    return (window, "catalogue") if window else None
