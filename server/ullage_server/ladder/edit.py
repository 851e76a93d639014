"""A command carried out on a document's text.

Rule (rules.md 2): only the keys that the command names change; other keys, comments and order survive. A value
that is there already keeps its spelling, and a key keeps the form it has: under a header, dotted, or in an
inline table. A key taken out takes its line with it; what stands on lines of its own stays.
"""

import re
from contextlib import suppress
from typing import Any

import tomlkit
from tomlkit.items import AbstractTable, AoT, Comment, InlineTable, Item, Key, Null, Table, Whitespace

from ..core.rung import MODELS, Command
from ..core.settings import KEYS, Rearm
from .document import load, unreadable, wrong_value
from .places import chains

#: What the library may take to follow a document, in the units of `_effort`: about two seconds. All the tables and
#: models that a document has room for are less, unless they are written as dotted keys of many parts.
_MAX_EFFORT = 32_768

_Scalar = int | bool | str
#: What the library may write anew of a text that it only reads: the spaces and quotes of a header.
_HEADER_STYLE = re.compile("[ \t'\"]")


def edit(text: str, command: Command) -> str:
    """`text` with the keys that `command` states written and those it resets taken out.

    Refused, and nothing changed, where the text is no TOML, or holds one of those keys in a form that has no
    single value to change.
    """
    before = load(command.address, text, _verbatim)
    new = [(table, key, value) for table, key, value in _stated(command) if _differs(before, table, key, value)]
    gone = _held(before, command.reset)
    for table, _, _ in new:
        if not isinstance(before.get(table, {}), dict):
            raise wrong_value(command.address, text, table, f"{table} is not a table")
    if not new and not gone:
        return text
    proved = False
    # The library's work is proved, and what it cannot do, whatever it raises then, is not done.
    if _effort(text) <= _MAX_EFFORT:
        with suppress(Exception):
            after = _changed(text, new, gone)
            proved = _states(load(command.address, after, _verbatim), before, new, gone) and _tells(after, text)
    if not proved:
        raise unreadable(
            command.address,
            "is written in a form in which a key of the command cannot be changed in place",
            "change that key in the document by hand",
        )
    return after


def _verbatim(number: str) -> tuple[str, str]:
    """A number with a point, to be compared only: as itself, for no `nan` equals another, and unlike a text."""
    return "float", number


def _stated(command: Command) -> list[tuple[str, str, _Scalar]]:
    """The table, the key in it and the value, of each thing that `command` states, in the ladder's order."""
    stated: list[tuple[str, str, _Scalar]] = []
    for name in KEYS:
        if name in command.values:
            table, _, key = name.partition(".")
            value = command.values[name]
            stated.append((table, key, value.value if isinstance(value, Rearm) else value))
    return stated + [(MODELS, model, window) for model, window in command.models.items()]


def _differs(document: dict[str, Any], table: str, key: str, value: _Scalar) -> bool:
    """Whether `document` does not state that value, in whatever spelling."""
    held = document.get(table, {})
    return not isinstance(held, dict) or type(held.get(key)) is not type(value) or held[key] != value


def _held(document: dict[str, Any], reset: tuple[str, ...]) -> set[tuple[str, str]]:
    """What of the keys to `reset` the document holds, each as its table and the key in it."""
    held: set[tuple[str, str]] = set()
    for name in dict.fromkeys(reset):
        table, dot, key = name.partition(".")
        keys = document.get(table)
        if isinstance(keys, dict):
            held |= {(table, each) for each in ([key] if dot else keys) if each in keys}
    return held


def _effort(text: str) -> int:
    """What the library takes to follow `text`, in units of some 60 microseconds.

    A dotted key takes as much as the square of its number of parts; below a header, it has all such keys of the
    table that came before it copied too.
    """
    effort = copied = 0
    headed = False
    for start, parts, end in chains(text):
        if end == "]" and text[text.rfind("\n", 0, start) + 1 : start].strip(" \t") in ("[", "[["):
            effort += 2 * parts + copied * copied // 128
            copied, headed = 0, True
        elif end == "=" and parts > 1:
            effort += parts * parts
            copied += parts * parts if headed else 0
    return effort + copied * copied // 128


