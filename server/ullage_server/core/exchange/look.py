"""The look at a text that detection works on: its beginning and its end, as lines, without what harnesses add.

Rule (rules.md 8): a detection is a look at the beginning and at most the end of a text: bounded work whatever the
size. What a terminal or a harness puts around a text (colours, line numbers, wrappers) says nothing of what it is.
"""

import re
from itertools import pairwise
from typing import NamedTuple

#: How much of the beginning and of the end is looked at, in bytes, and of one line, in characters.
HEAD_BYTES, TAIL_BYTES, LINE_CHARS = 8 << 10, 2 << 10, 400

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;:?]{0,24}[A-Za-z]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[()][0-9A-Z])")
#: A line number in front of a line: `cat -n`, `nl`, an arrow, a colon, a bar.
_NUMBERED = re.compile(r" {0,8}[0-9]{1,7}(?:\t|→|\|| {0,2}│|: ?(?![0-9]))")
#: A line that only wraps what a tool gave.
_WRAPPER = re.compile(
    r"\s*</?(?:output|stdout|stderr|returncode|results?|file|content|error|system[-_]reminder)\b[^>]{0,80}>\s*"
    r"(?:\d{1,4}</returncode>)?\s*"
)


class Look(NamedTuple):
    """What is seen of a text: `spaced` its lines, `lines` those that are not blank.

    `raw` is its beginning as it stands, `first` and `last` its first and last characters that are not blank;
    `numbered` says that a listing's line numbers were taken off.
    """

    spaced: list[str]
    lines: list[str]
    raw: str
    first: str
    last: str
    numbered: bool


def look(text: bytes) -> Look:
    """The look at `text`."""
    whole = len(text) <= HEAD_BYTES + TAIL_BYTES
    head, tail = (text, b"") if whole else (_to_line_end(text[:HEAD_BYTES]), _from_line_start(text[-TAIL_BYTES:]))
    raw = head.decode(errors="ignore").removeprefix("\ufeff")
    spaced = _lines(raw) + _lines(tail.decode(errors="ignore"))
    numbered = _is_numbered(spaced)
    if numbered:
        spaced = [_NUMBERED.sub("", line, count=1) for line in spaced]
    spaced = [line for line in spaced if not _WRAPPER.fullmatch(line)]
    lines = [line for line in spaced if line.strip()]
    end = text[-200:].decode(errors="ignore").rstrip()
    return Look(spaced, lines, raw, raw.lstrip()[:200], end, numbered)


def _lines(text: str) -> list[str]:
    # A progress bar writes its line over and over; what stood last is what is seen.
    lines = _ESCAPES.sub("", text.replace("\r\n", "\n")).split("\n")
    return [line.rstrip("\r").rpartition("\r")[2][:LINE_CHARS] for line in lines]


def _is_numbered(lines: list[str]) -> bool:
    """Whether the lines carry numbers that rise one by one, most of them."""
    numbers = [int(found[0].strip(" \t→|│:")) for line in lines if (found := _NUMBERED.match(line))]
    rising = sum(after == before + 1 for before, after in pairwise(numbers))
    full = sum(bool(line.strip()) for line in lines)
    return rising >= 3 and rising * 10 >= full * 7


def _to_line_end(head: bytes) -> bytes:
    """`head` without its last, broken line, where that is the smaller part."""
    end = head.rfind(b"\n")
    return head[:end] if end > len(head) // 2 else head


def _from_line_start(tail: bytes) -> bytes:
    """`tail` without its first, broken line; empty where it is all one line."""
    return tail[tail.find(b"\n") + 1 :] if b"\n" in tail else b""
