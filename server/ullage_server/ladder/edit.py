"""A command carried out on a document's text, in place.

Rule (rules.md 2): only the keys that the command names change; other keys, comments, order and line endings
survive byte for byte. A key stays in the spelling it has: under a header, dotted, in an inline table. A key
taken out takes its line with it but leaves that line's comment, and a table's header stays.

The places are found by a scanner of ours, so its work is not trusted: the text that comes of an edit is read
again by the standard library's parser, and must state what was wanted and all that was there before.
"""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..core.errors import Refusal
from ..core.rung import MODELS, Command
from ..core.settings import KEYS, Rearm, Value
from .document import load, unreadable, wrong_value
from .toml_text import Entry, Path, entries

Wanted = dict[str, int | bool | str]

_TABLES = [*dict.fromkeys(name.partition(".")[0] for name in KEYS), MODELS]


class _Splice(NamedTuple):
    start: int
    end: int
    text: str


def edit(text: str, command: Command) -> str:
    """`text` with the keys that `command` states written and those it resets taken out.

    Refused, and nothing changed, where the text is no TOML, or holds one of those keys in a form that has no
    single value to change.
    """
    before = load(command.address, text, _verbatim)
    wanted = _wanted(command)
    gone: set[Path] = {(MODELS,) if name == MODELS else _path(name) for name in command.reset}
    for table in wanted:
        if not isinstance(before.get(table, {}), dict):
            raise wrong_value(command.address, text, table, f"{table} is not a table")
    found = entries(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    splices: list[_Splice] = []
    added: list[str] = []
    for table in _TABLES:
        changed = _changed(before.get(table, {}), wanted.get(table, {}))
        own = [entry for entry in found if entry.path[0] == table]
        holder = next(
            (entry for entry in own if entry.path == (table,) and text.startswith("{", entry.value)), None
        )
        if holder and (table,) not in gone:
            splices += _in_line(text, holder, own, changed, gone)
        else:
            splices += _on_lines(text, table, own, changed, gone, newline, added)
    after = _apply(text, splices, added, newline)
    if after != text and not _states(after, command.address, _expected(before, wanted, gone)):
        raise unreadable(
            command.address,
            "states a key of the command in a form that cannot be changed in place",
            "change that key in the document by hand",
        )
    return after


def _verbatim(number: str) -> tuple[str, str]:
    """A number with a point, to be compared only: as itself, for no `nan` equals another, and unlike a text."""
    return "float", number


def _wanted(command: Command) -> dict[str, Wanted]:
    wanted: dict[str, Wanted] = {}
    for name, value in command.values.items():
        table, key = _path(name)
        wanted.setdefault(table, {})[key] = _plain(value)
    if command.models:
        wanted[MODELS] = dict(command.models)
    return wanted


def _plain(value: Value) -> int | bool | str:
    return value.value if isinstance(value, Rearm) else value


def _path(name: str) -> tuple[str, str]:
    table, _, key = name.partition(".")
    return table, key


def _changed(table: Any, wanted: Wanted) -> Wanted:
    """What of `wanted` the table does not state yet; a value that is there keeps its spelling, as 1_000."""
    held = table if isinstance(table, dict) else {}
    return {
        key: value
        for key, value in wanted.items()
        if key not in held or type(held[key]) is not type(value) or held[key] != value
    }


def _goes(path: Path, gone: set[Path]) -> bool:
    return path[:1] in gone or path[:2] in gone


def _in_line(text: str, holder: Entry, own: list[Entry], changed: Wanted, gone: set[Path]) -> Iterable[_Splice]:
    """The changes inside the inline table that `holder` has as its value."""
    members = [entry for entry in own if entry.within == holder.value]
    missing = dict(changed)
    last = -1
    for place, member in enumerate(members):
        if not _goes(member.path, gone):
            last = place
            if member.path[1] in missing and len(member.path) == 2:
                yield _Splice(member.value, member.end, _literal(missing.pop(member.path[1])))
    for place, member in enumerate(members[: max(last, 0)]):
        if _goes(member.path, gone):
            yield _Splice(member.start, members[place + 1].start, "")
    # What goes behind the last that stays, and what comes there, are one splice.
    new = ", ".join(_statement(holder.path[0], key, value) for key, value in missing.items())
    if last >= 0:
        yield _Splice(members[last].end, members[-1].end, f", {new}" if new else "")
    elif members:
        yield _Splice(members[0].start, members[-1].end, new)
    elif new:
        yield _Splice(holder.value, holder.end, f"{{ {new} }}")


def _on_lines(
    text: str, table: str, own: list[Entry], changed: Wanted, gone: set[Path], newline: str, added: list[str]
) -> Iterable[_Splice]:
    """The changes in a table whose pairs have lines of their own; a table that is not there goes to `added`."""
    missing = dict(changed)
    anchor, prefix = None, ""
    for entry in own:
        opens = entry.is_header and entry.path == (table,) and not text.startswith("[[", entry.start)
        if entry.within >= 0:
            continue
        if not opens and _goes(entry.path, gone):
            yield _without(text, entry)
        elif not entry.is_header and len(entry.path) == 2 and entry.path[1] in missing:
            yield _Splice(entry.value, entry.end, _literal(missing.pop(entry.path[1])))
        # A new key goes behind the last that stays under the table's header, or of the dotted ones above any.
        if opens or (entry.table in ((table,), ()) and not _goes(entry.path, gone)):
            anchor, prefix = entry, "" if opens or entry.table else f"{table}."
    if missing and anchor:
        indent = text[text.rfind("\n", 0, anchor.start) + 1 : anchor.start]
        end = _line_end(text, anchor.end)
        lines = [f"{newline}{indent}{prefix}{_statement(table, key, value)}" for key, value in missing.items()]
        yield _Splice(end, end, "".join(lines))
    elif missing:
        lines = [_statement(table, key, value) for key, value in missing.items()]
        added.append(newline.join([f"[{table}]", *lines, ""]))


def _without(text: str, entry: Entry) -> _Splice:
    """What takes the lines of `entry` out; a comment behind it stays."""
    end = _line_end(text, entry.end)
    comment = text.find("#", entry.end, end)
    if comment >= 0:
        return _Splice(entry.start, comment, "")
    newline = text.find("\n", end)
    return _Splice(text.rfind("\n", 0, entry.start) + 1, newline + 1 if newline >= 0 else len(text), "")


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    if end < 0:
        return len(text)
    return end - 1 if text[end - 1] == "\r" else end


def _apply(text: str, splices: list[_Splice], added: list[str], newline: str) -> str:
    parts, at = [], 0
    for splice in sorted(splices, key=lambda splice: splice.start):
        parts += [text[at : splice.start], splice.text]
        at = splice.end
    after = "".join([*parts, text[at:]])
    for table in added:
        gap = "" if not after or after.endswith("\n") else newline
        after += f"{gap}{newline if after else ''}{table}"
    return after


def _expected(before: dict[str, Any], wanted: dict[str, Wanted], gone: set[Path]) -> dict[str, Any]:
    after = {name: dict(table) if isinstance(table, dict) else table for name, table in before.items()}
    for path in gone:
        if len(path) == 1:
            after.pop(path[0], None)
        elif isinstance(table := after.get(path[0]), dict):
            table.pop(path[1], None)
    for name, values in wanted.items():
        after.setdefault(name, {}).update(values)
    return after


def _states(text: str, address: str, expected: dict[str, Any]) -> bool:
    try:
        return _stating(load(address, text, _verbatim)) == _stating(expected)
    except Refusal:
        return False


def _stating(document: dict[str, Any]) -> dict[str, Any]:
    """`document` without the tables that state nothing: an emptied one may keep its header."""
    return {name: value for name, value in document.items() if value != {} or name not in _TABLES}


def _statement(table: str, key: str, value: int | bool | str) -> str:
    # The ladder's own keys are bare words; a model's name may hold anything.
    return f"{_literal(key) if table == MODELS else key} = {_literal(value)}"


def _literal(value: int | bool | str) -> str:
    """`value` in TOML. What JSON escapes in a string, TOML does alike; neither holds control characters here."""
    return json.dumps(value, ensure_ascii=False)
