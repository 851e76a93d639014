"""Tables: rows of the same columns, whatever parts them."""

import csv
import re
from collections import Counter

from ..look import Look
from .logs import records

#: How many rows make a table.
_ROWS = 3
_LS = re.compile(r"(?:total \d|[-dlbcps][-rwxsStT]{9}[.+@]? +\d)")
_BOX = frozenset("│┃║┌┐└┘├┤┬┴┼─━═╔╗╚╝╠╣╦╩╬╭╮╰╯")
_RULE = re.compile(r"\s*(?:[-=]{2,} {1,40}){1,40}[-=]{2,}\s*")
_GAP = re.compile(r"(?<=\S)(?: {2,}|\t+)(?=\S)")


def is_table(seen: Look, text: bytes) -> bool:
    """Whether most lines are rows."""
    lines = seen.lines
    if len(lines) < _ROWS:
        return False
    rows = (
        sum(line.strip().startswith("|") and line.count("|") >= 3 for line in lines),
        sum(line.strip()[0] in _BOX for line in lines) if not _is_tree(lines) else 0,
        sum(bool(_LS.match(line)) for line in lines),
        sum(line.strip().startswith(("|", "+-", "+=")) for line in lines),
    )
    return max(rows) >= len(lines) * 0.8 or _is_separated(lines) or _is_aligned(lines)


def _is_tree(lines: list[str]) -> bool:
    """A tree of files has branches, and no row of it is closed."""
    return sum(line.lstrip(" │\u00a0").startswith(("├─", "└─")) for line in lines) >= len(lines) * 0.5


def _is_separated(lines: list[str]) -> bool:
    """Rows of as many fields each, parted by tabs, semicolons or commas."""
    for mark, least in (("\t", 1), (";", 2), (",", 2)):
        if sum(mark in line for line in lines) < len(lines) * 0.85:
            continue
        fields, rows = Counter(_fields(line, mark) for line in lines).most_common(1)[0]
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
    if mark == "\t":
        return sum(line.startswith("\t") for line in lines) > len(lines) * 0.3 or _is_record(lines)
    spaced = sum(line.count(mark + " ") for line in lines)
    marks = sum(line.count(mark) for line in lines)
    ended = sum(line.rstrip().endswith(("{", "}", "(", ")", mark)) for line in lines)
    return spaced > marks * 0.6 or ended > len(lines) * 0.4


def _is_aligned(lines: list[str]) -> bool:
    """Columns under one another: cells that begin where those of other lines begin."""
    gaps = [list(_GAP.finditer(line)) for line in lines]
    if any(_RULE.fullmatch(line) for line in lines[:3]) and sum(map(bool, gaps)) >= len(lines) * 0.7:
        return not _is_record(lines)
    starts = [frozenset(gap.end() for gap in found) for found in gaps]
    columns = Counter(place for line in starts for place in line)
    shared = {place for place, rows in columns.items() if rows >= len(lines) * 0.5}
    rows = sum(len(line & shared) >= 2 for line in starts)
    indented = sum(line[0] in " \t" for line in lines)
    return rows >= len(lines) * 0.75 and indented < len(lines) * 0.5 and not _is_record(lines)
