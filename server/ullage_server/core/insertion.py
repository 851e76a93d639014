"""A text the harness puts into the request: where, and whether it stays in the history.

Rule (wire.md, Insertion): its id, `TURN/KEY`, is unique in the run, and a harness places an id once.
"""

from enum import Enum

from .domain import MAX_INT32
from .kept import Kept

FIRST_KEY = "context/first"
HANDOVER_KEY = "context/handover"


class InsertionKind(Enum):
    """What speaks; numbered as `ullage.v1.InsertionKind`."""

    USAGE = 1
    HANDOVER = 2
    NOTICE = 3
    TIME_BUDGET = 4
    SESSION_CONTEXT = 5
    REGISTERED = 6


class Placement(Enum):
    """Where it stands to the last message that is none of ours; numbered as `ullage.v1.Placement`."""

    BEFORE_TAIL = 1
    AFTER_TAIL = 2


class Lifetime(Enum):
    """Whether it stays in the history; numbered as `ullage.v1.Lifetime`."""

    TRANSIENT = 1
    DURABLE = 2


class Insertion(Kept, frozen=True):
    """One text for the model, whole."""

    id: str
    keys: tuple[str, ...]
    kind: InsertionKind
    placement: Placement
    lifetime: Lifetime
    text: str
    estimated_tokens: int


def turn_of(id: str) -> int:
    """The turn that an insertion's `id` is of; 0 where it is no such id."""
    turn = id.partition("/")[0]
    return int(turn) if turn.isascii() and turn.isdigit() and len(turn) <= len(str(MAX_INT32)) else 0


def estimate_tokens(text: str) -> int:
    """About how many tokens `text` costs: a fourth of its UTF-8 bytes, rounded up. Said of insertions only."""
    return min((len(text.encode()) + 3) // 4, MAX_INT32)
