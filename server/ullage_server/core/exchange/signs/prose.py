"""Running text."""

import re
import string

from ..look import Look, count

_LETTERS = string.ascii_letters.encode()
_WIDE = re.compile(r"[^\x00-\x7f]+")
#: Pictures stand for words.
_PICTURE = re.compile(r"[\U0001f300-\U0001faff]")
_END = re.compile(r"[.!?…:;,。！？，、；：](?:(?<=[。！？，、；：])|[\"'”’»)\]*_`]{0,3}+(?:\s|\Z))")


def is_prose(seen: Look, text: bytes) -> bool:
    """Whether it is words, most of it, and has the ends of sentences."""
    return _letters(seen.told) >= len(seen.told) * 0.6 and count(_END, seen.told) >= max(len(seen.told) // 400, 1)


def _letters(told: str) -> int:
    """How many characters are letters of any script, or pictures."""
    plain = told.encode("ascii", "ignore")
    wide = "".join(_WIDE.findall(told)) if len(plain) < len(told) else ""
    wide_letters = sum(map(str.isalpha, wide)) + count(_PICTURE, wide)
    return len(plain) - len(plain.translate(None, _LETTERS)) + wide_letters
