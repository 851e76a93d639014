"""Documents with a skeleton of headings: markdown, reStructuredText, pages of HTML."""

import re

from ..look import Look
from .code import is_program, is_statement
from .keyed import is_settings

_HEADINGS = 2
#: Lines of marks and words, one below the other.
_ATX = re.compile(r"\n {0,3}+(#{1,6})[ \t]++\S[^\n]*+(\n {0,3}+#{1,6}[ \t]++\S[^\n]*+)*+")
#: A rule may be the underline of the line above it.
_UNDERLINE = re.compile(r"\n([=~^\"*+#`-])\1\1++[ \t]*+$", re.MULTILINE)
_HTML = re.compile(r"<(?:!DOCTYPE html|html|head|body|h[1-6]|article|main|section)\b", re.IGNORECASE)
#: What a document quotes within a line, and what opens an item of a list, a row or a tag.
_QUOTED = re.compile(r"`[^`\n]{1,200}`|\]\([^)\s]{1,200}\)")
_DIRECTIVE = re.compile(r"\n\.\. (?:[\w-]{1,40}:)?[\w-]{1,40}::")
#: What a directive holds steps in.
_HELD = re.compile(r"\n(?:[ \t]|\.\. )[^\n]*+")
_ITEM = re.compile(r"\n(?:(?:[*+-]|\d{1,3}[.)]) |\||[ \t]*+<)[^\n]*+")


def is_markup(seen: Look, text: bytes) -> bool:
    """Whether headings divide it, and what stands between them is no program."""
    if any(_HTML.match(line.lstrip()) for line in seen.lines[:5]):
        return sum("<" in line for line in seen.lines) > len(seen.lines) * 0.3
    page = seen.outside
    headings = sum(_is_heading(found, page) for found in _ATX.finditer(page)) if "#" in page else 0
    if headings + sum(_is_title(found, page) for found in _UNDERLINE.finditer(page)) < _HEADINGS:
        return False
    # Comments of a script look like headings; the lines around them do not.
    told = _UNDERLINE.sub("", _ATX.sub("", seen.said))
    if is_settings(told, told):
        return False
    if _DIRECTIVE.search(told):
        told = _HELD.sub("", told)
    return not is_program(_QUOTED.sub("", _ITEM.sub("", told)))


def _is_heading(found: re.Match[str], page: str) -> bool:
    """A line of marks and words that is none of several comments; below a lone mark stands no program."""
    if len(found[1]) > 1 or found[2]:
        return len(found[1]) > 1
    start = found.end()
    end = page.find("\n", start + 1)
    end = end if end >= 0 else len(page)
    return not page[start:end].strip() or (_is_below_blank(found, page) and not is_statement(page, start, end))


def _is_title(found: re.Match[str], page: str) -> bool:
    """A line alone, with an underline about as long as itself."""
    start = page.rfind("\n", 0, found.start())
    title = page[start + 1 : found.start()]
    above = page[max(page.rfind("\n", 0, max(start, 0)), 0) : max(start, 0)]
    return (
        bool(title[:1].strip())
        and title[0] not in "-=|+"
        and (not above.strip() or bool(_UNDERLINE.fullmatch(above)))
        and 0.6 * len(title) <= len(found[0].strip()) + 2
        and len(title) < 120
    )


def _is_below_blank(found: re.Match[str], page: str) -> bool:
    return not page[page.rfind("\n", 0, max(found.start(), 0)) + 1 : found.start()].strip()
