"""The look at a text that detection works on: its beginning and its end, as lines, without what harnesses add.

Rule (rules.md 8): a detection is a look at the beginning and at most the end of a text: bounded work whatever the
size. What a terminal or a harness puts around a text (colours, line numbers, wrappers) says nothing of what it is.
"""

import re
from typing import NamedTuple

from .fences import outside_fences
from .wrappers import bare

#: How much of the beginning and of the end is looked at, in bytes.
HEAD_BYTES, TAIL_BYTES = 8 << 10, 2 << 10
#: How many of those lines are told by their signs, of the first, middle and last ones (a source may open with its
#: licence and end with a table), and how much of each, in characters.
LINES, LINE_CHARS = (20, 16, 10), 200

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;:?]{0,24}[A-Za-z]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[()][0-9A-Z])")


class Look(NamedTuple):
    """What is seen of a text: `page` is all its lines, `told`, or `lines`, those that are told by their signs.

    In a page each line stands behind a line feed, so that a sign that opens with one is tried once a line.
    `outside` and `said` are `page` and `told` without what stands in a document's code fences. `raw` is the text's
    beginning as it stands but for colours, `first` and `last` its first and last characters that are not blank.
    """

    page: str
    told: str
    lines: list[str]
    outside: str
    said: str
    raw: str
    first: str
    last: str


def look(text: bytes) -> Look:
    """The look at `text`."""
    whole = len(text) <= HEAD_BYTES + TAIL_BYTES
    head, tail = (text, b"") if whole else (_to_line_end(text[:HEAD_BYTES]), _from_line_start(text[-TAIL_BYTES:]))
    raw = _plain(head.decode(errors="ignore").removeprefix("\ufeff"))
    begun, ended = bare(_page(raw), _page(_plain(tail.decode(errors="ignore"))) if tail else "")
    page, outside = begun + ended, outside_fences(begun) + outside_fences(ended)
    lines = told_of(page)
    told = as_told(lines)
    said = told if len(outside) == len(page) else as_told(told_of(outside))
    end = text[-200:].decode(errors="ignore").rstrip()
    return Look(page, told, lines, outside, said, raw, raw[:400].lstrip()[:200], end)


def told_of(page: str) -> list[str]:
    """The first, middle and last lines of `page`, without blank ones and the blanks they end with."""
    lines = page.split("\n")
    if len(lines) > sum(LINES):
        first, middle, last = LINES
        start = (len(lines) - middle) // 2
        lines = lines[:first] + lines[start : start + middle] + lines[-last:]
    return [told for line in lines if (told := line[:LINE_CHARS].rstrip())]


def as_told(lines: list[str]) -> str:
    """`lines` as a page."""
    return "\n" + "\n".join(lines) if lines else ""


def count(sign: re.Pattern[str], told: str) -> int:
    """How many times `sign`, which no line shows twice, is shown."""
    return len(sign.findall(told))


def _plain(text: str) -> str:
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def _page(text: str) -> str:
    text = "\n" + text
    if "\r" not in text:
        return text
    # A progress bar writes its line over and over; what stood last is what is seen.
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join([line.rstrip("\r").rpartition("\r")[2] for line in lines])


def _to_line_end(head: bytes) -> bytes:
    """`head` without its last, broken line, where that is the smaller part."""
    end = head.rfind(b"\n")
    return head[:end] if end > len(head) // 2 else head


def _from_line_start(tail: bytes) -> bytes:
    """`tail` without its first, broken line; empty where it is all one line."""
    return tail[tail.find(b"\n") + 1 :] if b"\n" in tail else b""
