"""What stands outside the code fences of a document.

Rule (rules.md 8): what a document quotes says nothing of what it is itself.
"""

import re

from ..look import Look

#: More of them are the underline of a title.
_FENCE = re.compile(r"\n[ \t]{0,12}+(?:`{3,4}+(?!`)|~{3,4}+(?!~))([^\n]*+)")


def outside_fences(seen: Look) -> str:
    """The page of `seen` without what stands in a fence."""
    if not ("`" in seen.page and "```" in seen.page) and not ("~" in seen.page and "~~~" in seen.page):
        return seen.page
    return _outside(seen.page[: seen.tail_at]) + _outside(seen.page[seen.tail_at :])


def _outside(page: str) -> str:
    fences = list(_FENCE.finditer(page))
    # Only a mark that opens names a language. Where one does that would close, the first one closes what was open.
    fenced = any(fence[1] for fence in fences[1::2])
    outside, at = "", 0
    for fence in fences:
        outside += "" if fenced else page[at : fence.start()]
        fenced, at = not fenced, fence.end()
    return outside if fenced else outside + page[at:]
