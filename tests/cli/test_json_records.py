"""JSON values are found however they stand in a file (cli/json_records.py)."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage_server.cli.json_records import UNREADABLE, NotUtf8, json_records

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
records = st.dictionaries(st.text(max_size=5), values, max_size=4)


def found(text: str) -> list[tuple[int, Any]]:
    unit, items = json_records(io.BytesIO(text.encode()))
    assert unit == "line"
    return list(items)


@given(st.lists(st.tuples(records, st.sampled_from(["line", "pretty", "same line"])), min_size=1, max_size=6))
def test_records_are_the_same_however_they_stand(written: list[tuple[dict[str, Any], str]]) -> None:
    text = ""
    for record, how in written:
        text += json.dumps(record, indent=2 if how == "pretty" else None)
        text += " " if how == "same line" else "\n"
    assert [value for _, value in found(text)] == [record for record, _ in written]


@given(st.lists(records, min_size=1, max_size=5), st.data())
def test_a_line_that_broke_off_takes_no_other_along(written: list[dict[str, Any]], data: st.DataObject) -> None:
    lines = [json.dumps(record) for record in written]
    at = data.draw(st.integers(0, len(lines)))
    lines.insert(at, '{"half": [1, {"text": "and th')
    assert found("\n".join(lines)) == [
        *enumerate(written[:at], 1),
        (at + 1, UNREADABLE),
        *enumerate(written[at:], at + 2),
    ]


def test_what_is_no_json_is_told_by_its_line() -> None:
    assert found('\n{"a": 1}\nwords\n{\n  "b": 2\n} {"c": 3}\nlast') == [
        (2, {"a": 1}),
        (3, UNREADABLE),
        (4, {"b": 2}),
        (4, {"c": 3}),
        (7, UNREADABLE),
    ]
    assert found('{\n"a":\nnothing that ends') == [(1, UNREADABLE), (2, UNREADABLE), (3, UNREADABLE)]


def test_an_array_is_its_entries() -> None:
    unit, items = json_records(io.BytesIO(b"\xef\xbb\xbf\n [1,\n {}]"))
    assert (unit, list(items)) == ("entry", [(1, 1), (2, {})])
    assert found("[1] [2]\n{}") == [(1, [1]), (1, [2]), (2, {})]


def test_bytes_that_are_no_utf8_are_told_by_their_line() -> None:
    _, items = json_records(io.BytesIO(b'{}\n{"a": "\xff"}'))
    with pytest.raises(NotUtf8) as caught:
        list(items)
    assert caught.value.line == 2
