"""What harnesses put around a text: line numbers, tags, notes before and behind it.

Rule (rules.md 8): real material is told right. What stands around a text says nothing of what it is.
"""

import re
from itertools import pairwise

#: A line number in front of a line: `cat -n`, `nl`, an arrow, a colon, a bar.
_NUMBERED = re.compile(r"\n {0,8}+([0-9]{1,7}+)(?:\t|→| {0,2}+[|│]|:(?![0-9]))")
#: Such numbers with a blank behind each, which is theirs; and numbers whose line has none.
_APART = re.compile(_NUMBERED.pattern + " ?")
_CLOSE = re.compile(r"\n {0,8}+[0-9]{1,7}+(?:[\t→]| {0,2}+[|│:][^ \n])")
#: A line that is not blank.
_FULL = re.compile(r"\n[ \t]*+[^\s]")
#: Tags around a note that is the harness's own.
_NOTE = re.compile(r"\n[ \t]*+<(system[-_]reminder|system|usage|reminder|note|warning|metadata)\b[^>\n]{0,80}+>")
#: Tags that stand around what a tool gave, alone on their line or with a short value, and notes of one line.
_AROUND = re.compile(
    r"\n[ \t]*+(?:</?(?:output|stdout|stderr|returncode|results?|file|files|content|contents|error|document"
    r"|tool_result)\b[^>\n]{0,200}+>[ \t]*+(?:-?\d{1,4}</returncode>)?"
    r"|<(path|type|exit_code|returncode|name)>[^<\n]{0,300}+</\1>"
    r"|(?:Chunk ID|Wall time|Process exited with code|Original token count|Total output lines|Exit code"
    r"|Command exited with code|agentId|task_id|duration_ms|exit code|Duration)\b ?:? ?\S{0,40}+[^\n]{0,60}+"
    r"|Output:|Here's the result of running [^\n]{0,240}+"
    r"|[(\[](?:End of file|Results? (?:is|are) truncated|Output (?:was )?truncated|Showing|File has)\b"
    r"[^\n]{0,200}+)[ \t]*+$",
    re.MULTILINE,
)
#: How near to an end of a text such lines, and the first number, are, and how long a note may be, in characters.
_NEAR, _LONGEST = 600, 4000
#: How much of a text tells whether its lines are numbered, in characters.
_ENOUGH = 3000


def bare(begun: str, ended: str) -> tuple[str, str]:
    """A text's beginning and end, each line behind a line feed, without what was put around them."""
    begun, ended = _unwrapped(begun), _unwrapped(ended)
    if not _NUMBERED.search(begun, 0, _NEAR) or not _is_numbered(begun[:_ENOUGH]):
        return begun, ended
    number = _NUMBERED if _CLOSE.search(begun + ended) else _APART
    return _unwrapped(number.sub("\n", begun)), _unwrapped(number.sub("\n", ended))


def _is_numbered(page: str) -> bool:
    """Whether the lines carry numbers that rise one by one, most of them; few lines all of them, from 1."""
    numbers = list(map(int, _NUMBERED.findall(page)))
    rising = sum(after == before + 1 for before, after in pairwise(numbers))
    full = len(_FULL.findall(page))
    few = 0 < full <= 3 and numbers[:1] == [1] and rising == full - 1
    return few or (rising >= 3 and rising * 10 >= full * 7)


def _unwrapped(page: str) -> str:
    """`page` without tags that only wrap, and without notes."""
    if "<" in page and "</" in page:
        page = _unnoted(page)
    if _AROUND.search(page, 0, _NEAR):
        page = _AROUND.sub("", page[:_NEAR]) + page[_NEAR:]
    if len(page) > _NEAR and _AROUND.search(page, len(page) - _NEAR):
        page = page[:-_NEAR] + _AROUND.sub("", page[-_NEAR:])
    return page


def _unnoted(page: str) -> str:
    """`page` without the notes that stand between tags."""
    kept, end = "", 0
    for note in _NOTE.finditer(page):
        closing = page.find(f"</{note[1]}>", note.start(), note.start() + _LONGEST)
        if note.start() >= end and closing >= 0:
            kept += page[end : note.start()]
            end = page.find("\n", closing)
            end = end if end >= 0 else len(page)
    return kept + page[end:]
