"""Recorded runs, read: which model calls a file tells of, in the order they were made.

Rule: a call is one reply that was kept. Several lines of one message are one call, and the last of them wins; an
event told twice is one call; a subagent's calls are not its parent's; a reset is told with the first call after
it. What a file is written in is told from what stands in it. A line that can't be read, and a sum over several
calls, is counted and left out; only a file without any call, or one that is no UTF-8, is refused.
"""

from dataclasses import dataclass, replace
from typing import IO, Literal

from .formats import NAMED, Bare, Format, Places, Seen, Transcript, UsageLines
from .gathered import Gathered
from .json_records import UNREADABLE, NotUtf8, json_records
from .sessions import CodexRollout, PiSession


class RecordingError(Exception):
    """The recording can't be played, and why."""


@dataclass(frozen=True, slots=True)
class Call:
    """One model call. `usage` is what its provider reported, None for nothing; `window` 0 where none is stated.

    `exchange` is what its reply and its tools said, None where the recording does not hold it.
    """

    usage: object
    model: str
    window: int
    window_reset: bool
    exchange: Gathered | None = None


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run's calls. `window_assumed` says that whoever recorded it only assumed the window."""

    name: str
    calls: tuple[Call, ...]
    window_assumed: bool

    @property
    def window(self) -> int:
        """The first window that is stated; 0 where none is."""
        return next((call.window for call in self.calls if call.window), 0)

    @property
    def model(self) -> str:
        """The first model that is named; empty where none is."""
        return next((call.model for call in self.calls if call.model), "")


@dataclass(frozen=True, slots=True)
class Recording:
    """What a file holds, and how much of it is no call of a played run.

    `junk` are its lines, or the entries of the array it is (`unit`), that can't be read; `junk_at` where the first
    few of them are, from 1.
    """

    runs: tuple[RecordedRun, ...]
    subagent_calls: int = 0
    repeated: int = 0
    failed: int = 0
    abandoned: int = 0
    sums: int = 0
    junk: int = 0
    junk_at: tuple[int, ...] = ()
    unit: Literal["line", "entry"] = "line"


def read(stream: IO[bytes]) -> Recording:
    """Reads a recording in any of the forms, which stand in it by lines or as an array."""
    sessions: tuple[Format, ...] = (CodexRollout(), PiSession(), Transcript())
    formats: tuple[Format, ...] = (UsageLines(), *sessions, Bare())
    unreadable = Places()
    empty = True
    try:
        unit, items = json_records(stream)
        for at, item in items:
            empty = False
            if item is UNREADABLE:
                unreadable.add(at)
                continue
            for form in formats:
                form.offer(at, item)
    except NotUtf8 as error:
        raise RecordingError(
            f"line {error.line} holds bytes that are no UTF-8; a recording is JSON in UTF-8"
        ) from None
    told = next((form for form in formats if form.taken), None)
    if told is None:
        raise RecordingError(
            "there is no call in it: a recording is JSON lines (or an array) of usage objects, of objects with "
            "`raw_usage`, or the session file of Claude Code, Codex or pi as it lies on the disk"
            if not empty
            else "it is empty"
        )
    told.ended()
    runs, subagent_calls = _runs(told.seen)
    if not runs and told.sums:
        raise RecordingError("it holds the sum over a session's calls (a `result` of Claude Code), and no call")
    if not runs:
        raise RecordingError("none of its lines is a model call whose reply was kept")
    # A session holds much that is no call; in the other forms an object that is none is a broken line.
    passed = Places() if told in sessions else told.passed
    return Recording(
        runs,
        subagent_calls,
        told.repeated,
        told.failed,
        told.abandoned,
        told.sums,
        unreadable.count + passed.count,
        tuple(sorted([*unreadable.first, *passed.first])[:NAMED]),
        unit,
    )


def _runs(seen: list[Seen]) -> tuple[tuple[RecordedRun, ...], int]:
    """The runs in the order they begin, and how many subagents' calls are left out.

    Where all calls are subagents' (a subagent's own transcript), each of them is a run.
    """
    merged = _merged(seen)
    parents = [call for call in merged if not call.agent]
    played = parents or [replace(call, run=" ".join(filter(None, (call.run, call.agent)))) for call in merged]
    by_run: dict[str, list[Seen]] = {}
    for call in played:
        by_run.setdefault(call.run, []).append(call)
    return tuple(_run(name, calls) for name, calls in by_run.items()), len(merged) - len(played)


def _merged(seen: list[Seen]) -> list[Seen]:
    """One entry a call: lines with one message id are one, where the first stands, with what the last says."""
    calls: list[Seen] = []
    places: dict[tuple[str, str, str], int] = {}
    for line in seen:
        key = (line.run, line.agent, line.message)
        place = places.get(key) if line.message else None
        if place is None:
            places[key] = len(calls)
            calls.append(line)
        else:
            first = calls[place]
            usage = first.usage if line.usage is None else line.usage
            calls[place] = replace(first, usage=usage, model=line.model or first.model)
    return calls


def _run(name: str, calls: list[Seen]) -> RecordedRun:
    assumed = not any(call.window for call in calls)
    return RecordedRun(
        name,
        tuple(
            Call(
                call.usage,
                call.model,
                call.window_assumed if assumed else call.window,
                call.window_reset,
                call.exchange,
            )
            for call in calls
        ),
        window_assumed=assumed and any(call.window_assumed for call in calls),
    )
