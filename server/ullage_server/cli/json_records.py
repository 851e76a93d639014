"""The JSON values of a file, however they stand in it: one a line, several on a line, or one over many lines.

Rule: a value begins where the last one ended. One over several lines begins and ends at the left edge, as printers
write it. What is no JSON is a line that can't be read, and never takes what stands behind it along: a line that is
whole by itself is one, though the one before it broke off.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, Literal

_BOM = b"\xef\xbb\xbf"
_DECODE = json.JSONDecoder().raw_decode

#: Stands for a line that is no JSON.
UNREADABLE = object()


class NotUtf8(ValueError):
    """Bytes that are no UTF-8, in the line of that number."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def json_records(stream: IO[bytes]) -> tuple[Literal["line", "entry"], Iterator[tuple[int, object]]]:
    """The values of a file, each with the number of its first line, or the entries of the one array that it is.

    Numbers are from 1. Raises NotUtf8, also while they are read.
    """
    first = stream.readline().removeprefix(_BOM)
    number = 1
    while first and not first.strip():
        first = stream.readline()
        number += 1
    if not first.lstrip().startswith(b"["):
        return "line", _values(_lines(chain([first], stream), number))
    text = first + stream.read()
    whole = _parse(_decode(text, number))
    if isinstance(whole, list):
        return "entry", iter(enumerate(whole, 1))
    return "line", _values(_lines(text.split(b"\n"), number))


def _lines(lines: Iterable[bytes], number: int) -> Iterator[tuple[int, str]]:
    for at, line in enumerate(lines, number):
        if line.strip():
            yield at, _decode(line, at).rstrip()


def _values(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, object]]:
    begun: list[tuple[int, str]] = []  # the lines of a value that is not whole yet
    for at, line in lines:
        if begun:
            begun.append((at, line))
            if line[0] in "}]":
                # It closes what was begun, and the next one may stand behind it.
                values, rest = _split("\n".join(text for _, text in begun))
                if values:
                    yield from ((begun[0][0], value) for value in values)
                    begun = [(at, rest)] if _begins(rest) else []
                    if rest and not begun:
                        yield at, UNREADABLE
                continue
            if line[0] not in "{[" or not _split(line)[0]:
                continue
            # Whole by itself: what was begun before it broke off.
            yield from ((broken, UNREADABLE) for broken, _ in begun[:-1])
            begun = []
        values, rest = _split(line)
        yield from ((at, value) for value in values)
        if _begins(rest):
            begun = [(at, rest)]
        elif rest:
            yield at, UNREADABLE
    yield from ((broken, UNREADABLE) for broken, _ in begun)


def _split(text: str) -> tuple[list[object], str]:
    """The values that stand one behind the other in `text`, and what is left behind the last."""
    values: list[object] = []
    place = 0
    while place < len(text):
        try:
            value, place = _DECODE(text, place)
        except (ValueError, RecursionError):
            break
        values.append(value)
        while place < len(text) and text[place].isspace():
            place += 1
    return values, text[place:]


def _begins(text: str) -> bool:
    """Whether a value may begin with `text`, and end in a later line."""
    return text[:1] in ("{", "[")


def _decode(line: bytes, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        # The bad byte may stand lines below the one the text begins with.
        raise NotUtf8(number + line.count(b"\n", 0, error.start)) from None


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return UNREADABLE
