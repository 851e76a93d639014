"""No text at all: bytes read as text, base64, minified scripts, fragments.

Rule (rules.md 8): what cannot be told is left whole.
"""

import re

from ..look import LINE_CHARS, Look
from ..wrappers import NUMBERED

_WORDS_NEEDED = 6
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{2,}={0,2}")
_LONG = 40
_ODD = re.compile("[\x00-\x07\x0b\x0e-\x1a\x1c-\x1f\ufffd]")
_PUNCTUATION = frozenset("{}()[];,=:&|!?<>+*.\\\"'")


def is_no_text(seen: Look, text: bytes) -> bool:
    """Whether the text is none that a reader could read line by line."""
    return not seen.lines or _is_binary(seen) or _is_base64(seen) or _is_fragment(seen) or _is_minified(seen)


def _is_binary(seen: Look) -> bool:
    """Bytes that stand for no character, or control what no text controls, are seldom in a text."""
    return len(_ODD.findall(seen.raw)) > len(seen.raw) * 0.01


def _is_base64(seen: Look) -> bool:
    """Lines of its alphabet alone: long ones, or many that end as it pads them."""
    lines = [line.strip() for line in seen.lines if not line.startswith("#")]
    coded = [line for line in lines if _BASE64.fullmatch(line)]
    long = sum(len(line) for line in coded if len(line) >= _LONG and not _is_word(line))
    padded = sum(line.endswith("=") for line in coded)
    return long >= sum(map(len, lines)) * 0.7 or (len(coded) >= len(lines) * 0.7 and padded > len(lines) * 0.25)


def _is_word(line: str) -> bool:
    """An underline, a path or a name of many letters is no code: that mixes cases and digits."""
    return not (any(map(str.isdigit, line)) and any(map(str.isupper, line)) and any(map(str.islower, line)))


def _is_fragment(seen: Look) -> bool:
    """A few words in one line say nothing."""
    return len(seen.lines) == 1 and len(seen.lines[0].split()) < _WORDS_NEEDED and len(seen.lines[0]) < 80


def _is_minified(seen: Look) -> bool:
    """Most of it one long line, full of punctuation and with few blanks."""
    longest = NUMBERED.sub("", max(seen.raw.split("\n"), key=len), count=1)
    if len(longest) < max(len(seen.raw) // 2, LINE_CHARS) or longest.lstrip()[:1] in "{[<":
        return False
    marks = sum(map(_PUNCTUATION.__contains__, longest))
    return longest.count(" ") < len(longest) * 0.1 and marks > len(longest) * 0.12
