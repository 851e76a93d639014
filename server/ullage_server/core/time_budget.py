"""The time budget: how much time is left, told seldom and briefly.

Rule (rules.md 5): what is left is what the caller's timer says, else the budget less the time since the clock's
start, never below 0. It is told at the first request; once each when it first is at or below a half, a quarter and
a tenth of the budget, several crossed at once in one reminder; and at every request while 120 s or less are left.
More time later gives nothing back. It is for one request alone, and last in it.
"""

from collections.abc import Collection, Iterable

from .insertion import Insertion, InsertionKind, Lifetime, Placement, estimate_tokens, turn_of

KEY = "time"

#: The steps, each as what part of the budget it is at: the first request's is the whole, whatever is left.
PARTS = (1, 2, 4, 10)

#: The turn each step was told in; 0 where it was not.
Told = tuple[int, ...]
UNTOLD: Told = (0,) * len(PARTS)

_SECOND = 10**9
#: From here on every request is told, in seconds.
_LAST = 120 * _SECOND


def remaining(budget: int, clock_start: int, at: int) -> int:
    """What is left of `budget` at the time `at`, in nanoseconds; a clock that went back takes nothing."""
    return max(budget - max(at - clock_start, 0), 0)


def due(told: Told, turn: int, budget: int, left: int, unplaced: Collection[int]) -> tuple[int, ...]:
    """The steps to be told before the call of `turn`, by their places in PARTS.

    Those told in this very turn are due again, for its call is prepared again; and so are those told in the turns
    `unplaced`, whose reminders came to stand nowhere.
    """
    return tuple(
        step
        for step, (part, spoken) in enumerate(zip(PARTS, told, strict=True))
        if (spoken == turn or spoken in unplaced if spoken else step == 0 or left * part <= budget)
    )


def after(told: Told, turn: int, steps: Collection[int]) -> Told:
    """`told` once `steps` are told in `turn`."""
    return tuple(turn if step in steps else spoken for step, spoken in enumerate(told))


def turns_of(ids: Iterable[str]) -> frozenset[int]:
    """The turns whose reminders of the time are among the insertions `ids`."""
    return frozenset(turn_of(id) for id in ids if id.endswith(f"/{KEY}"))


def is_last(left: int) -> bool:
    """Whether so little is left that every request hears of it."""
    return left <= _LAST


def reminder(turn: int, budget: int, left: int) -> Insertion:
    """The reminder that `left` of `budget` is left, both in nanoseconds."""
    if not is_last(left):
        minute = 60 * _SECOND
        words = f"{left // minute} of {max(budget, left) // minute} min left"
    elif left >= 10 * _SECOND:
        words = f"{left // _SECOND // 10 * 10} s left"
    else:
        words = "under 10 seconds left"
    text = f"[time] {words}"
    return Insertion(
        id=f"{turn}/{KEY}",
        keys=(KEY,),
        kind=InsertionKind.TIME_BUDGET,
        placement=Placement.AFTER_TAIL,
        lifetime=Lifetime.TRANSIENT,
        text=text,
        estimated_tokens=estimate_tokens(text),
    )
