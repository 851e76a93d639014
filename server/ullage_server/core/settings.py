"""The settings that the ladder may move: one table of keys, each with its default and its domain.

Rule (wire.md, the ladder's document): a key's name is `TABLE.KEY`; its field on the wire and in a plan is the
name with `_` for `.`, with the plan's `second_threshold` as the one exception. A new setting is one row here
and one field of `Settings`.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum

from .domain import check_count, check_tokens
from .errors import invalid
from .kept import Kept
from .names import check_name
from .thresholds import DEFAULT_SECOND_PERCENT, parse_second_threshold


class Rearm(StrEnum):
    """Whether a window reset takes what has sounded back to nothing."""

    PER_RUN = "per_run"
    PER_WINDOW = "per_window"


#: A value of a key; a Rearm is a text too.
Value = int | bool | str


class Settings(Kept, frozen=True):
    """The values of all keys, as one run has them frozen."""

    second_threshold: int
    context_rearm: Rearm
    context_finishing_act: str
    exchange_budget_bytes: int
    notices_every_steps: int
    notices_include_subagents: bool
    reminders_budget_chars: int
    clock_zone: str


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the ladder.

    `kind` is the type of its value in a document; `check` takes the field to blame, the value and the known
    zones, and returns the value or refuses.
    """

    name: str
    default: Value
    kind: type[int] | type[bool] | type[str]
    check: Callable[[str, Value, Collection[str]], Value]

    @property
    def wire_field(self) -> str:
        """The field of the wire's command that states this key."""
        return self.name.replace(".", "_")

    @property
    def plan_field(self) -> str:
        """The field of a plan that holds this key."""
        return "second_threshold" if self.name == "context.second_threshold" else self.wire_field


def _threshold(field: str, value: Value, zones: Collection[str]) -> Value:
    return parse_second_threshold(field, int(value))


def _rearm(field: str, value: Value, zones: Collection[str]) -> Value:
    try:
        return Rearm(str(value))
    except ValueError:
        # The value is not told: it may come of a document, whose text no message shows.
        raise invalid(field, f"{field} is neither per_run nor per_window") from None


def _name(field: str, value: Value, zones: Collection[str]) -> Value:
    return check_name(field, str(value))


def _tokens(field: str, value: Value, zones: Collection[str]) -> Value:
    return check_tokens(field, int(value))


def _count(field: str, value: Value, zones: Collection[str]) -> Value:
    return check_count(field, int(value))


def _flag(field: str, value: Value, zones: Collection[str]) -> Value:
    return bool(value)


def _zone(field: str, value: Value, zones: Collection[str]) -> Value:
    if value not in zones:
        raise invalid(
            field, f"{field} names no time zone that this server knows; use an IANA name, as Europe/Berlin"
        )
    return value


KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key("context.second_threshold", DEFAULT_SECOND_PERCENT, int, _threshold),
        Key("context.rearm", Rearm.PER_RUN, str, _rearm),
        Key("context.finishing_act", "succeed", str, _name),
        Key("exchange.budget_bytes", 32768, int, _tokens),
        Key("notices.every_steps", 20, int, _count),
        Key("notices.include_subagents", True, bool, _flag),
        Key("reminders.budget_chars", 8000, int, _count),
        Key("clock.zone", "UTC", str, _zone),
    )
}


def value_text(value: Value) -> str:
    """`value` as a settled one is written: decimals, `true` or `false`, names in lower case."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
