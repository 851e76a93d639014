"""The session context (rules.md 6)."""

import pytest
from msgspec.structs import replace

from tests.core.calls import FIRST, TOOL, Book, call, said
from tests.core.runs import stated
from ullage_server.core.insertion import Lifetime, Placement

BLOCK = "<agent-context>\nagent: Weaver\nrole: root\nsession: s-1\ndate: 7 in UTC\n</agent-context>"
WITHOUT_ID = BLOCK.replace("session: s-1\n", "")


def woven(**more: str) -> Book:
    return Book(replace(stated(), agent="Weaver", session_id="s-1", **more))


def test_the_block() -> None:
    (block,) = woven().prepare(call(1, tail=FIRST, now=7))
    assert (block.id, block.text) == ("1/session", BLOCK)
    assert (block.placement, block.lifetime) == (Placement.BEFORE_TAIL, Lifetime.DURABLE)
    (block,) = woven(parent_session_id="p-1").prepare(call(1, tail=FIRST, now=7))
    assert block.text == BLOCK.replace("role: root", "role: branch\nparent session: p-1")


def test_it_is_for_the_first_step_of_an_agent_with_a_name() -> None:
    assert Book().prepare(call(1)) == ()
    assert woven().prepare(call(2, 2)) == ()
    assert woven().prepare(call(2, 1, TOOL)) == ()


def test_the_id_is_left_out_while_it_is_in_the_window() -> None:
    book = woven()
    texts = []
    for turn in range(1, 9):
        # Before turn 3 the caller tells of a reset; the report of turn 5 does.
        texts.append(book.prepare(call(turn, now=7, reset=turn == 3))[0].text)
        book.observe(turn, reset=turn == 5)
    assert texts == [BLOCK, WITHOUT_ID, BLOCK, WITHOUT_ID, WITHOUT_ID, BLOCK, WITHOUT_ID, WITHOUT_ID]


@pytest.mark.parametrize(("says", "text"), [(True, WITHOUT_ID), (False, BLOCK)])
def test_the_caller_knows_better(*, says: bool, text: str) -> None:
    book = woven()
    assert book.prepare(call(1, now=7, in_context=says))[0].text == text
    assert book.prepare(call(2, now=7, in_context=says))[0].text == text
    assert book.prepare(call(3, now=7))[0].text == (BLOCK if says else WITHOUT_ID)


def test_a_call_prepared_again_has_the_same_block_and_a_reset_taken_back_leaves_the_id_where_it_was() -> None:
    book = woven()
    book.prepare(call(1, now=7))
    first = book.prepare(call(2, now=7, reset=True))
    assert first[0].text == BLOCK
    assert book.prepare(call(2, now=99)) == first
    assert book.run.window_epoch == 0
    assert book.prepare(call(3, now=7))[0].text == WITHOUT_ID


def test_a_block_that_came_to_stand_nowhere_waits_for_the_user_and_comes_before_the_new_one() -> None:
    book = woven()
    (first,) = book.prepare(call(1, now=7))
    assert book.prepare(call(2, 2, TOOL, unplaced=["1/session"])) == ()
    assert book.run.memory.waiting == ("1/session",)
    position = book.run.position
    assert book.prepare(call(3, 3, TOOL)) == ()
    assert book.run.position == position, "the wait is recorded once"
    again = book.prepare(call(4, 1, now=7))
    assert said(again) == ["1/session", "4/session"]
    assert again[0] == first
    assert book.run.memory.waiting == ()
