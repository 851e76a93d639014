"""Where the keys of a TOML text stand in it.

Rule: the standard library's parser reads a document, and only a text that it took comes here. Nothing is judged
or interpreted: each header, pair and member of an inline table is found with its place, so that a refusal can
name line and column, and an edit can change one value and leave every other byte as it is.
"""

import re
import tomllib
from typing import NamedTuple

Path = tuple[str, ...]

_STRINGS = r'"""(?:\\.|[^\\])*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:\\.|[^"\\])*"|' + r"'[^']*'"
_STRING = re.compile(_STRINGS, re.DOTALL)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\r\n]*")
_SPACE = re.compile(r"[ \t]*")
#: What may stand between two statements, and in an inline table between two members.
_BETWEEN = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
#: What tells where a nested value ends: brackets that stand in no string and no comment.
_NESTING = re.compile(rf"{_STRINGS}|#[^\n]*|[\[{{]|[\]}}]", re.DOTALL)


class Entry(NamedTuple):
    """A header, a pair, or a member of an inline table that is the value of a pair."""

    #: All names from the root to it.
    path: Path
    #: Where its key begins; a header's bracket.
    start: int
    #: Where its value begins and ends; a header has none, both are its end.
    value: int
    end: int
    #: The header it stands under; empty above the first one.
    table: Path
    #: Where the inline table that it is a member of begins; -1 for one that has a line of its own.
    within: int

    @property
    def is_header(self) -> bool:
        """Whether it opens a table."""
        return self.value == self.end


def entries(text: str) -> list[Entry]:
    """The headers, pairs and inline members of `text`, in their order."""
    found: list[Entry] = []
    table: Path = ()
    at = _after(_BETWEEN, text, 0)
    while at < len(text):
        if text[at] == "[":
            brackets = 2 if text.startswith("[[", at) else 1
            table, end = _key(text, at + brackets)
            end += brackets
            found.append(Entry(table, at, end, end, table, -1))
        else:
            entry = _pair(text, at, table, table, -1)
            found.append(entry)
            if text[entry.value] == "{":
                found.extend(_members(text, entry))
            end = entry.end
        at = _after(_BETWEEN, text, end)
    return found


def position(text: str, offset: int) -> tuple[int, int]:
    """The line and the column of `offset`, both counted from 1, the column in characters."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _members(text: str, holder: Entry) -> list[Entry]:
    found = []
    at = _after(_BETWEEN, text, holder.value + 1)
    while text[at] != "}":
        found.append(_pair(text, at, holder.path, holder.table, holder.value))
        at = _after(_BETWEEN, text, found[-1].end)
        if text[at] == ",":
            at = _after(_BETWEEN, text, at + 1)
    return found


def _pair(text: str, start: int, parent: Path, table: Path, within: int) -> Entry:
    key, equals = _key(text, start)
    value = _after(_SPACE, text, equals + 1)
    return Entry(parent + key, start, value, _value_end(text, value), table, within)


def _key(text: str, at: int) -> tuple[Path, int]:
    """The names of the key at `at`, and where what follows it stands: `=` or a bracket."""
    names = []
    while True:
        at = _after(_SPACE, text, at)
        if quoted := _STRING.match(text, at):
            names.append(str(tomllib.loads(f"name = {quoted[0]}")["name"]))
            at = quoted.end()
        else:
            end = _after(_BARE, text, at)
            names.append(text[at:end])
            at = end
        at = _after(_SPACE, text, at)
        if text[at] != ".":
            return tuple(names), at
        at += 1


def _value_end(text: str, at: int) -> int:
    if text[at] in "[{":
        depth = 0
        for token in _NESTING.finditer(text, at):
            depth += (token[0] in "[{") - (token[0] in "]}")
            if not depth:
                return token.end()
    if string := _STRING.match(text, at):
        return string.end()
    end = _after(_SCALAR, text, at)
    return at + len(text[at:end].rstrip())


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
