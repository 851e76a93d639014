"""A branch: what it inherits of its mother, what it states itself, where it may begin."""

import pytest
from msgspec.structs import replace

from tests.core.runs import report, started, stated
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.fold import fold
from ullage_server.core.fork import (
    check_ancestor,
    check_fork,
    check_reached,
    fork,
    freeze_branch,
    in_force,
    inherit,
    same_fork,
)
from ullage_server.core.observe import observe
from ullage_server.core.plan import Stated, freeze
from ullage_server.core.records import Record
from ullage_server.core.run import finish, start
from ullage_server.core.state import Origin, State


def mother(turns: int) -> list[Record]:
    """The records of a run of that many turns, each ten percent fuller, and of its end."""
    said = stated(window=1000)
    records: list[Record] = [start("m", said, freeze("m", said, [], lambda model: None), at=1)]
    state = fold(None, records[0])
    for turn in range(1, turns + 1):
        records.append(observe(state, report(turn, min(turn, 99) * 10), None, None, at=turn))
        state = fold(state, records[-1])
    end = finish(state, "done", at=99)
    assert end is not None
    return [*records, end]


def nothing(**said: object) -> Stated:
    """What a fork states that states no more than `said`."""
    return replace(replace(stated(), context_tokens=0, settings={}), **said)


def branch(records: list[Record], through: int, own: Stated | None = None) -> State:
    own = nothing() if own is None else own
    state = inherit(None, records, through)
    assert state is not None
    first = records[0]
    merged = in_force(own, first.stated, state.plan)
    frozen = freeze_branch("b", own, merged, state.plan, [], lambda model: None)
    return fold(None, fork("b", Origin("m", through), own, merged, frozen, state, at=7))


def test_a_branch_at_every_turn_of_a_long_run_has_her_gauge_there() -> None:
    records = mother(300)
    state: State | None = None
    for through, record in enumerate(records[:-1]):
        state = fold(state, record)
        begun = branch(records, through)
        assert (begun.sounded, begun.reading) == (state.sounded, state.reading)
        assert (begun.last_turn, begun.position, begun.finished) == (through, 1, False)
        assert begun.origin == Origin("m", through)


def test_records_of_later_turns_are_left_out_wherever_they_stand() -> None:
    records = mother(4)
    late = replace(records[4], position=2)
    moved = [records[0], late, *(replace(record, position=n) for n, record in enumerate(records[1:4], 3))]
    begun = branch(moved, 3)
    assert begun.reading is not None
    assert begun.reading.turn == 3


def test_a_window_named_by_a_report_is_inherited_unless_the_branch_states_one_or_another_model() -> None:
    said = stated(window=1000)
    first = start("m", said, freeze("m", said, [], lambda model: None), at=1)
    run = fold(None, first)
    named = observe(run, replace(report(1, 10), context_tokens=5000), None, None, at=2)
    records = [first, named]
    assert branch(records, 1).context_tokens == 5000
    assert branch(records, 0).context_tokens == 1000
    assert branch(records, 1, nothing(context_tokens=700)).context_tokens == 700
    assert branch(records, 1, nothing(model="another")).context_tokens == 0


def test_what_the_mother_stated_holds_where_the_branch_states_nothing() -> None:
    said = replace(stated(window=1000, second=80), labels={"team": "blue"}, agent="ada", session_id="s")
    first = start("m", said, freeze("m", said, [], lambda model: None), at=1)
    begun = branch([first], 0, nothing(labels={"try": "2"}))
    assert begun.plan.settings.second_threshold == 80
    assert dict(begun.plan.labels) == {"team": "blue", "try": "2"}
    assert (begun.plan.agent, begun.plan.session_id) == ("ada", "s")


def refusal(call: object, *args: object) -> Refusal:
    with pytest.raises(Refusal) as caught:
        call(*args)  # type: ignore[operator]
    return caught.value


def test_where_a_branch_can_t_begin_it_is_refused() -> None:
    run = fold(None, mother(2)[0])
    assert refusal(check_reached, run, 1).reason is Reason.FORK_PAST_END
    gone = replace(run, origin=Origin("a", 3))
    told = refusal(check_ancestor, None, gone, 2)
    assert (told.reason, "turn 3" in told.message) == (Reason.FORK_BEFORE_ORIGIN, True)
    budget = replace(stated(), settings={"exchange.budget_bytes": 9})
    assert refusal(check_fork, budget, 1).field == "plan.exchange_budget_bytes"
    assert refusal(check_fork, stated(), -1).field == "through_turn"
    assert refusal(same_fork, "m", Origin("a", 1), stated(), mother(1)[0]).reason is Reason.RUN_ALREADY_EXISTS
    assert started().origin is None
