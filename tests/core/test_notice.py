"""The notice (rules.md 4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.core.calls import TOOL, USER, Book, call, said
from tests.core.runs import stated
from ullage_server.core.domain import MAX_TOKENS
from ullage_server.core.insertion import Lifetime, Placement
from ullage_server.core.notice import compact


def noticing(every: int, window: int = 1000) -> Book:
    plan = stated(window)
    return Book(replace(plan, settings={**plan.settings, "notices.every_steps": every}))


@pytest.mark.parametrize(
    ("tokens", "told"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1k"),
        (1499, "1k"),
        (1500, "2k"),
        (24_636, "25k"),
        (999_499, "999k"),
        (999_500, "1M"),
        (1_049_999, "1M"),
        (1_050_000, "1.1M"),
        (1_500_000, "1.5M"),
        (9_950_000, "10M"),
        (MAX_TOKENS, "9007199254.7M"),
    ],
)
def test_counts_are_compact(tokens: int, told: str) -> None:
    assert compact(tokens) == told


@given(st.integers(0, MAX_TOKENS), st.integers(0, MAX_TOKENS))
def test_more_is_never_told_as_less(one: int, other: int) -> None:
    def value(told: str) -> float:
        return float(told.rstrip("kM")) * {"k": 1e3, "M": 1e6}.get(told[-1], 1)

    low, high = sorted((one, other))
    assert value(compact(low)) <= value(compact(high))


@given(st.integers(0, 40), st.integers(1, 60))
def test_it_comes_at_every_so_many_steps(every: int, step: int) -> None:
    book = noticing(every)
    book.observe(9, 300)
    due = bool(every) and (step - 1) % every == 0
    given = book.prepare(call(100, step, USER))
    assert said(given) == (["100/notice"] if due else [])
    if due:
        assert (given[0].placement, given[0].lifetime) == (Placement.AFTER_TAIL, Lifetime.DURABLE)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 1000)), max_size=30))
def test_no_text_is_said_twice_in_a_row_in_a_prompt(turns: list[tuple[bool, int]]) -> None:
    book = noticing(1)
    step, last = 0, ""
    for turn, (prompts, used) in enumerate(turns, 1):
        step = 1 if prompts or not step else step + 1
        last = "" if step == 1 else last
        for one in book.prepare(call(turn, step, USER if step == 1 else TOOL)):
            assert one.text != last
            last = one.text
        book.observe(turn, used or None)


def test_the_text_of_the_last_notice_of_a_prompt_is_not_said_again() -> None:
    book = noticing(1)
    book.observe(1, 300)
    assert said(book.prepare(call(2, 1))) == ["2/notice"]
    book.observe(2, 300)
    assert book.prepare(call(3, 2, TOOL)) == ()
    book.observe(3, 300)
    assert said(book.prepare(call(4, 1))) == ["4/notice"]


def test_what_is_not_known_is_not_told() -> None:
    assert noticing(1).prepare(call(1)) == ()
    unknown = noticing(1, window=0)
    unknown.observe(1, 300)
    assert unknown.prepare(call(2)) == ()
    assert said(unknown.prepare(call(3, window=600))) == ["3/notice"]
    stale = noticing(1)
    stale.observe(1, 300)
    assert stale.prepare(call(2, reset=True)) == ()
