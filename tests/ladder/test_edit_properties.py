"""Whatever a document looks like, an edit leaves all of it but the keys that the command names."""

import copy
import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.ladder.fakes import ZONES
from ullage_server.core.rung import Command, check_command
from ullage_server.core.settings import KEYS, Rearm, Value
from ullage_server.ladder.document import parse
from ullage_server.ladder.edit import edit
from ullage_server.ladder.toml_text import entries, position

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


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A document as somebody may have typed it, with all spellings of a key."""
    above: list[str] = []
    below: list[list[str]] = []
    number = 0

    def pair(key: str, value: str) -> str:
        return f"{draw(INDENT)}{key}{draw(GAP)}={draw(GAP)}{value}{draw(COMMENT)}"

    def foreign() -> str:
        nonlocal number
        number += 1
        return f"{draw(INDENT)}{draw(FOREIGN).format(k=f'other{number}')}{draw(COMMENT)}"

    for table in draw(st.permutations(["context", "exchange", "notices", "reminders", "clock", "models", "mine"])):
        if table == "models":
            models = draw(st.dictionaries(MODEL, st.integers(1, 99), max_size=3))
            held = [(quoted(draw, name), str(window)) for name, window in models.items()]
        else:
            held_names = [name for name in VALUES if name.partition(".")[0] == table and draw(st.booleans())]
            held = [(quoted(draw, name.partition(".")[2]), plain(draw(VALUES[name]))) for name in held_names]
        shown = quoted(draw, table)
        form = draw(st.sampled_from(["none", "header", "header", "dotted", "inline", "sub"]))
        if form == "header":
            lines = [*draw(BLANKS), f"{draw(INDENT)}[{draw(GAP)}{shown}{draw(GAP)}]{draw(COMMENT)}"]
            for key, value in held:
                lines += [*draw(BLANKS), pair(key, value)]
                if draw(st.booleans()) and table != "models":
                    lines.append(foreign())
            below.append(lines)
        elif form == "dotted":
            above += [pair(f"{shown}{draw(GAP)}.{draw(GAP)}{key}", value) for key, value in held]
        elif form == "inline":
            members = [f"{key}{draw(GAP)}={draw(GAP)}{value}" for key, value in held]
            above.append(pair(shown, "{" + draw(GAP) + f"{draw(GAP)},{draw(GAP)}".join(members) + draw(GAP) + "}"))
        elif form == "sub" and table != "models":
            below.append([f"[{shown}.sub]{draw(COMMENT)}", foreign()])
        if draw(st.booleans()):
            above += [*draw(BLANKS), foreign()]
    lines = [*above, *(line for block in below for line in block), *draw(BLANKS)]
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", newline)


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
        table, _, key = name.partition(".")
        if key:
            after.get(table, {}).pop(key, None)
        else:
            after.pop(table, None)
    for name, value in change.values.items():
        table, _, key = name.partition(".")
        after.setdefault(table, {})[key] = value.value if isinstance(value, Rearm) else value
    if change.models:
        after.setdefault("models", {}).update(change.models)
    return {name: table for name, table in after.items() if table != {}}


def loaded(text: str) -> dict[str, Any]:
    found = tomllib.loads(text, parse_float=lambda number: ("float", number))
    return {name: table for name, table in found.items() if table != {}}


def names(change: Command) -> set[str]:
    return {*change.values, *change.reset, *(f"models.{model}" for model in change.models)}


def touched(path: tuple[str, ...], change: Command) -> bool:
    rests = [".".join(path[1:]), "".join(path[1:2])]
    return path[0] in names(change) or any(f"{path[0]}.{rest}" in names(change) for rest in rests)


@given(documents(), commands())
def test_an_edit_gives_what_was_asked_and_keeps_the_rest(text: str, change: Command) -> None:
    after = edit(text, change)
    assert loaded(after) == apply(loaded(text), change)
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


@given(documents(), commands())
def test_every_line_that_holds_no_key_of_the_command_survives_in_order(text: str, change: Command) -> None:
    lines = text.split("\n")
    mine: set[int] = set()
    tables = {name.partition(".")[0] for name in names(change)}
    for entry in entries(text):
        inline = text.startswith("{", entry.value)
        if touched(entry.path, change) or (inline and entry.path[0] in tables):
            first, last = position(text, entry.start)[0], position(text, entry.end)[0]
            mine |= set(range(first - 1, last))
    rest = iter(edit(text, change).split("\n"))
    kept = [line for number, line in enumerate(lines) if number not in mine]
    if kept and kept[-1] == lines[-1] and lines[-1] and not lines[-1].endswith("\r"):
        kept[-1:] = []  # a last line without its newline gets one where something follows
    missing = [line for line in kept if line not in rest]
    assert missing == []


@given(documents(), commands())
def test_no_comment_is_lost(text: str, change: Command) -> None:
    after = edit(text, change)
    for comment in ["# note", "# second_threshold = 3 'x", "#]", "# ü", "# a line of its own", "] in it"]:
        assert after.count(comment) >= text.count(comment)


@given(documents(), commands())
def test_an_edit_done_again_changes_nothing(text: str, change: Command) -> None:
    after = edit(text, change)
    assert edit(after, change) == after


@given(documents())
def test_a_reset_of_what_is_not_stated_changes_nothing(text: str) -> None:
    rung = parse("lab", text, ZONES)
    unset = tuple(name for name in KEYS if name not in rung.values)
    assert edit(text, Command("lab", {}, {}, (*unset, "models.nobody"))) == text


@given(documents())
def test_stating_what_is_there_changes_nothing(text: str) -> None:
    rung = parse("lab", text, ZONES)
    assert edit(text, Command("lab", rung.values, rung.models, ())) == text


@given(documents(), commands())
def test_line_endings_stay_what_they_are(text: str, change: Command) -> None:
    after = edit(text, change)
    if "\r\n" in text:
        assert after.count("\n") == after.count("\r\n")
    else:
        assert "\r" not in after
