"""A run as a timeline: one line a turn, with a bar on which both thresholds can be seen.

Rule: what is drawn is what the server answered, and nothing is worked out here. A line is a list of pieces, each a
text and the name of its style, so that a terminal shows it in colours and a pipe the same words plainly.
"""

import textwrap
from dataclasses import dataclass

from ..core.thresholds import FIRST_PERCENT

Line = list[tuple[str, str]]

#: What stands before the bar: turn, used and percent, each with its gap.
_BEFORE = 6 + 11 + 7
#: What is kept free behind it for a note.
_BEHIND = 18
_NARROWEST, _WIDEST, _IN_A_PIPE = 20, 60, 40


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters of a bar: a full cell, the parts of one, an empty one, a threshold, and beyond the window.

    `edges` stand at its ends, and `hook` before the reminder under it.
    """

    full: str
    parts: str
    empty: str
    mark: str
    beyond: str
    edges: tuple[str, str]
    hook: str


BLOCKS = Glyphs("█", "▏▎▍▌▋▊▉", " ", "│", "▶", ("▕", "▏"), "╰ ")
ASCII = Glyphs("#", "", ".", "|", ">", ("[", "]"), "  ")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn as the server answered it: `said` before its call, `reminder` behind it.

    `used_tokens` is None where the call read nothing.
    """

    turn: int
    used_tokens: int | None
    percent: int | None
    reminder: str | None
    notes: tuple[str, ...]
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    """How a run's turns are drawn: `second` is the run's own second threshold.

    `width` is the terminal's; without one the lines go to a pipe, each turn on one line of fixed columns.
    """

    second: int
    glyphs: Glyphs = ASCII
    width: int | None = None

    @property
    def cells(self) -> int:
        """How many cells a bar has."""
        if self.width is None:
            return _IN_A_PIPE
        return max(_NARROWEST, min(_WIDEST, self.width - _BEFORE - 2 - _BEHIND))

    def head(self) -> Line:
        """What stands above the columns: the names, and where the thresholds are."""
        scale = [" "] * (self.cells + 2)
        for cell, percent in zip(self._marks(), (FIRST_PERCENT, self.second), strict=True):
            scale[cell + 1 : cell + 1 + len(f"{percent}%")] = f"{percent}%"
        scale[-4:] = "100%"
        return [(f"{'turn':>6}{'used':>11}{'':7}", "head"), ("".join(scale).rstrip(), "head")]

    def lines(self, turn: Turn) -> list[Line]:
        """One turn, and under it what was said before it and the reminder that sounded; in a pipe behind it."""
        used = "-" if turn.used_tokens is None else self._number(turn.used_tokens)
        percent = "-" if turn.percent is None else f"{turn.percent}%"
        style = self._style(turn.percent)
        line: Line = [(f"{turn.turn:>6}", "dim"), (f"{used:>11}", ""), (f"{percent:>6} ", style)]
        line += self.bar(turn.percent)
        below: list[Line] = []
        said = [(" ".join(text.split()), "dim") for text in turn.said]
        for text, look in (*said, (", ".join(turn.notes), "note"), (turn.reminder or "", style)):
            if not text:
                continue
            if self.width is None or (look == "note" and len(text) <= self.width - _BEFORE - self.cells - 4):
                line.append(("  " + text, look))
            else:
                below += self._below(text, look, self.width)
        return [line, *below]

    def _below(self, text: str, style: str, width: int) -> list[Line]:
        """What is too long to stand behind a bar, hooked under it."""
        indent = _BEFORE + 1 + len(self.glyphs.hook)
        lines: list[Line] = [
            [(" " * indent, ""), (part, style)]
            for part in textwrap.wrap(text, max(_NARROWEST, width - indent - 1))
        ]
        lines[0][0] = (" " * (_BEFORE + 1) + self.glyphs.hook, style)
        return lines

    def bar(self, percent: int | None) -> Line:
        """How full the window is; without a percent only the thresholds."""
        steps = len(self.glyphs.parts) + 1
        full, part = divmod(min(percent or 0, 100) * self.cells * steps // 100, steps)
        marks = self._marks()
        cells = [self.glyphs.full if cell < full else self.glyphs.empty for cell in range(self.cells)]
        if part:
            cells[full] = self.glyphs.parts[part - 1]
            full += 1
        if percent is not None and percent > 100:
            cells[-1] = self.glyphs.beyond
        line: Line = [(self.glyphs.edges[0], "dim")]
        start = 0
        for mark in (*marks, self.cells):
            line.append(("".join(cells[start : min(max(start, full), mark)]), self._style(percent)))
            line.append(("".join(cells[min(max(start, full), mark) : mark]), "dim"))
            if mark < self.cells:
                line.append((self.glyphs.mark, "mark"))
            start = mark + 1
        line.append((self.glyphs.edges[1], "dim"))
        return [piece for piece in line if piece[0]]

    def _number(self, tokens: int) -> str:
        return str(tokens) if self.width is None else f"{tokens:,}"

    def _marks(self) -> tuple[int, int]:
        """The cells of the two thresholds; never the same one."""
        first = FIRST_PERCENT * self.cells // 100
        return first, max(first + 1, self.second * self.cells // 100)

    def _style(self, percent: int | None) -> str:
        """The style of a percent: how far it has gone past the thresholds."""
        if percent is None or percent < FIRST_PERCENT:
            return "low"
        return "first" if percent < self.second else "handover"
