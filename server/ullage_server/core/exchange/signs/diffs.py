"""Patches: unified diffs, with or without a header of a commit or a mail before them."""

import re

from ..look import Look

_HUNK = re.compile(r"@@ -\d{1,9}(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@")
_FILE = re.compile(r"diff --(?:git|cc|combined) |diff -[a-zA-Z]|Index: \S|--- \S|\+\+\+ \S")


def is_diff(seen: Look, text: bytes) -> bool:
    """Whether hunks are there, whose lines open with a sign or a blank, and make most of what follows."""
    first = next((number for number, line in enumerate(seen.lines) if _HUNK.match(line)), None)
    files = [number for number, line in enumerate(seen.lines) if _FILE.match(line)]
    if first is None or not files:
        # Renames, modes and binary files have no hunks.
        return bool(files) and seen.lines[files[0]].startswith("diff --git ") and files[0] < 40
    body = seen.lines[min(first, files[0]) :]
    signed = sum(line[0] in "+- @\\" or bool(_FILE.match(line)) or line.startswith("index ") for line in body)
    return signed >= len(body) * 0.9 and len(body) >= len(seen.lines) * 0.3
