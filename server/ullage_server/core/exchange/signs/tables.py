"""Tables: rows of the same columns, whatever parts them."""

import csv
import re
from collections import Counter

from ..look import Look
from .logs import records

#: How many rows make a table.
_ROWS = 3
#: Up to this many, chance sets blanks under one another.
_FEW = 5
_LS = re.compile(r"(?:total \d|[-dlbcps][-rwxsStT]{9}[.+@]? +\d)")
_BOX = frozenset("│┃║┌┐└┘├┤┬┴┼─━═╔╗╚╝╠╣╦╩╬╭╮╰╯")
_BARRED = re.compile(r"\s*+\|.*\|\s*+$")
_RULE = re.compile(r"\s*+(?:[-=]{2,} {1,40}){1,40}[-=]{2,}\s*")
_GAP = re.compile(r"(?<=\S)(?: {2,}|\t+)(?=\S)")


def is_table(seen: Look, text: bytes) -> bool:
    """Whether most lines are rows."""
    lines = seen.lines
    if len(lines) < _ROWS:
        return bool(lines) and all(map(_LS.match, lines))
    rows = (
        sum(line.strip().startswith("|") and line.count("|") >= 3 for line in lines),
        sum(line.strip()[0] in _BOX for line in lines) if not _is_tree(lines) else 0,
        sum(bool(_LS.match(line)) for line in lines),
        sum(line.strip().startswith(("+-", "+=")) or bool(_BARRED.match(line)) for line in lines),
    )
    return max(rows) >= len(lines) * 0.8 or _is_separated(lines) or _is_aligned(lines)


def _is_tree(lines: list[str]) -> bool:
    """A tree of files has branches, and no row of it is closed."""
    return sum(line.lstrip(" │\u00a0").startswith(("├─", "└─")) for line in lines) >= len(lines) * 0.5


def _is_separated(lines: list[str]) -> bool:
    """Rows of as many fields each, parted by tabs, bars, semicolons or commas."""
    for mark, least in (("\t", 1), ("|", 2), (";", 2), (",", 2)):
        if sum(mark in line for line in lines) < len(lines) * 0.85:
            continue
        counts = [_fields(line, mark) for line in lines]
        fields, rows = Counter(counts).most_common(1)[0]
        if counts[0] == max(counts) > least + 1:
            # Under a head of all names a row may lack its last fields.
            rows = sum(least < count for count in counts)
            fields = counts[0]
        if fields > least and rows >= len(lines) * 0.85 and not _is_no_row(lines, mark):
            return True
    return False


def _is_record(lines: list[str]) -> bool:
    return records(lines) >= len(lines) * 0.5


def _fields(line: str, mark: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=mark), ()))
    except csv.Error:
        return 0


def _is_no_row(lines: list[str], mark: str) -> bool:
    """Commas of a sentence have a blank behind them, code ends its lines with its own signs; a log has records."""
    if mark in "\t|":
        return sum(line.startswith(mark) for line in lines) > len(lines) * 0.3 or _is_record(lines)
    spaced = sum(line.count(mark + " ") for line in lines)
    marks = sum(line.count(mark) for line in lines)
    ended = sum(line.rstrip().endswith(("{", "}", "(", ")", mark)) for line in lines)
    return spaced > marks * 0.6 or ended > len(lines) * 0.4


def _is_aligned(lines: list[str]) -> bool:
    """Columns under one another: blanks that run down through all rows, and words on both sides of them."""
    gaps = [list(_GAP.finditer(line)) for line in lines]
    if any(_RULE.fullmatch(line) for line in lines[:3]) and sum(map(bool, gaps)) >= len(lines) * 0.7:
        return not _is_record(lines)
    parted = sum(map(bool, gaps)) >= len(lines) * 0.75
    return parted and _rivers(lines) >= (2 if len(lines) > _FEW else 3) and not _is_record(lines)


def _rivers(lines: list[str]) -> int:
    """How many columns of blanks nearly all lines share, behind their first word and before their last."""
    rows = [line.expandtabs() for line in lines]
    # One line in ten may be a title or a total.
    needed = len(rows) - (len(rows) + 3) // 10
    blank = Counter(at for row in rows for at in range(len(row) - len(row.lstrip()), len(row)) if row[at] == " ")
    inside = Counter(at for row in rows for at in range(len(row.rstrip())))
    begun = Counter(len(row) - len(row.lstrip()) for row in rows)
    rivers, flows, started = 0, False, 0
    for at in range(max(map(len, rows))):
        started += begun[at]
        # Where a row has ended it is blank.
        empty = blank[at] + len(rows) - inside[at] - (len(rows) - started)
        flowing = started >= needed and inside[at] >= len(rows) * 0.5 and empty >= needed
        rivers += flowing and not flows
        flows = flowing
    return rivers
