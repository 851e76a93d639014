"""What stands outside the code fences of a document.

Rule (rules.md 8): what a document quotes says nothing of what it is itself.
"""

import re

from ..look import Look

#: More of them are the underline of a title.
_FENCE = re.compile(r"\s{0,12}+(?:`{3,4}(?!`)|~{3,4}(?!~))")


def outside_fences(seen: Look) -> list[str]:
    """The lines of `seen`, blank ones too, that stand in no fence."""
    return _outside(seen.spaced[: seen.tail_at]) + _outside(seen.spaced[seen.tail_at :])


def _outside(lines: list[str]) -> list[str]:
    marks = [line.strip() for line in lines if _FENCE.match(line)]
    # Only a mark that opens names a language. Where one does that would close, the first one closes what was open.
    fenced = any(len(mark) > len("```") for mark in marks[1::2])
    outside: list[str] = []
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            outside.append(line)
    return outside
