"""The cut of one text to a limit in bytes: what stays, and the markers where bytes went.

Rule (rules.md 8): where bytes went stands `[truncated: N bytes]`, N the bytes taken out there; in the middle of
a text, and before a heading, the marker stands on a line of its own. What survives and what the markers name make
the source. A cut falls between characters, inward. The room for a marker is reserved at its widest, the text's
whole length, so a cut text fits its limit whenever the limit holds a marker. A cut that is no shorter than its
source is none.
"""

from collections.abc import Sequence
from typing import NamedTuple

from .classes import Keep
from .sections import keep_sections

#: A piece of a text that stays: from its first byte to behind its last one.
Span = tuple[int, int]


class Cut(NamedTuple):
    """A text after its cut, and how many bytes of its source are gone."""

    text: bytes
    dropped: int


def cut(text: bytes, limit: int, keep: Keep) -> Cut | None:
    """`text`, valid UTF-8 that is beyond `limit` bytes, cut to them; None where that makes it no shorter."""
    room = len(marker(len(text)))
    spans = _SPANS[keep](text, limit, room)
    shorter = _joined(text, spans, before_heading=keep is Keep.SECTIONS)
    dropped = len(text) - sum(end - start for start, end in spans)
    return Cut(shorter, dropped) if len(shorter) < len(text) else None


def marker(dropped: int) -> bytes:
    """What stands where `dropped` bytes went."""
    return b"[truncated: %d bytes]" % dropped


def _head(text: bytes, limit: int, room: int) -> list[Span]:
    return [(0, _down(text, max(limit - room, 0)))]


def _tail(text: bytes, limit: int, room: int) -> list[Span]:
    return [(_up(text, len(text) - max(limit - room, 0)), len(text))]


def _ends(text: bytes, limit: int, room: int) -> list[Span]:
    each = max((limit - room - 2) // 2, 0)  # the marker's two line ends are part of its room
    first, last = _down(text, each), _up(text, len(text) - each)
    # Where an end has no room, or the two meet, the head alone stays.
    return [(0, first), (last, len(text))] if 0 < first < last < len(text) else _head(text, limit, room)


def _sections(text: bytes, limit: int, room: int) -> list[Span]:
    return [(start, _down(text, end)) for start, end in keep_sections(text, limit, room)]


_SPANS = {Keep.HEAD: _head, Keep.ENDS: _ends, Keep.TAIL: _tail, Keep.SECTIONS: _sections}


def _down(text: bytes, at: int) -> int:
    """The last place up to `at` between two characters of `text`."""
    at = min(at, len(text))
    while 0 < at < len(text) and text[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _up(text: bytes, at: int) -> int:
    """The first place from `at` on between two characters of `text`."""
    at = max(at, 0)
    while at < len(text) and text[at] & 0xC0 == 0x80:
        at += 1
    return at


def _joined(text: bytes, spans: Sequence[Span], *, before_heading: bool) -> bytes:
    """The `spans` of `text`, with a marker in each gap; `before_heading` says that headings follow the gaps."""
    pieces: list[bytes] = []
    behind = 0
    for start, end in [*spans, (len(text), len(text))]:
        if start > behind:
            inside = behind > 0 and start < len(text)
            ends_line = inside or (before_heading and start < len(text))
            pieces += (b"\n" if inside else b"", marker(start - behind), b"\n" if ends_line else b"")
        pieces.append(text[start:end])
        behind = end
    return b"".join(pieces)
