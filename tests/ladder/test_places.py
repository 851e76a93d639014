import tomllib
from typing import Any

import pytest

from ullage_server.ladder import places
from ullage_server.ladder.document import MAX_DOCUMENT_BYTES
from ullage_server.ladder.places import place_of, position

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
    ],
)
def test_the_search_ends_however_long_a_statement_is(statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    loads = tomllib.loads

    def counted(text: str) -> dict[str, Any]:
        nonlocal read
        read += len(text)
        return loads(text)

    monkeypatch.setattr("tomllib.loads", counted)
    text = f"{statement}\n[context]\nrearm = 2\n"
    assert len(text) <= MAX_DOCUMENT_BYTES
    assert place_of(text, REARM) == (1, 1)
    assert 0 < read <= places._MAX_READ
    assert place_of(f"[context]\nrearm = 2\n{statement}", REARM) == (2, 1)
