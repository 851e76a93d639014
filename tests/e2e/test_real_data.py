"""Every recorded usage sequence runs through a server, and comes to what its provider's rule gives.

A sequence is one recording's calls in order; a helper's calls stand among them and are a run of their own. What is
expected is worked out from the whole sequence at its end, from the providers' plain sums alone.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, NamedTuple

import pytest

from tests.core.test_usage_real_data import RULES, Line, Usage, dialect_of, lines, names
from tests.servers import running_server
from ullage import AsyncClient, AsyncRun, Observation, Reading, TurnAlreadyRecorded

DEFAULT_WINDOW = 200_000
AT_ONCE = 32


class Call(NamedTuple):
    """One line of a recording, and where it stands."""

    file: str
    number: int
    line: Line

    @property
    def window(self) -> int:
        return int(self.line["window"] or self.line.get("window_assumed") or DEFAULT_WINDOW)

    def prompt(self, usage: Usage | None) -> int:
        """The prompt's tokens by the provider's rule; 0 for none."""
        return 0 if usage is None else RULES[dialect_of(self.file, self.line, usage)](usage)

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


class Turn(NamedTuple):
    used: int
    window: int
    reset: bool


@dataclass
class Played:
    """A run, what was reported of it, and what it heard."""

    run: AsyncRun
    rearms: bool
    window: int
    turns: list[Turn] = field(default_factory=list)
    heard: dict[int, str] = field(default_factory=dict)
    last: Observation | None = None
    stated: dict[str, Any] = field(default_factory=dict)

    async def report(self, call: Call, *, named: bool) -> None:
        """Reports the call as the next turn, twice, and looks at the answer."""
        usage = call.line["raw_usage"]
        reset = self.rearms and call.line["compacted_before"]
        self.stated = {
            "window_reset": reset,
            "context_tokens": None if call.window == self.window else call.window,
            "dialect": dialect_of(call.file, call.line, usage).name.lower() if named else None,
        }
        self.window = call.window
        before = self.last.reading if self.last else None
        seen = await self.run.observe(usage, **self.stated)
        turn, used = self.run.last_turn, call.prompt(usage)
        self.turns.append(Turn(used, call.window, reset))
        assert turn == len(self.turns), call
        assert not seen.replayed, call
        await self.repeat(seen, call, usage)
        if used:
            assert seen.reading is not None, call
            assert reading_is(seen.reading, turn, used, call.window), f"{call}: {seen.reading}"
        else:
            assert seen.reading == (replace(before, stale=True) if before and reset else before), call
            assert seen.reminder is None, call
        if seen.reminder is not None:
            assert seen.reminder.id.partition("/")[0] == str(turn), call
            self.heard[turn] = seen.reminder.kind
        self.last = seen

    async def repeat(self, seen: Observation, call: Call, usage: Usage | None) -> None:
        """Reports `usage` as the last turn once more, which is answered as it was."""
        again = await self.run.observe(usage, turn=self.run.last_turn, **self.stated)
        assert again == replace(seen, replayed=True), call

    async def repeat_lines_of_one_message(self, call: Call) -> None:
        """Each line of a message reported under the message's turn: the same, or refused, and nothing more."""
        assert self.last is not None
        reported = said(call, call.line["raw_usage"])
        for usage in call.line.get("usage_variants") or ():
            if said(call, usage) == reported:
                await self.repeat(self.last, call, usage)
            else:
                with pytest.raises(TurnAlreadyRecorded):
                    await self.run.observe(usage, turn=self.run.last_turn, **self.stated)

    async def check_the_whole(self, at: str) -> None:
        assert self.heard == expected(self.turns, rearms=self.rearms), at
        run, last = await self.run.status(), self.last
        assert last is not None
        assert run.last_turn == len(self.turns), at
        assert run.revision == 1 + len(self.turns), at
        assert run.insertions_given == len(self.heard), at
        assert run.window_epoch == sum(turn.reset for turn in self.turns), at
        assert run.reading == last.reading, at
        assert run.sounded == last.sounded, at


