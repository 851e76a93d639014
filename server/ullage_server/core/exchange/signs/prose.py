"""Running text."""

import re
import string

from ..look import Look, count

_LETTERS = string.ascii_letters.encode()
_WIDE = re.compile(r"[^\x00-\x7f]+")
#: Pictures stand for words.
_PICTURES = range(0x1F300, 0x1FB00)
_END = re.compile(r"[.!?…:;,。！？，、；：](?:(?<=[。！？，、；：])|[\"'”’»)\]*_`]{0,3}+(?:\s|\Z))")


def is_prose(seen: Look, text: bytes) -> bool:
    """Whether it is words, most of it, and has the ends of sentences."""
    return _letters(seen.told) >= len(seen.told) * 0.6 and count(_END, seen.told) >= max(len(seen.told) // 400, 1)


def _letters(told: str) -> int:
    """How many characters are letters of any script, or pictures."""
    ascii = told.encode("ascii", "ignore")
    wide = "".join(_WIDE.findall(told)) if len(ascii) < len(told) else ""
    return (
        len(ascii)
        - len(ascii.translate(None, _LETTERS))
        + sum(character.isalpha() or ord(character) in _PICTURES for character in wide)
    )
