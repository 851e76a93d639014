"""Whatever a document looks like, an edit leaves all of it but the keys that the command names."""

import copy
import re
import tomllib
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ladder.fakes import ZONES
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.rung import Command, check_command
from ullage_server.core.settings import KEYS, Rearm, Value
from ullage_server.ladder.document import parse
from ullage_server.ladder.edit import edit

VALUES: dict[str, st.SearchStrategy[Value]] = {
    "context.second_threshold": st.integers(31, 90),
    "context.rearm": st.sampled_from(Rearm),
    "context.finishing_act": st.sampled_from(["succeed", "a:b", "x.y-z_1"]),
    "exchange.budget_bytes": st.integers(0, 2**53 - 1),
    "notices.every_steps": st.integers(0, 2**31 - 1),
    "notices.include_subagents": st.booleans(),
    "reminders.budget_chars": st.integers(0, 2**31 - 1),
    "clock.zone": st.sampled_from(sorted(ZONES)),
}
MODEL = st.one_of(
    st.sampled_from(["gpt-4.1", "gpt-4o", "a.b", 'q"q', "it's", "ü", "\\", "x = 1", "#", "zone"]),
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8),
)
COMMENT = st.sampled_from(["", "", " # note", "  # second_threshold = 3 'x", "#]", ' # ü """'])
INDENT = st.sampled_from(["", "", "  ", "\t"])
GAP = st.sampled_from(["", " ", "  "])
BLANKS = st.lists(st.sampled_from(["", "# a line of its own", "  # [context]", "\t"]), max_size=2)
FOREIGN = st.sampled_from(
    [
        "{k} = 1",
        "{k} = 'a # b'",
        '{k} = "x \\" ] }}"',
        "{k} = [1, 2, # ] in it\n  ']']",
        '{k} = """\n[context]\nsecond_threshold = 3\n"""',
        "{k} = '''\n# not a comment '''''",
        "{k} = {{ a = 1, b = [ {{c = '}}'}} ] }}",
        "{k}.deep = 1.5",
        '"{k} x"."y.z" = 1979-05-27 07:32:00',
        "{k} = nan",
        '{k} = ""',
    ]
)


#: What texts are made of that hold each key in a form of its own, and tables apart.
PIECES = [
    "context.rearm = 'per_run' # c\n",
    "context.deep.rearm = 1\n",
    "context.second_threshold = 5 # c\r\n",
    "context = {rearm = 'per_run', x.y = 1}\n",
    "context = { }\n",
    "context = 3\n",
    "rearm = 'per_run'\n",
    "second_threshold = 5 # c\n",
    "second_threshold = [1]\n",
    "[context]\n",
    "[context] # c\n",
    "  [ 'context' ]\n",
    "[context.sub]\n",
    "[context.rearm]\n",
    "[context.sub.deep] # c\n",
    "[[context.subs]]\n",
    "[[context]]\n",
    "[models]\n",
    "[models.m]\n",
    "[[mine]]\n",
    "[mine.below]\n",
    "models.m = 5 # c\n",
    "'zone'.x = 1\n",
    "'zone' = 5 # c\n",
    "x = 1.50 # c\n",
    "y = [\n  1, # c\n]\n",
    'z = """\n# c\n"""\n',
    "# c\n",
    "\n",
    " \t\r\n",
    "[",
]


def quoted(draw: st.DrawFn, name: str) -> str:
    bare = all(char.isascii() and (char.isalnum() or char in "_-") for char in name) and bool(name)
    forms = [name] if bare else []
    if "'" not in name:
        forms.append(f"'{name}'")
    forms.append('"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"')
    return draw(st.sampled_from(forms))


