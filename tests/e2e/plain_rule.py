"""The gauge's rule once more, as plainly as it is said: what a run must hear, worked out from all its reports."""

from collections.abc import Sequence
from typing import NamedTuple

from ullage import Observation, Sounded

FIRST = 30


class Said(NamedTuple):
    """The answer to a report: the reminder's kind and figures, and the reading it was given with."""

    reminder: str | None
    text: str | None
    read_at: int | None
    used: int | None
    percent: int | None
    sounded: Sounded


def said(seen: Observation) -> Said:
    """What an answer says, in these words. The reminder's sentence ends with its figures."""
    text = seen.reminder.text if seen.reminder else None
    kind = seen.reminder.kind if seen.reminder else None
    if text is not None:
        text = text[: text.index(").") + 2]
    if seen.reading is None:
        return Said(kind, text, None, None, None, seen.sounded)
    return Said(kind, text, seen.reading.turn, seen.reading.used_tokens, seen.reading.percent, seen.sounded)


def answers(reports: Sequence[int | None], window: int, second: int) -> list[Said]:
    """The answer to each of a run's reports, the prompts of its turns from 1 on; None for no usage."""
    percents = [None if used is None else used * 100 // window for used in reports]
    handover = _first(percents, second)
    usage = _first(percents, FIRST)
    if usage == handover:
        usage = None
    found: list[Said] = []
    at: int | None = None
    for turn, used in enumerate(reports, start=1):
        at = turn if used is not None else at
        kind = "usage" if turn == usage else "handover" if turn == handover else None
        percent = None if at is None else percents[at - 1]
        text = f"[context] {percent}% of the window used ({used} of {window} input tokens)." if kind else None
        sounded = Sounded.NOTHING
        if usage is not None and usage <= turn:
            sounded = Sounded.FIRST
        if handover is not None and handover <= turn:
            sounded = Sounded.HANDOVER
        found.append(Said(kind, text, at, None if at is None else reports[at - 1], percent, sounded))
    return found


def _first(percents: Sequence[int | None], threshold: int) -> int | None:
    """The first turn at or above `threshold`."""
    return next((turn for turn, at in enumerate(percents, start=1) if at is not None and at >= threshold), None)
