"""No text at all: bytes read as text, base64, minified scripts, fragments.

Rule (rules.md 8): what cannot be told is left whole.
"""

import re

from ..look import LINE_CHARS, Look

_WORDS_NEEDED = 6
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{2,}+={0,2}")
#: A line that is all a comment.
_REMARK = re.compile(r"\n#[^\n]*+")
_LONG = 40
#: What no text controls.
_ODD = bytes(set(range(0x20)) - set(b"\b\t\n\f\r\x1b"))
#: How much of a text may be blanks where it could be base64.
_BLANKS = 0.05
_PUNCTUATION = b"{}()[];,=:&|!?<>+*.\\\"'"


def is_no_text(seen: Look, text: bytes) -> bool:
    """Whether the text is none that a reader could read line by line."""
    return not seen.lines or _is_binary(seen, text) or _is_base64(seen) or _is_fragment(seen) or _is_minified(seen)


def _is_binary(seen: Look, text: bytes) -> bool:
    """Bytes that stand for no character, or control what no text controls, are seldom in a text."""
    head = text[: len(seen.raw)]
    return len(head) - len(head.translate(None, _ODD)) + seen.raw.count("\ufffd") > len(seen.raw) * 0.01


def _is_base64(seen: Look) -> bool:
    """Lines of its alphabet alone: long ones, or many that end as it pads them."""
    told = _REMARK.sub("", seen.told) if "\n#" in seen.told else seen.told
    if told.count(" ") > len(told) * _BLANKS:
        return False
    lines = [line.strip() for line in told.split("\n")]
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
    """Most of it one long line, which then is in its middle, full of punctuation and with few blanks."""
    middle = len(seen.page) // 2
    end = seen.page.find("\n", middle)
    longest = seen.page[seen.page.rfind("\n", 0, middle) + 1 : end if end >= 0 else None]
    if len(longest) < max(middle, LINE_CHARS) or longest.lstrip()[:1] in "{[<":
        return False
    coded = longest.encode()
    marks = len(coded) - len(coded.translate(None, _PUNCTUATION))
    return longest.count(" ") < len(longest) * 0.1 and marks > len(longest) * 0.12
