import tomllib
from typing import Any

import pytest

from ullage_server.ladder.document import MAX_DOCUMENT_BYTES
from ullage_server.ladder.places import chains, place_of, position

REARM = ("context", "rearm")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("context = {x = {rearm = 1}, rearm = 2}\n", (1, 17)),  # the first that is called so
        ("context = {x = 'rearm', rearm = 2}\n", (1, 25)),
        ("context = { 'rearm'= 2}\n", (1, 13)),
        ("context = {x = [\n1], rearm.y = 2}\n", (2, 5)),
        ('context = {"re\\u0061rm" = 2}\n', (1, 1)),
        ("  context . rearm.x = 2\n", (1, 3)),
        ("[context.sub]\n[context.rearm.x]\n", (2, 1)),
        ("[ context ]\r\n\r\n# c\r\n\t'rearm' = 2\r\n", (4, 2)),
        ("[context]\nx = [\n" + "1,\n" * 200 + "]\nrearm = 2\n", (204, 1)),
        ("[context]\nx = 1\n", (1, 1)),
        ("", (1, 1)),
    ],
)
def test_a_key_has_its_place(text: str, place: tuple[int, int]) -> None:
    tomllib.loads(text)
    assert place_of(text, REARM) == place


def test_an_offset_has_its_place() -> None:
    assert [position("a\nbc\n", at) for at in (0, 1, 2, 4, 5)] == [(1, 1), (1, 2), (2, 1), (2, 3), (3, 1)]


@pytest.mark.parametrize(
    "statement",
    [
        "x = [" + "\n1," * (MAX_DOCUMENT_BYTES // 3 - 20) + "]",
        "x = '''" + "\n" * (MAX_DOCUMENT_BYTES - 60) + "'''",
        "x = [" + ("\n" + "1," * 1600) * 18 + "]",
        "\n".join(f"x{number} = [" + "\n" * 30 + "]" for number in range(1500)),
        "[models]\n" + "".join(f"m{number} = 1\n" for number in range(6000)),
    ],
)
def test_a_place_is_found_behind_a_long_statement_of_which_little_is_read(
    statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = 0
    loads = tomllib.loads

    def counted(text: str) -> dict[str, Any]:
        nonlocal read
        read += len(text)
        return loads(text)

    monkeypatch.setattr("tomllib.loads", counted)
    text = f"{statement}\n[context]\nrearm = 2\n"
    assert len(text) <= MAX_DOCUMENT_BYTES
    assert place_of(text, REARM) == (text.count("\n"), 1)
    assert 0 < read <= len(text)


@pytest.mark.parametrize(
    "before",
    [
        "x = '''\n[context]\nrearm = 1\n'''\n",
        'x = """a\\"""\nrearm = 1"""""\n',
        "x = '''a'''''\n",
        'x = [\']\', "[\\"", # ]\n1]\n',
        "'x.y=' . \"=#\" = {a.b = '}', c = [{}]}\n",
        "[x] # [context]\ncontext.rearm = 1\n",
        "[[x.'context.rearm']]\nrearm = 1\n",
        "x = 'open # no'\ny = 1.5e3\n",
    ],
)
def test_what_only_looks_like_the_key_is_passed_over(before: str) -> None:
    text = f"{before}[context]\r\n\trearm = 2\n"
    tomllib.loads(text)
    assert place_of(text, REARM) == (text.count("\n"), 2)


@pytest.mark.parametrize(
    "hidden",
    [
        'x = """a"""", ',
        "x = ['''a''''', ",
        'x = "\\"" #',
        "x = '\\'\n",
        "# '''\n",
        '"""',
        "",
        'x = ["""\\"""", ',
        "x\n",
    ],
)
def test_a_key_of_many_parts_is_seen_behind_whatever_stands_before_it(hidden: str) -> None:
    text = f"{hidden}\n" + "a." * 40 + "a = 1\n"
    assert max(chain.parts for chain in chains(text)) == (1 if hidden == '"""' else 41)


@pytest.mark.parametrize(
    "text", ["x = '" + "a." * 99 + "'\n", "# " + "a." * 99, "x = [" + "1.5, " * 99 + "]\n", "x.y = 1\n" * 99]
)
def test_dots_that_join_no_parts_are_not_counted(text: str) -> None:
    assert max(chain.parts for chain in chains(text)) <= 2
