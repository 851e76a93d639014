"""Registered reminders: the caller's own texts, each at its edge.

Rule (rules.md 7): the edges go by the tail of the request. DURABLE goes with SESSION_START and only with it: such
a text is said once in a run, before the first user message, and stays. TRANSIENT goes with the other edges: those
that fire stand in order of priority, the lowest are dropped until the texts hold at most the budget's characters,
and what is left is for this request alone. Nothing steps out of a block.
"""

import re
from collections.abc import Collection, Sequence
from enum import Enum
from operator import attrgetter

from msgspec import Struct

from .errors import Refusal, invalid
from .insertion import Insertion, InsertionKind, Lifetime, Placement, estimate_tokens
from .names import is_name, not_a_name
from .tail import Tail

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


class Candidate(Struct, frozen=True, gc=False):
    """One registered reminder as it would speak now; `edge` and `lifetime` None where the caller states none."""

    id: str
    label: str
    edge: Edge | None
    lifetime: Lifetime | None
    priority: int
    text: str


def check_candidates(candidates: Sequence[Candidate]) -> None:
    """Refused, naming the reminder, where one is malformed or its lifetime does not go with its edge."""
    durable, start = Lifetime.DURABLE, Edge.SESSION_START
    for at, one in enumerate(candidates):
        if not is_name(one.id):
            raise not_a_name(f"candidates[{at}].id")
        if not _LABEL.fullmatch(one.label):
            raise _wrong(at, "label", one, "its label is not 1 to 64 of A-Z, a-z, 0-9, '_', '.' and '-'")
        if one.edge is None:
            raise _wrong(at, "edge", one, "its edge is none of Edge's")
        if one.lifetime is None:
            raise _wrong(at, "lifetime", one, "its lifetime is neither TRANSIENT nor DURABLE")
        if (one.lifetime is durable) != (one.edge is start):
            told = f"it is {one.lifetime.name} at {one.edge.name}"
            due = "DURABLE goes with SESSION_START, and TRANSIENT with the other edges"
            raise _wrong(at, "lifetime", one, f"{told}; {due}")


def speaking(candidates: Sequence[Candidate], tail: Tail) -> list[Candidate]:
    """Those that fire and have something to say; of two with one id the later."""
    standing: dict[str, Candidate] = {}
    for candidate in candidates:
        standing.pop(candidate.id, None)
        standing[candidate.id] = candidate
    edges = _edges(tail)
    return [one for one in standing.values() if one.edge in edges and one.text.strip()]


def durable(turn: int, fires: Sequence[Candidate], said: Collection[str]) -> Insertion | None:
    """The block of those of `fires` that begin the session and are not among the ids `said`; None for none."""
    lifetime = Lifetime.DURABLE
    lasting = [one for one in fires if one.lifetime is lifetime and one.id not in said]
    return _block(turn, lasting, lifetime, Placement.BEFORE_TAIL)


def transient(turn: int, fires: Sequence[Candidate], tail: Tail, budget_chars: int) -> Insertion | None:
    """The block of those of `fires` that are for this request alone, within `budget_chars`; None for none."""
    lifetime = Lifetime.TRANSIENT
    passing = [one for one in fires if one.lifetime is lifetime]
    passing.sort(key=attrgetter("priority"), reverse=True)
    chars = sum([len(one.text) for one in passing])
    while chars > budget_chars:
        chars -= len(passing.pop().text)
    # The user's words stay last; a call and its answers stay together.
    placement = Placement.BEFORE_TAIL if tail.is_user else Placement.AFTER_TAIL
    return _block(turn, passing, lifetime, placement)


def harmless(text: str) -> str:
    """`text` with nothing in it that could end or begin one of our blocks."""
    return _TAG.sub("&lt;", text) if "<" in text else text


def _edges(tail: Tail) -> tuple[Edge, ...]:
    """The edges that a call with this tail is on."""
    if tail.role is None:
        return ()
    if tail.is_failed_tool:
        return Edge.EVERY_CALL, Edge.TOOL_ERROR
    if not tail.is_user:
        return (Edge.EVERY_CALL,)
    if tail.history_has_model_output:
        return Edge.EVERY_CALL, Edge.PROMPT_START
    return Edge.EVERY_CALL, Edge.PROMPT_START, Edge.SESSION_START


def _block(turn: int, fires: Sequence[Candidate], lifetime: Lifetime, placement: Placement) -> Insertion | None:
    if not fires:
        return None
    lasting = ' durable="true"' if lifetime is Lifetime.DURABLE else ""
    tags = [f'<reminder type="{one.label}"{lasting}>\n{harmless(one.text)}\n</reminder>\n' for one in fires]
    text = f"<system_reminder>\n{''.join(tags)}</system_reminder>"
    keys = tuple([KEY + one.id for one in fires])
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


def _wrong(at: int, part: str, candidate: Candidate, what: str) -> Refusal:
    return invalid(
        f"candidates[{at}].{part}",
        f"reminder {candidate.id}: {what}",
        recovery=f"correct the reminder {candidate.id} and send the request again",
    )
