"""The time budget (rules.md 5)."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.core.calls import TOOL, Book, call, said
from tests.core.runs import stated
from ullage_server.core import time_budget
from ullage_server.core.plan import MAX_TIME_BUDGET

SECOND = 10**9


def timed(seconds: int) -> Book:
    return Book(replace(stated(), time_budget=seconds * SECOND))


@pytest.mark.parametrize(
    ("budget", "left", "words"),
    [
        (1800, 1800, "30 of 30 min left"),
        (1800, Fraction(17999, 10), "29 of 30 min left"),
        (1800, Fraction(1200001, 10000), "2 of 30 min left"),
        (1800, 120, "120 s left"),
        (1800, Fraction(1199999, 10000), "110 s left"),
        (1800, 10, "10 s left"),
        (1800, Fraction(99999, 10000), "under 10 seconds left"),
        (1800, 0, "under 10 seconds left"),
        (600, 900, "15 of 15 min left"),
    ],
)
def test_the_words(budget: int, left: Fraction, words: str) -> None:
    told = time_budget.reminder(3, budget * SECOND, int(left * SECOND))
    assert (told.id, told.text) == ("3/time", f"[time] {words}")


@given(st.integers(1, MAX_TIME_BUDGET), st.integers(0, MAX_TIME_BUDGET))
def test_it_is_short(budget: int, left: int) -> None:
    assert len(time_budget.reminder(1, budget, left).text.encode()) <= 80


@given(st.integers(130, 10_000), st.lists(st.integers(121, 12_000), max_size=40))
def test_each_step_is_told_at_most_once_whatever_is_left(budget: int, lefts: list[int]) -> None:
    book = timed(budget)
    told = [
        bool(book.prepare(call(turn, tail=TOOL, step=turn, left=left * SECOND)))
        for turn, left in enumerate(lefts, 1)
    ]
    lowest, crossed = None, 0
    for left, spoke in zip(lefts, told, strict=True):
        lowest = left if lowest is None else min(lowest, left)
        steps = 1 + sum(lowest * part <= budget for part in (2, 4, 10))
        assert spoke == (steps > crossed), "a step is told when it is first met, and never again"
        crossed = steps


@given(st.lists(st.integers(-(10**18), 10**18), min_size=1, max_size=20))
def test_a_clock_that_jumps_tells_no_step_twice_and_nothing_below_nought(jumps: list[int]) -> None:
    book = timed(3600)
    steps = 0
    for turn, jump in enumerate(jumps, 1):
        left = time_budget.remaining(3600 * SECOND, 1, jump)
        assert 0 <= left <= 3600 * SECOND
        spoke = bool(book.prepare(call(turn, tail=TOOL, step=turn), at=jump))
        steps += spoke and not time_budget.is_last(left)
    assert steps <= len(time_budget.PARTS)


def test_forty_requests_in_thirty_minutes_hear_of_it_seven_times() -> None:
    book = timed(1800)
    given = [
        one
        for n in range(40)
        for one in book.prepare(call(n + 1, n + 1, TOOL, left=round((1800 - (1785 / 39) * n) * SECOND)))
    ]
    assert len(given) == 7
    assert len({one.id for one in given}) == 7


def test_a_call_prepared_again_hears_of_it_again_with_what_is_left_now() -> None:
    book = timed(1800)
    book.observe(1)
    texts = [book.prepare(call(2, left=left * SECOND))[0].text for left in (1800, 1795, 1700)]
    assert texts == ["[time] 30 of 30 min left", "[time] 29 of 30 min left", "[time] 28 of 30 min left"]
    assert book.run.insertions_given == 1
    book.observe(2)
    assert book.prepare(call(3, left=1699 * SECOND)) == ()


def test_a_reminder_that_came_to_stand_nowhere_is_due_again() -> None:
    book = timed(1000)
    assert said(book.prepare(call(1, left=1000 * SECOND))) == ["1/time"]
    assert said(book.prepare(call(2, left=500 * SECOND))) == ["2/time"]
    assert said(book.prepare(call(3, left=490 * SECOND, unplaced=["2/time"]))) == ["3/time"]
    assert book.prepare(call(4, left=480 * SECOND, unplaced=["2/time", "9/time", "time", "x/time"])) == ()
