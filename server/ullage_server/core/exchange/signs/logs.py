"""Logs: lines that are records of what a program did: of servers, tests, builds, package managers, searches."""

import re

from ..look import Look, as_told, count
from .records import found, is_search

#: How many lines at either end may hold what opens or closes a report.
_ENDS = 6
#: How many lines make a list.
_ROWS = 3
_COMMIT = re.compile(r"\n(?:\* )?commit [0-9a-f]{7,40}\b")
_FRAME = re.compile(r"\n(?:[ \t]++(?:at \S|File \"|-->|[|│] ++[\^~])|-->|[ \t>]*+\d{1,5}+ *+[|│]|(?:E|>) {2})")
_LABEL = re.compile(r"\n\[[\w:./@-]{1,40}+\]\s++\S")
_PATH = re.compile(r"\n[ \t]*+[│├└─ |`+\u00a0-]*+[\w.@+~#,=\[\]()/ -]++$", re.MULTILINE)
#: A name of a file or of a test, and what joins its parts.
_NAME = re.compile(r"\n[\w@.][\w.@+~:\[\]-]*+[/*@]?$", re.MULTILINE)
_JOINT = re.compile(r"(?:\.(?<=\w\.)\w|-(?<=\w-)\w|_(?<=\w_)\w|::(?<=\w::)\w)[^\n]*+")
#: A path has a folder or an ending.
_DEEP = re.compile(r"(?:/|\.(?<=\w\.)\w{1,8}+$)[^\n]*+", re.MULTILINE)


def is_log(seen: Look, text: bytes) -> bool:
    """Whether it is a report of a run, or most lines are records, or what a search or a listing finds."""
    lines, told = seen.lines, seen.told
    if len(lines) < 2:
        return False
    return (
        _is_report(seen)
        or bool(_COMMIT.match(told))
        or (told.count("\n[") >= len(lines) * 0.6 and count(_LABEL, told) >= len(lines) * 0.6)
        or (len(lines) >= 4 and count(_FRAME, told) >= len(lines) * 0.4)
        or is_search(told)
        or _is_files(seen)
    )


def _is_report(seen: Look) -> bool:
    """Whether records are most of it, or what only a report of a run has is at both ends, or all through it."""
    lines = seen.said.split("\n")[1:]
    runs, records = found(seen.said)
    if runs < 2 or records >= len(lines) * 0.5:
        return records >= max(len(lines) * 0.5, 1)
    at_ends = found(as_told(lines[:_ENDS])).runs and found(as_told(lines[-_ENDS:])).runs
    return runs >= len(lines) * (0.04 if at_ends else 0.12)


def is_loose_log(seen: Look, text: bytes) -> bool:
    """Whether some lines are records, among what they tell of in words of their own."""
    return len(seen.lines) >= 5 and found(seen.told).records >= max(len(seen.lines) * 0.12, 3)


def _is_files(seen: Look) -> bool:
    """A list of files or of tests: one a line, by their bare names, or by paths with a folder or an ending."""
    number, told = len(seen.lines), seen.told
    if number < _ROWS or len(told.split()) > number * 2.5:
        return False
    if count(_PATH, told) >= number * 0.9 and count(_DEEP, told) >= number * 0.6:
        return True
    return number >= 5 and count(_NAME, told) >= number * 0.95 and count(_JOINT, told) >= number * 0.3
