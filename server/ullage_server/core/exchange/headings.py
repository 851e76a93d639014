"""Where a document's headings stand.

Rule (rules.md 8): of markup the headings are the skeleton. A heading is a line of markdown with `#`, a title with
its underline (markdown's and reStructuredText's, there with the line above it), or HTML's <h1> to <h6>; each
whole, with its line end. What stands in a code fence is none, and an unclosed fence reaches to the end. Numbers
that a listing puts before its lines change nothing.

A look takes time by the length of the text and not more: no pattern here can go back on what it took.
"""

import re
from collections.abc import Iterator
from itertools import islice

#: How long a title with an underline, or an HTML heading, may be in bytes; a longer one is no heading.
LONGEST = 500
#: How many lines that may belong to a heading or fence are looked at; what comes later is body.
MOST = 1 << 16

#: A line's number, as `cat -n` and agents' reading tools write it.
_NUMBER = rb"(?: *+[0-9]{1,7}+(?:\t|\xe2\x86\x92|[:|] ?+))?+"
# It starts with the line end before the line, so that the search jumps from one to the next.
_CANDIDATE = re.compile(
    rb"\n(?=[^\n])" + _NUMBER + rb"(?:"
    rb" {0,3}+(?P<underline>(?P<mark>[=\-~^\"'*+#_])(?P=mark){2,}+)[ \t\r]*+(?=\n|\Z)"
    rb"|[ \t]*+(?P<fence>`{3,}+|~{3,}+)"
    rb"| {0,3}+(?P<hashes>\#{1,6}+)[ \t]++(?=[^\s])"
    rb"|[ \t]*+<[hH][1-6](?=[\s>]))"
    rb"|>(?P<inner><[hH][1-6])(?=[\s>])"
)
_NUMBERED = re.compile(_NUMBER)
_CLOSING = re.compile(rb"</[hH][1-6]\s*+>(?:\r?+\n)?+")

#: What can't open a title: a quote, a table's row, a tag, an item of a list, a fence.
_NO_TITLE = (b">", b"|", b"<", b"- ", b"* ", b"+ ", b"```", b"~~~")
_MARKS = b"=-~^\"'*+#_ \t\r"


def headings(text: bytes) -> Iterator[tuple[int, int]]:
    """Each heading of `text`, in order: its first byte, and the one behind its line end."""
    # A line end in front makes the first line like all others; every place is moved by it.
    lines = b"\n" + text
    for start, end in _headings(lines):
        yield start - 1, end - 1


def _headings(lines: bytes) -> Iterator[tuple[int, int]]:
    fence = b""
    behind = 1  # the last heading
    for found in islice(_CANDIDATE.finditer(lines), MOST):
        start = found.start() + 1
        if start < behind:
            continue
        marks = found["fence"] or found["underline"]
        if fence:
            # It is closed by at least as many marks with nothing behind them.
            if marks and marks.startswith(fence) and not _rest(lines, found.end()).strip():
                fence = b""
            continue
        heading = None
        if found["underline"]:
            heading = _underlined(lines, start, marks, behind)
            if heading is None and marks[:1] == b"~":
                fence = marks
        elif found["fence"]:
            # Backticks with more of them behind are code in a line of text.
            if marks[:1] == b"~" or b"`" not in _rest(lines, found.end()):
                fence = marks
        elif found["hashes"]:
            heading = start
        elif closing := _CLOSING.search(lines, found.end(), found.end() + LONGEST):
            yield start, closing.end()
            behind = closing.end()
        if heading is not None:
            behind = lines.find(b"\n", found.end()) + 1 or len(lines)
            yield heading, behind


def _rest(lines: bytes, at: int) -> bytes:
    """What stands behind `at` in its line."""
    end = lines.find(b"\n", at)
    return lines[at:] if end < 0 else lines[at:end]


def _underlined(lines: bytes, line: int, underline: bytes, behind: int) -> int | None:
    """Where the heading starts whose underline is the line at `line`; None where no title stands above it."""
    start = _line_before(lines, line, behind)
    if start is None:
        return None
    title = _unnumbered(lines, start, line)
    if not title.strip(_MARKS) or title.startswith(_NO_TITLE):
        return None
    mark = underline[:1]
    # Only = and - may be shorter than their title, and are markdown's.
    if mark not in b"=-" and len(underline) < max(len(title.decode(errors="replace")), 4):
        return None
    above = _line_before(lines, start, behind)
    if above is not None:
        overline = _unnumbered(lines, above, start)
        if len(overline) >= len(underline) and not overline.strip(mark):
            return above
    return start


def _line_before(lines: bytes, line: int, behind: int) -> int | None:
    """Where the line before the one at `line` starts; None where it is too long or part of the last heading."""
    start = lines.rfind(b"\n", max(line - 2 - LONGEST, 0), line - 1) + 1
    return start if start >= behind else None


def _unnumbered(lines: bytes, start: int, end: int) -> bytes:
    """The line from `start` to `end` without its number and the blanks around it."""
    number = _NUMBERED.match(lines, start)
    return lines[number.end() if number else start : end].strip()
