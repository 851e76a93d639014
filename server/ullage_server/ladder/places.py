"""Where something stands in a document, for a refusal to name: lines and columns counted from 1."""

import re
import tomllib
from collections.abc import Iterator

#: How many characters are read to find a place: two of the largest documents. A statement of several lines is read
#: anew with each of its lines, so a long one would cost minutes; beyond this, a key is told without its place.
_MAX_READ = 128 * 1024


def position(text: str, offset: int) -> tuple[int, int]:
    """The line and column of the character at `offset`."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def place_of(text: str, path: tuple[str, ...]) -> tuple[int, int]:
    """The line and column where `text`, which is TOML, states the key at `path`; the beginning where none does."""
    table: tuple[str, ...] = ()
    for line, statement, said in _statements(text):
        indent = len(statement) - len(statement.lstrip())
        if statement.startswith("[", indent):
            table = _names(said)
            found = table[: len(path)] == path
        else:
            below = path[len(table) :]
            found = path[: len(table)] == table and bool(below) and _holds(said, below)
            # Of an inline table, the key's own place in it.
            if found and len(below) > 1 and (member := _member(statement, below[-1])):
                indent = member
        if found:
            skipped, column = position(statement, indent)
            return line + skipped - 1, column
    return 1, 1


def _member(statement: str, key: str) -> int:
    """Where the member of that name stands in an inline table; 0 where the statement has none written so."""
    member = re.search(rf"""[{{,]\s*(["']?{re.escape(key)}["']?)\s*[=.]""", statement)
    return member.start(1) if member else 0


def _statements(text: str) -> Iterator[tuple[int, str, dict[str, object]]]:
    """The statements of `text`, each with its first line's number and what it says by itself."""
    lines = text.replace("\r\n", "\n").split("\n")
    read = at = 0
    while at < len(lines):
        if not lines[at].strip() or lines[at].lstrip().startswith("#"):
            at += 1
            continue
        for end in range(at + 1, len(lines) + 1):
            statement = "\n".join(lines[at:end])
            read += len(statement)
            if read > _MAX_READ:
                return
            try:
                said = tomllib.loads(statement)
            except (ValueError, RecursionError):
                continue  # it goes on below
            yield at + 1, statement, said
            break
        at = end


def _names(header: object) -> tuple[str, ...]:
    """The names of a table from what its header says by itself: tables in tables, the last one empty."""
    names: list[str] = []
    while header:
        if isinstance(header, list):
            header = header[0]
        elif isinstance(header, dict):
            name, header = next(iter(header.items()))
            names.append(name)
    return tuple(names)


def _holds(said: object, path: tuple[str, ...]) -> bool:
    for name in path:
        if not isinstance(said, dict) or name not in said:
            return False
        said = said[name]
    return True
