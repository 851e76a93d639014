"""Documents with a skeleton of headings: markdown, reStructuredText, pages of HTML."""

import re

from ..look import Look
from .code import is_code
from .keyed import is_keyed

_HEADINGS = 2
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+\S")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,}|~{3,}|\^{3,}|\"{3,}|\*{3,}|\+{3,}|#{3,}|`{3,})\s*")
_HTML = re.compile(r"<(?:!DOCTYPE html|html|head|body|h[1-6]|article|main|section)\b", re.IGNORECASE)
_FENCE = re.compile(r"\s{0,12}(?:```|~~~)")


def is_markup(seen: Look, text: bytes) -> bool:
    """Whether headings divide it, and what stands between them is no program."""
    spaced = _outside_fences(seen.spaced)
    lines = [line for line in spaced if line.strip()]
    if not lines:
        return False
    if any(_HTML.match(line.lstrip()) for line in lines[:5]):
        return sum("<" in line for line in lines) > len(lines) * 0.3
    atx = sum(bool(_ATX.match(line)) for line in lines)
    above = ["", *spaced]
    underlined = sum(map(_is_title, above, spaced, spaced[1:]))
    if atx + underlined < _HEADINGS or (atx > len(lines) * 0.6 and not underlined):
        return False
    # Comments of a script look like headings; the lines around them do not.
    others = [line for line in lines if not _ATX.match(line) and not _UNDERLINE.fullmatch(line)]
    rest = seen._replace(lines=others)
    return not (is_code(rest, text) or is_keyed(rest, text))


def _is_title(above: str, title: str, line: str) -> bool:
    """A line alone, with an underline about as long as itself."""
    if not _UNDERLINE.fullmatch(line) or not title[:1].strip() or title[0] in "-=|+":
        return False
    if above.strip() and not _UNDERLINE.fullmatch(above):
        return False
    return 0.6 * len(title) <= len(line.strip()) + 2 and len(title) < 120


def _outside_fences(lines: list[str]) -> list[str]:
    outside, fenced = [], False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            outside.append(line)
    return outside
