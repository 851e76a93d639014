"""The scanner finds each pair where the standard library's parser sees it, and chokes on nothing that it takes."""

import tomllib
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ladder.fakes import ZONES
from tests.ladder.test_edit_properties import documents
from ullage_server.core.errors import Reason, Refusal
from ullage_server.ladder.document import parse
from ullage_server.ladder.toml_text import entries, position

WORDS = [
    "a",
    "b",
    "context",
    "models",
    "second_threshold",
    "1",
    "4_0",
    "0x1f",
    "1.5",
    "nan",
    "true",
    "1979-05-27",
    "ü",
]
LINES = ["a = 1\n", "[a]\n", "[[a]]\n", "a.b = {c = 1}\n", "'x' = [1, {b = 2}]\n", '"""\n"', "\r\n"]
PIECES = st.sampled_from([*"[]{}=,.# \n\t'\"\\", "[[", "]]", " = ", "'''", '"""', *WORDS, *LINES])


def read(text: str) -> dict[str, Any]:
    """What `text` holds; a number with a point as its letters, for no `nan` equals another."""
    return tomllib.loads(text, parse_float=lambda number: ("float", number))


def held(document: dict[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = document
    for name in path:
        found = found[name]
    return found


@given(documents())
def test_each_value_stands_where_it_is_said_to(text: str) -> None:
    document = read(text)
    for entry in entries(text):
        assert entry.start <= entry.value <= entry.end
        value = held(document, entry.path)
        if entry.is_header:
            assert isinstance(value, dict)
            assert text[entry.start] == "["
            assert text[entry.end - 1] == "]"
        else:
            shown = tomllib.loads(
                f"x = {text[entry.value : entry.end]}", parse_float=lambda number: ("float", number)
            )
            assert shown["x"] == value


@given(st.lists(PIECES, max_size=25).map("".join))
def test_any_text_is_read_or_refused_with_its_place(text: str) -> None:
    refusal = None
    try:
        parse("lab", text, ZONES)
    except Refusal as raised:
        refusal = raised
    if refusal:
        assert refusal.reason is Reason.CONFIG_UNREADABLE
        assert "line" in refusal.message
        assert "column" in refusal.message
    with suppress(ValueError):
        tomllib.loads(text)
        entries(text)


@pytest.mark.parametrize(
    ("text", "offset", "place"),
    [("", 0, (1, 1)), ("ab", 1, (1, 2)), ("a\nb", 1, (1, 2)), ("a\nb", 2, (2, 1)), ("a\r\nüb", 4, (2, 2))],
)
def test_lines_and_columns_are_counted_from_one(text: str, offset: int, place: tuple[int, int]) -> None:
    assert position(text, offset) == place
