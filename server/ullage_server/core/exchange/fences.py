"""What stands outside the code fences of a document.

Rule (rules.md 8): what a document quotes says nothing of what it is itself.
"""

import re

#: More of them are the underline of a title.
_FENCE = re.compile(r"\n[ \t]{0,12}+(?:`{3,4}+(?!`)|~{3,4}+(?!~))([^\n]*+)")


def outside_fences(page: str) -> str:
    """`page`, each line behind a line feed, without what stands in a fence."""
    if not ("`" in page and "```" in page) and not ("~" in page and "~~~" in page):
        return page
    fences = list(_FENCE.finditer(page))
    # Only a mark that opens names a language. Where one does that would close, the first one closes what was open.
    fenced = any(fence[1] for fence in fences[1::2])
    outside, at = "", 0
    for fence in fences:
        outside += "" if fenced else page[at : fence.start()]
        fenced, at = not fenced, fence.end()
    return outside if fenced else outside + page[at:]