def reading_is(reading: Reading, turn: int, used: int, window: int) -> bool:
    return (
        (reading.turn, reading.used_tokens, reading.context_tokens) == (turn, used, window)
        and reading.percent == used * 100 // window
        and reading.remaining_tokens == max(window - used, 0)
        and reading.window_exceeded == (used > window)
        and not reading.stale
    )


def said(call: Call, usage: Usage | None) -> tuple[int, object]:
    """What makes a report: the prompt, and the output where there is one."""
    prompt = call.prompt(usage)
    return prompt, (usage or {}).get("output_tokens") if prompt else None


def expected(turns: list[Turn], *, rearms: bool) -> dict[int, str]:
    """Which turns sound what: the first at or above each threshold, in the whole run or in each window."""
    numbered = list(enumerate(turns, start=1))
    windows, epoch = list[int](), 0
    for turn in turns:
        epoch += turn.reset and rearms
        windows.append(epoch)
    sounds: dict[int, str] = {}
    for _, of_window in groupby(numbered, key=lambda each: windows[each[0] - 1]):
        percents = [(number, turn.used * 100 // turn.window) for number, turn in of_window]
        first = next((number for number, percent in percents if percent >= 30), None)
        second = next((number for number, percent in percents if percent >= 65), None)
        if first is not None and first != second:
            sounds[first] = "usage"
        if second is not None:
            sounds[second] = "handover"
    return sounds


def recordings() -> Iterator[list[Call]]:
    """Each recording's calls, in their order."""
    for name in names():
        calls = [Call(name, number, line) for number, line in lines(name)]
        for _, sequence in groupby(calls, key=lambda call: call.line.get("sequence")):
            yield list(sequence)


def tells_more_than_usage(calls: list[Call]) -> bool:
    """Whether resets are recorded, helpers' calls, or the same event twice."""
    keys = ("compacted_before", "is_subagent", "dup_of_prev")
    return any(call.line.get(key) for call in calls for key in keys)


async def play(client: AsyncClient, calls: list[Call], *, rearms: bool) -> Counter[str]:
    """Plays one recording. Where resets are told, every line is a turn, and dialects are named; else neither."""
    runs: dict[str, Played] = {}
    seen = Counter[str]()
    for call in calls:
        who = call.line.get("agent") or "helper" if call.line["is_subagent"] else "main"
        if who not in runs:
            run = await client.start_run(
                subagent=call.line["is_subagent"],
                context_tokens=call.window,
                context_rearm="per_window" if rearms else None,
            )
            runs[who] = Played(run, rearms, call.window)
        played = runs[who]
        if call.line.get("dup_of_prev") and not rearms:
            assert played.last is not None
            await played.repeat(played.last, call, call.line["raw_usage"])
            seen["repeated"] += 1
        else:
            await played.report(call, named=rearms)
        await played.repeat_lines_of_one_message(call)
        seen["lines"] += 1
        seen["of helpers"] += call.line["is_subagent"]
        seen["without usage"] += call.prompt(call.line["raw_usage"]) == 0
        seen["other lines of a message"] += len(call.line.get("usage_variants") or ()) > 1
    for who, played in runs.items():
        await played.check_the_whole(f"{calls[0]} {who}")
        seen["resets"] += sum(turn.reset for turn in played.turns)
        seen.update(played.heard.values())
    return seen


@pytest.mark.parametrize("rearms", [False, True], ids=["no reset is told", "resets are told, and rearm"])
async def test_every_recording_is_read_as_its_provider_counts_and_sounds_once(rearms: bool) -> None:
    seen = Counter[str]()
    room = asyncio.Semaphore(AT_ONCE)

    async def one(calls: list[Call]) -> None:
        async with room:
            seen.update(await play(client, calls, rearms=rearms))

    played = [calls for calls in recordings() if not rearms or tells_more_than_usage(calls)]
    with running_server() as server:
        async with AsyncClient(server.target, timeout=60) as client, asyncio.TaskGroup() as tasks:
            for calls in played:
                tasks.create_task(one(calls))
    assert seen["lines"] > (800 if rearms else 2000)
    assert min(seen["usage"], seen["handover"], seen["of helpers"], seen["without usage"]) > 3
    assert seen["other lines of a message"] > 3
    assert seen["resets" if rearms else "repeated"] > 3
