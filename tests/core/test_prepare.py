"""PrepareCall as a whole (rules.md 3 and 7): one answer a turn, whatever is tried again, and nothing lost."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.core.calls import TOOL, USER, Book, call, candidate, said
from tests.core.runs import stated
from ullage_server.core.call import Call
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.fork import fork, inherit
from ullage_server.core.gauge import Sounded
from ullage_server.core.insertion import Insertion, InsertionKind, Lifetime, Placement
from ullage_server.core.plan import Frozen
from ullage_server.core.records import CallPrepared, WindowReset
from ullage_server.core.registry import Edge
from ullage_server.core.run import finish, start
from ullage_server.core.settings import Rearm
from ullage_server.core.state import Origin
from ullage_server.core.tail import Tail, TailRole

SECOND = 10**9


def everything_on(rearm: Rearm = Rearm.PER_RUN) -> Book:
    plan = stated(rearm=rearm)
    plan = replace(plan, agent="Weaver", time_budget=3600 * SECOND)
    return Book(replace(plan, settings={**plan.settings, "notices.every_steps": 2}))


REMINDERS = (
    candidate("house", "Shoes off.", Edge.SESSION_START),
    candidate("start", "Look at the tide.", Edge.PROMPT_START),
    candidate("each", "Mind the gate.", Edge.EVERY_CALL),
)


def refused(reason: Reason, book: Book, one: Call) -> Refusal:
    before = book.run
    with pytest.raises(Refusal) as caught:
        book.prepare(one)
    assert caught.value.reason is reason
    assert book.run is before
    return caught.value


def test_the_order_of_everything() -> None:
    book = everything_on()
    first = book.prepare(call(1, tail=Tail(TailRole.USER, False, False), candidates=REMINDERS))
    assert said(first) == ["1/session", "1/registered/house", "1/registered", "1/time"]
    book.observe(1, 310)
    again = book.prepare(
        call(2, tail=USER, candidates=REMINDERS, unplaced=["1/context/first", *said(first)], left=1800 * SECOND)
    )
    assert said(again) == [
        "1/session",
        "2/session",
        "1/registered/house",
        "2/registered",
        "1/context/first",
        "2/notice",
        "2/time",
    ]
    placements = [one.placement for one in again]
    assert placements == [Placement.BEFORE_TAIL] * 4 + [Placement.AFTER_TAIL] * 3
    book.observe(2, 320)
    third = book.prepare(call(3, 2, TOOL, candidates=REMINDERS, left=899 * SECOND))
    assert said(third) == ["3/registered/each", "3/time"]


def test_an_empty_answer_writes_nothing() -> None:
    book = Book()
    assert book.prepare(call(5)) == ()
    assert book.prepare(call(3, unplaced=["1/notice", "2/session", "nobody", "1/time"])) == ()
    assert book.records == []


def test_a_turn_that_is_past_is_refused() -> None:
    book = everything_on()
    book.prepare(call(4))
    assert "turn is 4" in refused(Reason.TURN_OUT_OF_ORDER, book, call(3)).message
    book.observe(4)
    refused(Reason.TURN_OUT_OF_ORDER, book, call(4))
    book.run = replace(book.run, last_compacted=7)
    refused(Reason.TURN_OUT_OF_ORDER, book, call(6))
    book.prepare(call(7))
    record = finish(book.run, "done", 9)
    assert record is not None
    book.run = replace(book.run, finish_time=9)
    refused(Reason.RUN_FINISHED, book, call(8))


def test_a_call_refused_ten_times_gives_each_durable_text_once_and_counts_it_once() -> None:
    book = everything_on()
    book.observe(1, 310)
    tail = Tail(TailRole.USER, False, False)
    first = book.prepare(call(2, tail=tail, candidates=REMINDERS, left=3600 * SECOND))
    counted = book.run.insertions_given, book.run.insertion_tokens
    for n in range(1, 11):
        again = book.prepare(call(2, tail=tail, candidates=REMINDERS, left=(3600 - n) * SECOND))
        assert said(again) == said(first)
        assert [one for one in again if one.lifetime is Lifetime.DURABLE] == [
            one for one in first if one.lifetime is Lifetime.DURABLE
        ]
    assert (book.run.insertions_given, book.run.insertion_tokens) == counted


def test_a_reset_is_told_once_and_taken_back() -> None:
    book = Book(stated(rearm=Rearm.PER_WINDOW))
    book.observe(1, 700)
    assert book.run.sounded is Sounded.HANDOVER
    assert book.prepare(call(2, reset=True)) == ()
    assert (book.run.window_epoch, book.run.sounded, book.run.last_reset_turn) == (1, Sounded.NOTHING, 2)
    told = book.run
    assert book.prepare(call(2, reset=True)) == ()
    assert book.run == told, "it counts once"
    assert book.prepare(call(2)) == ()
    assert (book.run.window_epoch, book.run.sounded, book.run.last_reset_turn) == (0, Sounded.HANDOVER, 0)
    assert book.run.reading is not None
    assert not book.run.reading.stale
    assert [r.taken_back for r in book.records if isinstance(r, WindowReset)] == [False, True]
    book.prepare(call(2, reset=True))
    assert book.observe(2, 310, reset=True) is not None, "told before the call it is not told anew by the report"
    assert book.run.window_epoch == 1


def test_a_durable_text_is_given_again_at_a_repeat_that_can_no_longer_place_it_when_it_can() -> None:
    book = everything_on()
    (block, *_) = book.prepare(call(1, left=3600 * SECOND))
    assert said(book.prepare(call(1, tail=TOOL, left=3599 * SECOND))) == ["1/time"]
    assert book.run.memory.waiting == (block.id,)
    assert book.prepare(call(2, tail=USER, left=3598 * SECOND))[0] == block


def test_a_branch_says_again_what_was_said_after_it_left() -> None:
    book = everything_on()
    tail = Tail(TailRole.USER, False, False)
    book.prepare(call(1, tail=tail, candidates=REMINDERS, left=3600 * SECOND))
    book.observe(1, 310)
    book.prepare(call(2, left=1800 * SECOND))
    book.observe(2, 320)
    plan = book.run.plan
    first = start("r", stated(), Frozen(plan, ()), 1)

    def branch(through: int, own_budget: int | None = None) -> Book:
        mother = inherit(None, [first, *book.records], through)
        assert mother is not None
        own = replace(stated(), context_tokens=0, time_budget=own_budget, settings={})
        child = Book()
        record = fork("b", Origin("r", through), own, own, Frozen(plan, ()), mother, 77)
        child.run = inherit(None, [record], 0) or child.run
        return child

    early, late = branch(0), branch(1)
    assert "1/registered/house" in said(early.prepare(call(1, tail=tail, candidates=REMINDERS)))
    assert "2/registered/house" not in said(late.prepare(call(2, tail=tail, candidates=REMINDERS)))
    assert late.run.clock_start == book.run.clock_start
    assert late.run.memory.time_told == (1, 0, 0, 0)
    assert branch(2).run.memory.time_told == (1, 2, 0, 0)
    own = branch(2, 60 * SECOND)
    assert (own.run.clock_start, own.run.memory.time_told) == (77, (0, 0, 0, 0))


@dataclass
class Harness:
    """A loop as people write it: a history that grows at its end, and what the model was sent of it."""

    book: Book = field(default_factory=everything_on)
    history: list[str] = field(default_factory=list)
    unplaced: list[str] = field(default_factory=list)
    turn: int = 0
    step: int = 0
    left: int = 3600
    heard: list[str] = field(default_factory=list)

    def ask(self, *, prompts: bool, fails: int, reset: bool, loses: bool, used: int) -> None:
        prompts = prompts or not self.step or reset
        self.turn, self.step = self.turn + 1, 1 if prompts else self.step + 1
        if reset:
            self.history = ["summary"]
        tail = f"user {self.turn}" if prompts else f"tool {self.turn}"
        before = list(self.history)
        sent: list[list[str]] = []
        for n in range(fails + 1):
            self.left -= 1
            given = self.book.prepare(
                call(
                    self.turn,
                    self.step,
                    Tail(TailRole.USER if prompts else TailRole.TOOL_RESULT, False, len(before) > 1),
                    candidates=REMINDERS,
                    left=self.left * SECOND,
                    reset=reset,
                    unplaced=self.unplaced if n == 0 else (),
                )
            )
            lasting = [one for one in given if one.lifetime is Lifetime.DURABLE]
            sent.append(
                [
                    *before,
                    *(one.id for one in lasting if one.placement is Placement.BEFORE_TAIL),
                    tail,
                    *(one.id for one in lasting if one.placement is Placement.AFTER_TAIL),
                ]
            )
            assert sent[0] == sent[-1], "a call prepared again is the same request, but for what is for it alone"
            self._check_transient(given)
        self.unplaced = [one.id for one in lasting] if loses else []
        self.heard += [] if loses else [one.id for one in lasting]
        reply = f"model {self.turn}"
        self.history = [*before, tail, reply] if loses else [*sent[-1], reply]
        reminder = self.book.observe(self.turn, used)
        if reminder is not None:
            self.history.append(reminder.id)

    def _check_transient(self, given: tuple[Insertion, ...]) -> None:
        before = [one for one in given if one.placement is Placement.BEFORE_TAIL]
        after = [one for one in given if one.placement is Placement.AFTER_TAIL]
        assert [one.lifetime for one in before[:-1]] == [Lifetime.DURABLE] * (len(before) - 1 if before else 0)
        first = next((n for n, one in enumerate(after) if one.lifetime is Lifetime.TRANSIENT), len(after))
        assert all(one.lifetime is Lifetime.TRANSIENT for one in after[first:]), "stands after all that stays"


steps = st.builds(
    dict,
    prompts=st.booleans(),
    fails=st.integers(0, 2),
    reset=st.sampled_from([False, False, False, True]),
    loses=st.sampled_from([False, False, True]),
    used=st.integers(1, 1000),
)


@settings(max_examples=300)
@given(st.lists(steps, max_size=12))
def test_with_every_source_on_a_history_only_grows_at_its_end_and_no_durable_text_is_lost_or_doubled(
    actions: list[dict[str, int]],
) -> None:
    harness = Harness()
    for action in actions:
        before = harness.history
        harness.ask(**action)
        if not action["reset"]:
            assert harness.history[: len(before)] == before, "nothing already sent is changed"
    lost = harness.unplaced + list(harness.book.run.memory.waiting)
    born = [
        one.id
        for record in harness.book.records
        if isinstance(record, CallPrepared)
        for one in record.insertions
        if one.lifetime is Lifetime.DURABLE and one.kind is not InsertionKind.USAGE
    ]
    assert len(harness.heard) == len(set(harness.heard)), "none is placed twice"
    assert set(born) == set(harness.heard) | set(lost), "none is lost"


@given(st.lists(steps, max_size=10))
def test_what_is_given_is_counted_once(actions: list[dict[str, int]]) -> None:
    harness = Harness()
    for action in actions:
        harness.ask(**action)
    ids = {one.id for r in harness.book.records if isinstance(r, CallPrepared) for one in r.insertions}
    reminders = {r.reminder.id for r in harness.book.records if getattr(r, "reminder", None)}
    assert harness.book.run.insertions_given == len(ids | reminders)
