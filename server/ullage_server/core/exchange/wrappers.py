"""What harnesses put around a text: line numbers, tags, notes before and behind it.

Rule (rules.md 8): real material is told right. What stands around a text says nothing of what it is.
"""

import re
from itertools import pairwise

#: A line number in front of a line: `cat -n`, `nl`, an arrow, a colon, a bar.
NUMBERED = re.compile(r" {0,8}[0-9]{1,7}(?:\t|→| {0,2}[|│]|:(?![0-9]))")
#: Tags that stand around what a tool gave, alone on their line or with a short value.
_TAG = re.compile(
    r"\s*+</?(?:output|stdout|stderr|returncode|results?|file|files|content|contents|error|document|tool_result)\b"
    r"[^>]{0,200}>\s*(?:-?\d{1,4}</returncode>)?\s*"
    r"|\s*+<(path|type|exit_code|returncode|name)>[^<]{0,300}</\1>\s*"
)
#: Tags around a note that is the harness's own.
_NOTE = re.compile(r"\s*+<(system[-_]reminder|system|usage|reminder|note|warning|metadata)\b[^>]{0,80}>")
#: Notes of one line.
_SAID = re.compile(
    r"\s*+(?:Chunk ID|Wall time|Process exited with code|Original token count|Total output lines|Exit code"
    r"|Command exited with code|agentId|task_id|duration_ms|exit code|Duration)\b ?:? ?\S{0,40}.{0,60}"
    r"|\s*+Output:|Here's the result of running .{0,240}"
    r"|\s*+[(\[](?:End of file|Results? (?:is|are) truncated|Output (?:was )?truncated|Showing|File has)\b.{0,200}"
)
#: How many lines such a note may hold, and how far from either end of a text notes of one line stand.
_LONGEST, _REACH = 60, 6


def is_numbered(lines: list[str]) -> bool:
    """Whether the lines carry numbers that rise one by one, most of them; few lines all of them, from 1."""
    numbers = [int(found[0].strip(" \t→|│:")) for line in lines if (found := NUMBERED.match(line))]
    rising = sum(after == before + 1 for before, after in pairwise(numbers))
    full = sum(bool(line.strip()) for line in lines)
    few = 0 < full <= 3 and numbers[:1] == [1] and rising == full - 1
    return few or (rising >= 3 and rising * 10 >= full * 7)


def unnumbered(lines: list[str]) -> list[str]:
    """`lines` without their numbers, and without a blank that stands behind each number."""
    found = [NUMBERED.match(line) for line in lines]
    bare = [line[number.end() :] if number else line for number, line in zip(found, lines, strict=True)]
    marked = [line for number, line in zip(found, bare, strict=True) if number and number[0][-1] in ":|│" and line]
    apart = bool(marked) and all(line[0] == " " for line in marked)
    return [line.removeprefix(" ") if apart and number else line for number, line in zip(found, bare, strict=True)]


def unwrapped(lines: list[str]) -> list[str]:
    """`lines` without tags that only wrap, and without notes."""
    bare: list[str] = []
    at = 0
    while at < len(lines):
        note = _NOTE.match(lines[at])
        end = _closing(lines, at, note[1]) if note else None
        if end is not None:
            at = end
        elif not _TAG.fullmatch(lines[at]) and not (_is_near_end(at, lines) and _SAID.fullmatch(lines[at])):
            bare.append(lines[at])
        at += 1
    return bare


def _closing(lines: list[str], at: int, name: str) -> int | None:
    """Where the tag that opens at `at` is closed."""
    closing = f"</{name}>"
    return next((place for place in range(at, min(at + _LONGEST, len(lines))) if closing in lines[place]), None)


def _is_near_end(at: int, lines: list[str]) -> bool:
    return at < _REACH or at >= len(lines) - _REACH
