"""The look at a text that detection works on: its beginning and its end, as lines, without what harnesses add.

Rule (rules.md 8): a detection is a look at the beginning and at most the end of a text: bounded work whatever the
size. What a terminal or a harness puts around a text (colours, line numbers, wrappers) says nothing of what it is.
"""

import re
from typing import NamedTuple

from .wrappers import is_numbered, unnumbered, unwrapped

#: How much of the beginning and of the end is looked at, in bytes and in lines, and of one line, in characters.
HEAD_BYTES, TAIL_BYTES, LINE_CHARS = 8 << 10, 2 << 10, 400
HEAD_LINES, TAIL_LINES = 320, 80

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;:?]{0,24}[A-Za-z]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[()][0-9A-Z])")


class Look(NamedTuple):
    """What is seen of a text: `spaced` its lines, `lines` those that are not blank.

    `raw` is its beginning as it stands but for colours, `first` and `last` its first and last characters that are
    not blank; `numbered` says that a listing's line numbers were taken off; from `tail_at` on, `spaced` is of the
    text's end.
    """

    spaced: list[str]
    lines: list[str]
    raw: str
    first: str
    last: str
    numbered: bool
    tail_at: int


def look(text: bytes) -> Look:
    """The look at `text`."""
    whole = len(text) <= HEAD_BYTES + TAIL_BYTES
    head, tail = (text, b"") if whole else (_to_line_end(text[:HEAD_BYTES]), _from_line_start(text[-TAIL_BYTES:]))
    raw = _ESCAPES.sub("", head.decode(errors="ignore").removeprefix("\ufeff"))
    begun = _lines(raw)[:HEAD_LINES]
    ended = _lines(tail.decode(errors="ignore"))[-TAIL_LINES:] if tail else []
    numbered = is_numbered(unwrapped(begun + ended))
    if numbered:
        begun, ended = unnumbered(begun), unnumbered(ended)
    begun, ended = unwrapped(begun), unwrapped(ended)
    spaced = begun + ended
    lines = [line for line in spaced if line.strip()]
    end = text[-200:].decode(errors="ignore").rstrip()
    return Look(spaced, lines, raw, raw.lstrip()[:200], end, numbered, len(begun))


def _lines(text: str) -> list[str]:
    # A progress bar writes its line over and over; what stood last is what is seen.
    lines = _ESCAPES.sub("", text.replace("\r\n", "\n")).split("\n")
    return [line.rstrip("\r").rpartition("\r")[2][:LINE_CHARS] for line in lines]


def _to_line_end(head: bytes) -> bytes:
    """`head` without its last, broken line, where that is the smaller part."""
    end = head.rfind(b"\n")
    return head[:end] if end > len(head) // 2 else head


def _from_line_start(tail: bytes) -> bytes:
    """`tail` without its first, broken line; empty where it is all one line."""
    return tail[tail.find(b"\n") + 1 :] if b"\n" in tail else b""
