"""Where something stands in a document, for a refusal to name: lines and columns counted from 1.

Rule: whatever a document holds, it is looked through once, and of its statements only what comes before `=` is
read, so that finding a place takes no longer than reading the document. Only texts, comments and the signs around
keys are told apart here; what a document says is the parser's to tell.
"""

import re
import tomllib
from collections.abc import Iterator
from typing import NamedTuple

# A text that is not closed goes on to the end of its line, or of the document: the parser comes no further.
_SIGN = re.compile(
    r'''"""(?:[^\\]|\\.)*?(?:"{3,5}|\Z) | \'\'\'.*?(?:'{3,5}|\Z) | "(?:[^"\\\n]|\\.)*"? | '[^'\n]*'?'''
    r"""| \#[^\n]* | [.=\[\]{},\n]""",
    re.DOTALL | re.VERBOSE,
)


class Chain(NamedTuple):
    """What stands between two signs other than dots: as many parts as a key of that spelling has.

    It begins at the character `start`; `end` is the sign behind it, empty at the end of the document.
    """

    start: int
    parts: int
    end: str


def position(text: str, offset: int) -> tuple[int, int]:
    """The line and column of the character at `offset`."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def chains(text: str) -> Iterator[Chain]:
    """What may be a key in `text`, in order; numbers with a point and the like are among it."""
    start, parts = 0, 1
    for sign in _SIGN.finditer(text):
        if sign[0] == ".":
            parts += 1
        elif sign[0] in "=[]{},\n":
            yield Chain(start, parts, sign[0])
            start, parts = sign.end(), 1
    yield Chain(start, parts, "")


def place_of(text: str, path: tuple[str, ...]) -> tuple[int, int]:
    """The line and column where `text`, which is TOML, states the key at `path`; the beginning where none does."""
    table: tuple[str, ...] = ()
    for start, head, statement in _statements(text):
        if head.startswith("["):
            table = _names(tomllib.loads(head))
            found = table[: len(path)] == path
        elif found := path[: len(table)] == table:
            below = path[len(table) :]
            key = _names(tomllib.loads(f"{head}= 0"))
            found = bool(below) and key[: len(below)] == below
            if not found and key == below[: len(key)] and _holds(tomllib.loads(statement), below):
                # Of an inline table, the key's own place in it.
                return position(text, start + _member(statement, below[-1]))
        if found:
            return position(text, start)
    return 1, 1


def _member(statement: str, key: str) -> int:
    """Where the member of that name stands in an inline table; 0 where the statement has none written so."""
    member = re.search(rf"""[{{,]\s*(["']?{re.escape(key)}["']?)\s*[=.]""", statement)
    return member.start(1) if member else 0


def _statements(text: str) -> Iterator[tuple[int, str, str]]:
    """The statements of `text`, each with the offset of its first character, and what comes before its value."""
    start = depth = 0
    equals: int | None = None
    signs = [*_SIGN.finditer(text)]
    for sign, at, behind in [
        *((sign[0], sign.start(), sign.end()) for sign in signs),
        ("\n", len(text), len(text)),
    ]:
        if sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
        elif sign == "=" and equals is None:
            equals = at
        elif sign == "\n" and depth <= 0:
            statement = text[start:at].strip()
            first = start + len(text[start:at]) - len(text[start:at].lstrip())
            if statement and not statement.startswith("#"):
                yield first, statement if equals is None else text[first:equals], statement
            start, equals = behind, None


def _names(said: object) -> tuple[str, ...]:
    """The names of a table or key from what it says by itself: tables in tables, the last one empty or 0."""
    names: list[str] = []
    while said:
        if isinstance(said, list):
            said = said[0]
        elif isinstance(said, dict):
            name, said = next(iter(said.items()))
            names.append(name)
    return tuple(names)


def _holds(said: object, path: tuple[str, ...]) -> bool:
    for name in path:
        if not isinstance(said, dict) or name not in said:
            return False
        said = said[name]
    return True
