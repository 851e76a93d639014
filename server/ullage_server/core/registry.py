"""Registered reminders: the caller's own texts, each at its edge.

Rule (rules.md 7): the edges go by the tail of the request. DURABLE goes with SESSION_START and only with it: such
a text is said once in a run, before the first user message, and stays. TRANSIENT goes with the other edges: those
that fire stand in order of priority, the lowest are dropped until the texts hold at most the budget's characters,
and what is left is for this request alone. Nothing steps out of a block.
"""

import re
from collections.abc import Collection, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

from .errors import Refusal, invalid
from .insertion import Insertion, InsertionKind, Lifetime, Placement, estimate_tokens
from .names import check_name

if TYPE_CHECKING:
    from .call import Tail

DEFAULT_PRIORITY = 50
KEY = "registered/"

_LABEL = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_TAG = re.compile(r"<(?=\s*+/?\s*+(?:system_reminder|system-reminder|reminder|agent-context))", re.IGNORECASE)


class Edge(Enum):
    """When a reminder fires; numbered as `ullage.v1.Edge`."""

    SESSION_START = 1
    PROMPT_START = 2
    EVERY_CALL = 3
    TOOL_ERROR = 4


class Candidate(Struct, frozen=True):
    """One registered reminder as it would speak now; `edge` and `lifetime` None where the caller states none."""

    id: str
    label: str
    edge: Edge | None
    lifetime: Lifetime | None
    priority: int
    text: str


def check_candidate(field: str, candidate: Candidate) -> Candidate:
    """`candidate`; refused, naming it, where it is malformed or its lifetime does not go with its edge."""
    check_name(f"{field}.id", candidate.id)
    if not _LABEL.fullmatch(candidate.label):
        raise _wrong(f"{field}.label", candidate, "its label is not 1 to 64 of A-Z, a-z, 0-9, '_', '.' and '-'")
    if candidate.edge is None:
        raise _wrong(f"{field}.edge", candidate, "its edge is none of Edge's")
    if candidate.lifetime is None:
        raise _wrong(f"{field}.lifetime", candidate, "its lifetime is neither TRANSIENT nor DURABLE")
    if (candidate.lifetime is Lifetime.DURABLE) != (candidate.edge is Edge.SESSION_START):
        raise _wrong(
            f"{field}.lifetime",
            candidate,
            f"it is {candidate.lifetime.name} at {candidate.edge.name}; DURABLE goes with SESSION_START, and "
            "TRANSIENT with the other edges",
        )
    return candidate


def durable(turn: int, candidates: Sequence[Candidate], tail: "Tail", said: Collection[str]) -> Insertion | None:
    """The block of those that begin the session and are not among the ids `said`; None where there is none."""
    fires = [one for one in _speaking(candidates, tail, Lifetime.DURABLE) if one.id not in said]
    return _block(turn, fires, Lifetime.DURABLE, Placement.BEFORE_TAIL)


def transient(turn: int, candidates: Sequence[Candidate], tail: "Tail", budget_chars: int) -> Insertion | None:
    """The block of those that fire for this request alone, within `budget_chars`; None where there is none."""
    fires = sorted(_speaking(candidates, tail, Lifetime.TRANSIENT), key=lambda one: -one.priority)
    chars = sum(len(one.text) for one in fires)
    while chars > budget_chars:
        chars -= len(fires.pop().text)
    # The user's words stay last; a call and its answers stay together.
    return _block(turn, fires, Lifetime.TRANSIENT, Placement.BEFORE_TAIL if tail.is_user else Placement.AFTER_TAIL)


def harmless(text: str) -> str:
    """`text` with nothing in it that could end or begin one of our blocks."""
    return _TAG.sub("&lt;", text)


def _speaking(candidates: Sequence[Candidate], tail: "Tail", lifetime: Lifetime) -> list[Candidate]:
    """Those of `lifetime` that fire and have something to say; of two with one id the later."""
    standing: dict[str, Candidate] = {}
    for candidate in candidates:
        standing.pop(candidate.id, None)
        standing[candidate.id] = candidate
    return [
        one
        for one in standing.values()
        if one.lifetime is lifetime and _fires(one.edge, tail) and one.text.strip()
    ]


def _fires(edge: Edge | None, tail: "Tail") -> bool:
    if edge is Edge.SESSION_START:
        return tail.is_user and not tail.history_has_model_output
    if edge is Edge.PROMPT_START:
        return tail.is_user
    if edge is Edge.TOOL_ERROR:
        return tail.is_failed_tool
    return tail.role is not None


def _block(turn: int, fires: Sequence[Candidate], lifetime: Lifetime, placement: Placement) -> Insertion | None:
    if not fires:
        return None
    lasting = ' durable="true"' if lifetime is Lifetime.DURABLE else ""
    lines = ["<system_reminder>"]
    for one in fires:
        lines += [f'<reminder type="{one.label}"{lasting}>', harmless(one.text), "</reminder>"]
    text = "\n".join([*lines, "</system_reminder>"])
    keys = tuple(f"{KEY}{one.id}" for one in fires)
    several = "registered-durable" if lasting else "registered"
    return Insertion(
        id=f"{turn}/{keys[0] if len(keys) == 1 else several}",
        keys=keys,
        kind=InsertionKind.REGISTERED,
        placement=placement,
        lifetime=lifetime,
        text=text,
        estimated_tokens=estimate_tokens(text),
    )


def _wrong(field: str, candidate: Candidate, what: str) -> Refusal:
    return invalid(field, f"reminder {candidate.id}: {what}", recovery=f"correct the reminder {candidate.id}")
