"""Running text."""

import re

from ..look import Look

#: Letters of any script, and pictures that stand for words.
_WORD = re.compile(r"[^\W\d_]+|[\U0001f300-\U0001faff]+")
_END = re.compile(r"[.!?…:;,][\"'”’»)\]*_`]{0,3}(?:\s|$)|[。！？，、；：]")


def is_prose(seen: Look, text: bytes) -> bool:
    """Whether it is words, most of it, and has the ends of sentences."""
    told = "\n".join(seen.lines)
    letters = sum(map(len, _WORD.findall(told)))
    return letters >= len(told) * 0.6 and len(_END.findall(told)) >= max(len(told) // 400, 1)
