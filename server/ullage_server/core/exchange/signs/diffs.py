"""Patches: unified diffs, with or without a header of a commit or a mail before them."""

import re

from ..look import Look, count

_HUNK = re.compile(r"\n@@ -\d{1,9}(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@")
_FILE = re.compile(r"\n(?:diff --(?:git|cc|combined) |diff -[a-zA-Z]|Index: \S|--- \S|\+\+\+ \S)")
_LINE = re.compile(r"\n(?=[^\n])")
#: A line of a patch; what it has for an empty line may have lost its blank.
_SIGNED = re.compile(r"\n(?=[+\- @\\]|diff -|Index: |index )")


def is_diff(seen: Look, text: bytes) -> bool:
    """Whether hunks are there, whose lines open with a sign or a blank, and make most of what follows."""
    told = seen.page
    if not ("@" in told and "\n@@ -" in told) and "\ndiff --git " not in told:
        return False
    file = _FILE.search(told)
    if file is None:
        return False
    hunk = _HUNK.search(told)
    if hunk is None:
        # Renames, modes and binary files have no hunks.
        return file[0].startswith("\ndiff --git ") and told.count("\n", 0, file.start()) < 40
    body = told[min(file.start(), hunk.start()) :]
    lines = count(_LINE, body)
    return count(_SIGNED, body) >= lines * 0.9 and lines >= count(_LINE, told) * 0.3
