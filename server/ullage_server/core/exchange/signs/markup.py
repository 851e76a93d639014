"""Documents with a skeleton of headings: markdown, reStructuredText, pages of HTML."""

import re

from ..look import Look
from .code import is_code, is_statement
from .fences import outside_fences
from .keyed import is_keyed

_HEADINGS = 2
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+\S")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,}|~{3,}|\^{3,}|\"{3,}|\*{3,}|\+{3,}|#{3,}|`{3,})\s*")
_HTML = re.compile(r"<(?:!DOCTYPE html|html|head|body|h[1-6]|article|main|section)\b", re.IGNORECASE)
#: What a document quotes within a line, and what opens an item of a list, a row or a tag.
_QUOTED = re.compile(r"`[^`]{1,200}`|\]\([^)\s]{1,200}\)")
_DIRECTIVE = re.compile(r"\.\. (?:[\w-]{1,40}:)?[\w-]{1,40}::")
_ITEM = re.compile(r"(?:[*+-]|\d{1,3}[.)]) |\||\s*+<")


def is_markup(seen: Look, text: bytes) -> bool:
    """Whether headings divide it, and what stands between them is no program."""
    spaced = outside_fences(seen)
    lines = [line for line in spaced if line.strip()]
    if not lines:
        return False
    if any(_HTML.match(line.lstrip()) for line in lines[:5]):
        return sum("<" in line for line in lines) > len(lines) * 0.3
    above = ["", *spaced]
    atx = sum(map(_is_heading, above, spaced, [*spaced[1:], ""]))
    underlined = sum(map(_is_title, above, spaced, spaced[1:]))
    if atx + underlined < _HEADINGS:
        return False
    # Comments of a script look like headings; the lines around them do not.
    others = [line for line in lines if not _ATX.match(line) and not _UNDERLINE.fullmatch(line)]
    if is_keyed(seen._replace(lines=others), text):
        return False
    if any(map(_DIRECTIVE.match, others)):
        # What a directive holds steps in.
        others = [line for line in others if line[0] not in " \t" and not line.startswith(".. ")]
    told = [_QUOTED.sub("", line) for line in others if not _ITEM.match(line)]
    return not is_code(seen._replace(lines=[line for line in told if line.strip()]), text)


def _is_heading(above: str, line: str, below: str) -> bool:
    """A line of marks and words that is none of several comments; below a lone mark stands no program."""
    found = _ATX.match(line)
    if found is None or _ATX.match(above) or (_ATX.match(below) and len(found[1]) == 1):
        return False
    return len(found[1]) > 1 or not below.strip() or not (above.strip() or is_statement(below))


def _is_title(above: str, title: str, line: str) -> bool:
    """A line alone, with an underline about as long as itself."""
    if not _UNDERLINE.fullmatch(line) or not title[:1].strip() or title[0] in "-=|+":
        return False
    if above.strip() and not _UNDERLINE.fullmatch(above):
        return False
    return 0.6 * len(title) <= len(line.strip()) + 2 and len(title) < 120