def _changed(text: str, new: list[tuple[str, str, _Scalar]], gone: set[tuple[str, str]]) -> str:
    """The text that comes of it; what is new comes first, so that no table is empty in between."""
    newline = "\r\n" if text.count("\n") == text.count("\r\n") > 0 else "\n"
    if text and not text.endswith("\n"):
        text += newline
    document = tomlkit.parse(text)
    if _HEADER_STYLE.sub("", tomlkit.dumps(document)) != _HEADER_STYLE.sub("", text):
        raise ValueError("the library does not give the document back in its order")
    for table in dict.fromkeys(table for table, _, _ in new):
        _put(document, table, {key: value for name, key, value in new if name == table})
    for name in {table for table, _ in gone}:
        for _, part in _parts(document, name):
            for key in [key for key in part if (name, key) in gone]:
                del part[key]
    after = tomlkit.dumps(document)
    return after.replace("\r\n", "\n").replace("\n", newline) if newline == "\r\n" else after


def _parts(document: tomlkit.TOMLDocument, name: str) -> list[tuple[Key, AbstractTable]]:
    """The parts of a table, which may stand in several places: as dotted keys do, and tables below it."""
    return [
        (key, item) for key, item in document.body if key and key.key == name and isinstance(item, AbstractTable)
    ]


def _put(document: tomlkit.TOMLDocument, name: str, values: dict[str, _Scalar]) -> None:
    """Writes `values` into a table: what it holds where it stands, what is new with the keys it has of its own."""
    own: AbstractTable | None = None
    missing = dict(values)
    for dotted, part in _parts(document, name):
        for key in [key for key in part if key in missing]:
            part[key] = missing.pop(key)
        if not isinstance(part, Table) or dotted.is_dotted() or not part.is_super_table():
            own = part
    if isinstance(own, InlineTable):
        for key, value in missing.items():
            own.append(key, value)
    elif missing:
        if not isinstance(own, Table):
            own = tomlkit.table()
            document.append(name, own)
        _add(own, missing)


def _add(table: Table, values: dict[str, _Scalar]) -> None:
    """Adds keys, above the lines that end the table's own ones: they are often the heading of what comes below."""
    body = table.value.body
    below = (at for at, (key, item) in enumerate(body) if key and _has_header(key, item))
    start = end = next(below, len(body))
    while start and isinstance(body[start - 1][1], Comment | Whitespace):
        start -= 1
    ending = body[start:end]
    if end == len(body):
        # A table that is being parsed takes a key at its end; else it looks through all it has for each.
        table.value.parsing(True)
        del body[start:]
    else:
        body[start:end] = [(None, Null()) for _ in ending]
    for key, value in values.items():
        table.add(key, value)
    body[start + len(values) : end + len(values)] = ending


def _has_header(key: Key, item: Item) -> bool:
    return isinstance(item, AoT | Table) and not key.is_dotted()


def _states(
    after: dict[str, Any], before: dict[str, Any], new: list[tuple[str, str, _Scalar]], gone: set[tuple[str, str]]
) -> bool:
    """Whether a document states what it shall, and all that was there before."""
    expected = {name: dict(table) if isinstance(table, dict) else table for name, table in before.items()}
    for table, key in gone:
        del expected[table][key]
    for table, key, value in new:
        if isinstance(expected.setdefault(table, {}).get(key), dict | list):
            return False  # it holds more than one value, which would be lost
        expected[table][key] = value
    return _without_empty(after) == _without_empty(expected)


def _without_empty(tables: dict[str, Any]) -> dict[str, Any]:
    """The tables that state something: one that was emptied may keep its header."""
    return {name: table for name, table in tables.items() if table != {}}


def _tells(after: str, before: str) -> bool:
    """Whether every comment on a line of its own, or behind a header, still stands, and in order."""
    rest = iter(_comments(after))
    return all(comment in rest for comment in _comments(before))


def _comments(text: str) -> list[str]:
    lines = [line.strip() for line in text.split("\n")]
    return [line[line.index("#") :] for line in lines if line.startswith(("#", "[")) and "#" in line]
