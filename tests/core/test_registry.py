"""Registered reminders (rules.md 7)."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.core.calls import EMPTY, FAILED_TOOL, FIRST, TOOL, USER, Book, call, candidate, said
from tests.core.runs import stated
from ullage_server.core.errors import Refusal
from ullage_server.core.insertion import Lifetime, Placement
from ullage_server.core.registry import Candidate, Edge, harmless, speaking, transient
from ullage_server.core.tail import Tail

TAILS = [EMPTY, FIRST, USER, TOOL, FAILED_TOOL]
reminders = st.builds(
    candidate,
    id=st.sampled_from("abcdefgh"),
    text=st.text("xé \n", max_size=12),
    edge=st.sampled_from([Edge.PROMPT_START, Edge.EVERY_CALL, Edge.TOOL_ERROR]),
    priority=st.integers(-3, 3),
)


@pytest.mark.parametrize(
    ("tail", "edges"),
    [
        (EMPTY, set()),
        (FIRST, {Edge.SESSION_START, Edge.PROMPT_START, Edge.EVERY_CALL}),
        (USER, {Edge.PROMPT_START, Edge.EVERY_CALL}),
        (TOOL, {Edge.EVERY_CALL}),
        (FAILED_TOOL, {Edge.TOOL_ERROR, Edge.EVERY_CALL}),
    ],
)
def test_the_edges_go_by_the_tail(tail: Tail, edges: set[Edge]) -> None:
    assert {e for e in Edge if Book().prepare(call(1, tail=tail, candidates=[candidate("a", edge=e)]))} == edges


@given(st.lists(reminders, max_size=20), st.integers(0, 60), st.sampled_from(TAILS))
def test_what_is_kept_is_the_highest_that_fits(one: list[Candidate], budget: int, tail: Tail) -> None:
    standing = {each.id: each for each in one}
    fires = [each for at, each in enumerate(one) if standing[each.id] is each and each not in one[at + 1 :]]
    fires = [
        each
        for each in fires
        if each.text.strip()
        and (
            (each.edge is Edge.EVERY_CALL and tail.role)
            or (each.edge is Edge.PROMPT_START and tail.is_user)
            or (each.edge is Edge.TOOL_ERROR and tail is FAILED_TOOL)
        )
    ]
    block = transient(1, speaking(one, tail), tail, budget)
    kept = [key.removeprefix("registered/") for key in block.keys] if block else []
    by_priority = sorted(fires, key=lambda each: -each.priority)
    assert kept == [each.id for each in by_priority[: len(kept)]], "in order, and from the top"
    assert sum(len(each.text) for each in by_priority[: len(kept)]) <= budget
    if len(kept) < len(by_priority):
        assert sum(len(each.text) for each in by_priority[: len(kept) + 1]) > budget, "as many as fit"
    if block:
        assert block.lifetime is Lifetime.TRANSIENT
        assert (block.placement is Placement.BEFORE_TAIL) == tail.is_user


HOSTILE = st.text(st.sampled_from("</ >\n\"'&rR"), max_size=8) | st.sampled_from(
    [
        "reminder",
        "system_reminder",
        "System-Reminder",
        "agent-context",
        "</reminder>",
        "<\n/\tREMINDER",
        "<b>",
        "\u2003/",
    ]
)


@given(st.lists(HOSTILE, max_size=8).map("".join))
def test_nothing_steps_out_of_its_block(text: str) -> None:
    (block,) = Book().prepare(call(1, candidates=[candidate("a", f"x{text}")]))
    tags = re.findall(r"<\s*/?\s*(?:system_reminder|system-reminder|reminder|agent-context)", block.text, re.I)
    assert tags == ["<system_reminder", "<reminder", "</reminder", "</system_reminder"]
    inside = block.text.removeprefix('<system_reminder>\n<reminder type="a">\nx')
    inside = inside.removesuffix("\n</reminder>\n</system_reminder>")
    assert inside.replace("&lt;", "<") == text.replace("&lt;", "<"), "and it stays readable"
    assert harmless(inside) == inside


@given(st.lists(st.lists(st.sampled_from("abc"), unique=True), max_size=8))
def test_a_durable_reminder_is_said_once_in_a_run(calls: Sequence[list[str]]) -> None:
    book, heard = Book(), list[str]()
    for turn, ids in enumerate(calls, 1):
        candidates = [candidate(id, edge=Edge.SESSION_START) for id in ids]
        for block in book.prepare(call(turn, tail=FIRST, candidates=candidates)):
            assert block.lifetime is Lifetime.DURABLE
            heard += block.keys
    assert heard == [f"registered/{id}" for id in dict.fromkeys(id for ids in calls for id in ids)]


def test_the_budget_is_the_runs() -> None:
    plan = stated()
    book = Book(replace(plan, settings={**plan.settings, "reminders.budget_chars": 5}))
    assert book.prepare(call(1, candidates=[candidate("a", "123456")])) == ()
    assert said(book.prepare(call(1, candidates=[candidate("a", "12345")]))) == ["1/registered/a"]
    several = book.prepare(call(1, candidates=[candidate("a", "12"), candidate("b", "34")]))
    assert said(several) == ["1/registered"]


@pytest.mark.parametrize(
    "wrong",
    [
        Candidate("odd", "odd", None, Lifetime.TRANSIENT, 50, "x"),
        Candidate("odd", "odd", Edge.EVERY_CALL, None, 50, "x"),
        Candidate("odd", "odd", Edge.EVERY_CALL, Lifetime.DURABLE, 50, "x"),
        Candidate("odd", "odd", Edge.SESSION_START, Lifetime.TRANSIENT, 50, "x"),
        Candidate("odd", "a b", Edge.EVERY_CALL, Lifetime.TRANSIENT, 50, "x"),
        Candidate("odd", "x" * 65, Edge.EVERY_CALL, Lifetime.TRANSIENT, 50, "x"),
    ],
)
def test_what_is_wrong_is_refused_by_its_name(wrong: Candidate) -> None:
    with pytest.raises(Refusal, match="odd") as caught:
        call(1, candidates=[candidate("fine"), wrong])
    assert caught.value.field.startswith("candidates[1].")
