"""The gauge: what a reading is, when a threshold sounds, and the two sentences it says.

Rule (rules.md 1): `percent = used * 100 // window`. What has sounded is NOTHING, FIRST or HANDOVER and never
goes back by itself: at or above the second threshold and not yet HANDOVER, the handover reminder sounds; else
at or above 30 and NOTHING, the usage reminder does. So each sounds once, and a jump past both sounds only the
higher and spends the lower. With an unknown window (0) nothing sounds and there is no percent.
"""

from enum import IntEnum

from .insertion import FIRST_KEY, HANDOVER_KEY, Insertion, InsertionKind, Lifetime, Placement, estimate_tokens
from .kept import Kept
from .thresholds import FIRST_PERCENT
from .usage import CountedUsage


class Sounded(IntEnum):
    """The highest threshold a run has heard of; numbered as `ullage.v1.Sounded`."""

    NOTHING = 1
    FIRST = 2
    HANDOVER = 3


class Reading(Kept, frozen=True):
    """The last `used` of a run, in tokens: one cell, which the gauge and the status both read.

    `context_tokens` is the window it was read against, 0 where unknown; `projected_tokens` the prompt of the
    next call as far as it is known, None where the output is not; `stale` after a window reset.
    """

    turn: int
    used_tokens: int
    context_tokens: int
    projected_tokens: int | None
    counted_as: str
    stale: bool = False

    @property
    def percent(self) -> int | None:
        """How full the window is, floored; None where the window is unknown."""
        return self.used_tokens * 100 // self.context_tokens if self.context_tokens else None

    @property
    def remaining_tokens(self) -> int | None:
        """What is left of the window, never below 0; None where the window is unknown."""
        return max(self.context_tokens - self.used_tokens, 0) if self.context_tokens else None

    @property
    def window_exceeded(self) -> bool:
        """Whether more is used than a known window holds."""
        return 0 < self.context_tokens < self.used_tokens


def read(turn: int, usage: CountedUsage, context_tokens: int) -> Reading:
    """The reading of `turn` from what was counted, against a window of `context_tokens` (0: unknown)."""
    projected = None if usage.output_tokens is None else usage.prompt_tokens + usage.output_tokens
    return Reading(turn, usage.prompt_tokens, context_tokens, projected, usage.counted_as)


def sound(sounded: Sounded, percent: int | None, second_threshold: int) -> Sounded:
    """What has sounded after a reading of `percent`; the same as before where nothing sounds."""
    if percent is None:
        return sounded
    if percent >= second_threshold:
        return Sounded.HANDOVER
    if percent >= FIRST_PERCENT and sounded is Sounded.NOTHING:
        return Sounded.FIRST
    return sounded


def reminder(reading: Reading, sounded: Sounded, finishing_act: str) -> Insertion:
    """The reminder of the threshold `sounded` (FIRST or HANDOVER), to stand after the turn's tool results."""
    text = (
        f"[context] {reading.percent}% of the window used "
        f"({reading.used_tokens} of {reading.context_tokens} input tokens)."
    )
    key, kind = FIRST_KEY, InsertionKind.USAGE
    if sounded is Sounded.HANDOVER:
        key, kind = HANDOVER_KEY, InsertionKind.HANDOVER
        text += f" The rest still suffices to write a handoff and `{finishing_act}`; past this point it will not."
    return Insertion(
        id=f"{reading.turn}/{key}",
        keys=(key,),
        kind=kind,
        placement=Placement.AFTER_TAIL,
        lifetime=Lifetime.DURABLE,
        text=text,
        estimated_tokens=estimate_tokens(text),
    )