def plain(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else f"'{value.value if isinstance(value, Rearm) else value}'"


@dataclass(frozen=True)
class Line:
    """A statement or a comment as it was typed, with the one key it states or the table it states in line."""

    text: str
    key: str = ""
    table: str = ""


@dataclass(frozen=True)
class Typed:
    lines: tuple[Line, ...]
    text: str


@st.composite
def documents(draw: st.DrawFn) -> Typed:
    """A document as somebody may have typed it, with all spellings of a key."""
    above: list[Line] = []
    below: list[list[Line]] = []
    number = 0

    def blanks() -> list[Line]:
        return [Line(text) for text in draw(BLANKS)]

    def pair(key: str, value: str) -> str:
        return f"{draw(INDENT)}{key}{draw(GAP)}={draw(GAP)}{value}{draw(COMMENT)}"

    def header(shown: str, brackets: str = "[]") -> Line:
        opened, closed = brackets[: len(brackets) // 2], brackets[len(brackets) // 2 :]
        return Line(f"{draw(INDENT)}{opened}{draw(GAP)}{shown}{draw(GAP)}{closed}{draw(COMMENT)}")

    def foreign() -> Line:
        nonlocal number
        number += 1
        return Line(f"{draw(INDENT)}{draw(FOREIGN).format(k=f'other{number}')}{draw(COMMENT)}")

    for table in draw(st.permutations(["context", "exchange", "notices", "reminders", "clock", "models", "mine"])):
        if table == "models":
            models = draw(st.dictionaries(MODEL, st.integers(1, 99), max_size=3))
            held = [(f"models.{name}", quoted(draw, name), str(window)) for name, window in models.items()]
        else:
            names = [name for name in VALUES if name.partition(".")[0] == table and draw(st.booleans())]
            held = [(name, quoted(draw, name.partition(".")[2]), plain(draw(VALUES[name]))) for name in names]
        shown = quoted(draw, table)
        forms = ["none", "header", "header", "dotted", "inline"]
        form = draw(st.sampled_from(forms if table == "models" else [*forms, "sub", "split", "split"]))
        if form in ("header", "split"):
            lines = [*blanks(), header(shown)]
            for name, key, value in held:
                lines += [*blanks(), Line(pair(key, value), name)]
                if draw(st.booleans()) and table != "models":
                    lines.append(foreign())
            below.append(lines)
        elif form == "dotted":
            above += [Line(pair(f"{shown}{draw(GAP)}.{draw(GAP)}{key}", value), name) for name, key, value in held]
        elif form == "inline":
            members = [f"{key}{draw(GAP)}={draw(GAP)}{value}" for _, key, value in held]
            inner = "{" + draw(GAP) + f"{draw(GAP)},{draw(GAP)}".join(members) + draw(GAP) + "}"
            above.append(Line(pair(shown, inner), table=table))
        if form in ("sub", "split"):
            below_it = draw(st.sampled_from([("sub", "[]"), ("subs", "[[]]")]))
            sub = [*blanks(), header(f"{shown}.{below_it[0]}", below_it[1]), foreign()]
            below.insert(draw(st.integers(0, len(below))), sub)
        if draw(st.booleans()):
            above += [*blanks(), foreign()]
    lines = [*above, *(line for block in below for line in block), *blanks()]
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = "\n".join(line.text for line in lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return Typed(tuple(lines), text.replace("\n", newline))


@st.composite
def commands(draw: st.DrawFn) -> Command:
    named = draw(st.sets(st.sampled_from(sorted(KEYS)), max_size=4))
    values = {name: draw(VALUES[name]) for name in named if draw(st.booleans())}
    reset = [name for name in named if name not in values]
    models = draw(st.dictionaries(MODEL, st.integers(1, 99), max_size=3))
    reset += [f"models.{name}" for name in draw(st.sets(MODEL, max_size=2)) if name not in models]
    if not models and draw(st.booleans()):
        reset.append("models")
    return check_command(Command("lab", values, models, tuple(reset)), ZONES)


def apply(document: dict[str, Any], change: Command) -> dict[str, Any]:
    after = copy.deepcopy(document)
    for name in change.reset:
        table, dot, key = name.partition(".")
        if isinstance(held := after.get(table), dict):
            after[table] = {other: value for other, value in held.items() if dot and other != key}
    for name, value in change.values.items():
        table, _, key = name.partition(".")
        after.setdefault(table, {})[key] = value.value if isinstance(value, Rearm) else value
    if change.models:
        after.setdefault("models", {}).update(change.models)
    return {name: table for name, table in after.items() if table != {}}


def loaded(text: str) -> dict[str, Any]:
    found = tomllib.loads(text, parse_float=lambda number: ("float", number))
    return {name: table for name, table in found.items() if table != {}}


def is_touched(line: Line, change: Command) -> bool:
    """Whether the command changes that line, or takes it out."""
    named = {*change.values, *change.reset, *(f"models.{model}" for model in change.models)}
    if line.table:
        return line.table in {name.partition(".")[0] for name in named}
    return line.key in named or is_gone(line, change)


def is_gone(line: Line, change: Command) -> bool:
    return line.key in change.reset or ("models" in change.reset and line.key.startswith("models."))


def same(line: str) -> str:
    """A line as it is compared: the library may write the spaces and quotes in a header anew."""
    return re.sub("[\t '\"]", "", line) if line.lstrip().startswith("[") else line


def lines_of(text: str) -> list[str]:
    return [same(line) for line in text.replace("\r\n", "\n").split("\n")]


def survivors(document: Typed, change: Command) -> list[str]:
    """The lines of the document that the command leaves alone."""
    return [
        line for each in document.lines if not is_touched(each, change) for line in lines_of(each.text) if line
    ]


def attempt(text: str, change: Command) -> str | Refusal:
    try:
        return edit(text, change)
    except Refusal as refusal:
        return refusal


@given(documents(), commands())
def test_an_edit_gives_what_was_asked_and_keeps_the_rest(document: Typed, change: Command) -> None:
    after = edit(document.text, change)
    assert loaded(after) == apply(loaded(document.text), change)
    rung = parse("lab", after, ZONES)
    for name, value in change.values.items():
        assert rung.values[name] == value
    for model, window in change.models.items():
        assert rung.models[model] == window
    for name in change.reset:
        table, _, key = name.partition(".")
        assert name not in rung.values
        if table == "models":
            assert key not in rung.models if key else not rung.models
    assert edit(after, change) == after


@given(documents(), commands())
def test_every_line_that_holds_no_key_of_the_command_survives_in_order(document: Typed, change: Command) -> None:
    after = edit(document.text, change)
    rest = iter(lines_of(after))
    assert [line for line in survivors(document, change) if line not in rest] == []
    # A comment goes only with the key that it stands behind; one right above a header stays there.
    kept = "\n".join(line.text for line in document.lines if not is_gone(line, change))
    for comment in ["# note", "# second_threshold = 3 'x", "#]", "# ü", "# a line of its own", "] in it"]:
        assert after.count(comment) >= kept.count(comment)
    neighbours = list(pairwise(lines_of(after)))
    for upper, lower in pairwise([same(line.text) for line in document.lines]):
        if upper.lstrip().startswith("#") and lower.startswith("["):
            assert (upper, lower) in neighbours
    # All line ends stay what they are.
    if "\r\n" in document.text:
        assert after.count("\n") == after.count("\r\n")
    elif "\n" in document.text:
        assert "\r" not in after


@given(documents())
def test_stating_what_is_there_and_resetting_what_is_not_changes_nothing(document: Typed) -> None:
    rung = parse("lab", document.text, ZONES)
    unset = tuple(name for name in KEYS if name not in rung.values)
    assert (
        edit(document.text, Command("lab", rung.values, rung.models, (*unset, "models.nobody"))) == document.text
    )


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), commands())
def test_whatever_the_text_an_edit_is_proved_or_refused(text: str, change: Command) -> None:
    try:
        before = loaded(text)
    except ValueError:
        with pytest.raises(Refusal, match="no TOML at line"):
            edit(text, change)
        return
    after = attempt(text, change)
    if isinstance(after, Refusal):
        assert after.reason is Reason.CONFIG_UNREADABLE
        assert re.search("in place|is not a table", after.message)
    elif after != text:
        assert loaded(after) == apply(before, change)
        # What is reset takes the comments within it, but none on a line of its own.
        for foreign in ("\n# c",) if change.reset else ("\n# c", "\n  1, # c", "x = 1.50 # c"):
            assert f"\n{after}".count(foreign) >= f"\n{text}".count(foreign)
    else:
        assert before == apply(before, change)
