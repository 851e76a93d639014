"""Tables: rows of the same columns, whatever parts them."""

import csv
import re
from collections import Counter

from ..look import Look, count
from .records import found, is_search

#: How many rows make a table.
_ROWS = 3
#: Up to this many, chance sets blanks under one another.
_FEW = 5
_LS = re.compile(r"\n(?:total \d|[-dlbcps][-rwxsStT]{9}[.+@]? +\d)")
#: Rows between bars, and rows of a frame that is drawn with signs or with lines.
_BARRED = re.compile(r"\n[ \t]*+\|[^\n|]*+\|[^\n|]*+\|")
_FRAMED = re.compile(r"\n[ \t]*+(?:\+[-=]|\|[^\n]*+(?<=\|))")
_DRAWN = re.compile(r"\n[ \t]*+[│┃║┌┐└┘├┤┬┴┼─━═╔╗╚╝╠╣╦╩╬╭╮╰╯]")
#: A tree of files has branches, and no row of it is closed.
_BRANCH = re.compile(r"\n[ │\u00a0]*+[├└]─")
_RULE = re.compile(r"\s*+(?:[-=]{2,}+ {1,40}+){1,40}+[-=]{2,}+")
#: Behind what a line begins with.
_GAP = re.compile(r"(?:  |\t)[^\n]*+")
#: For each character: 1 where it is a blank, else 0.
_BLANK = bytes(byte == ord(" ") for byte in range(256))


def is_table(seen: Look, text: bytes) -> bool:
    """Whether most lines are rows."""
    lines, told = seen.lines, seen.told
    if len(lines) < _ROWS:
        return count(_LS, told) == len(lines)
    most = len(lines) * 0.8
    return (
        count(_LS, told) >= most
        or ("|" in told and max(count(_BARRED, told), count(_FRAMED, told)) >= most)
        or (not told.isascii() and count(_DRAWN, told) >= most and count(_BRANCH, told) < len(lines) * 0.5)
        or _is_separated(seen)
        or _is_aligned(seen)
    )


def _is_separated(seen: Look) -> bool:
    """Rows of as many fields each, parted by tabs, bars, semicolons or commas."""
    lines = seen.lines
    for mark, least in (("\t", 1), ("|", 2), (";", 2), (",", 2)):
        if seen.told.count(mark) < len(lines) * least * 0.85 or not _is_row(seen, mark):
            continue
        counts = [_fields(line, mark) for line in lines]
        fields, rows = Counter(counts).most_common(1)[0]
        if counts[0] == max(counts) > least + 1:
            # Under a head of all names a row may lack its last fields.
            rows = sum(least < number for number in counts)
            fields = counts[0]
        if fields > least and rows >= len(lines) * 0.85 and not (mark in "\t|" and _is_record(seen)):
            return True
    return False


def _is_record(seen: Look) -> bool:
    """Records of a log, and the lines a search found, may be lined up as rows are."""
    return found(seen.told).records >= len(seen.lines) * 0.5 or is_search(seen.told)


def _fields(line: str, mark: str) -> int:
    if '"' not in line:
        return line.count(mark) + 1
    try:
        return len(next(csv.reader([line], delimiter=mark), ()))
    except csv.Error:
        return 0


def _is_row(seen: Look, mark: str) -> bool:
    """Commas of a sentence have a blank behind them, code opens with blanks and ends its lines with its signs."""
    if mark in "\t|":
        return seen.told.count("\n" + mark) <= len(seen.lines) * 0.3
    if seen.told.count(mark + " ") > seen.told.count(mark) * 0.6:
        return False
    return sum(line.endswith(("{", "}", "(", ")", mark)) for line in seen.lines) <= len(seen.lines) * 0.4


def _is_aligned(seen: Look) -> bool:
    """Columns under one another: blanks that run down through all rows, and words on both sides of them."""
    lines = seen.lines
    parted = count(_GAP, "\n".join(map(str.lstrip, lines)))
    if any(map(_RULE.fullmatch, lines[:3])) and parted >= len(lines) * 0.7:
        return not _is_record(seen)
    if parted < len(lines) * 0.75 or _is_record(seen):
        return False
    return _rivers(lines) >= (2 if len(lines) > _FEW else 3)


def _rivers(lines: list[str]) -> int:
    """How many columns of blanks nearly all lines share, behind their first word and before their last.

    Where a row has ended it is blank.
    """
    rows = [line.expandtabs() for line in lines]
    # One line in ten may be a title or a total.
    needed = len(rows) - (len(rows) + 3) // 10
    width = max(map(len, rows))
    blank = _by_column([_blanks(row).ljust(width, b"\1") for row in rows], width)
    inside = _by_column([b"\1" * len(row) for row in rows], width)
    flowing = [empty >= needed and full >= len(rows) * 0.5 for empty, full in zip(blank, inside, strict=True)]
    return sum(flows and not before for before, flows in zip([False, *flowing], flowing, strict=False))


def _blanks(row: str) -> bytes:
    """1 for each blank of `row` behind its first word, else 0."""
    words = row.lstrip()
    return b"\0" * (len(row) - len(words)) + words.encode("ascii", "replace").translate(_BLANK)


def _by_column(rows: list[bytes], width: int) -> bytes:
    """The sums of fewer than 256 `rows` of ones and zeros, column by column: one sum of large numbers does it."""
    return sum(int.from_bytes(row, "little") for row in rows).to_bytes(width, "little")
