"""PrepareCall: what the model shall hear before a call, from the four sources and from what found no place.

Rule (rules.md 3): a turn's call may be prepared again until the turn is observed; what spoke for it speaks again
under the same id, the durable texts as recorded, the time and the transient ones anew, and nothing new is begun
for it. What the harness could not place is given again; what belongs before a user message waits for one. A record
is written where something is said, a wait begins, or a window reset is told or taken back; nothing else is.

Insertions are placed in this order. Before the tail: session context, durable, transient. After it: the gauge's,
notice, transient, time.
"""

from collections.abc import Iterable, Mapping, Sequence

from . import time_budget
from .call import Call, check_order
from .insertion import Insertion, InsertionKind, Lifetime, Placement, turn_of
from .notice import notice
from .records import CallPrepared, WindowReset
from .registry import Candidate, durable, speaking, transient
from .run import check_going
from .session_context import Dates, session_context
from .state import State
from .tail import Tail
from .window_reset import told

#: The places of the durable texts; what is for one request alone is put among them.
_ORDER = (
    InsertionKind.SESSION_CONTEXT,
    InsertionKind.REGISTERED,
    InsertionKind.USAGE,
    InsertionKind.HANDOVER,
    InsertionKind.NOTICE,
)


def prepare(
    run: State,
    call: Call,
    earlier: CallPrepared | None,
    known: Mapping[str, Insertion],
    found_window: int | None,
    dates: Dates,
    at: int,
) -> CallPrepared | WindowReset | None:
    """The record that answers `call`; None where there is nothing to say and nothing to record.

    `earlier` is the newest record of the same turn, None where there is none; `known` the durable insertions by
    id that the call names as not placed or that wait; `found_window` what another model's name led to, in tokens.
    """
    check_going(run)
    check_order(run, call.turn)
    before = told(run, call.turn, call.window_reset)
    fires = speaking(call.candidates, call.tail) if call.candidates else []
    lasting = _given_again(run, call, earlier, known) if earlier or known else []
    if run.memory.prepared_turn != call.turn:
        lasting += _new(before, call, fires, found_window, dates, at)
    passing = None
    if fires:
        passing = transient(call.turn, fires, call.tail, run.plan.settings.reminders_budget_chars)
    left = time = None
    if run.plan.time_budget is not None:
        left, time = _time(run, run.plan.time_budget, call, at)
    if lasting or passing or time:
        insertions = _in_order(lasting, passing, time, call.tail)
        waits = _waits(run, lasting, call.tail)
        if insertions or waits:
            return CallPrepared(
                position=run.position + 1,
                at=at,
                turn=call.turn,
                step=call.step,
                insertions=insertions,
                window_reset=call.window_reset,
                model=call.model,
                context_tokens=call.context_tokens,
                found_context_tokens=found_window,
                unplaced_ids=tuple(dict.fromkeys((*_unplaced(run, call, lasting), *waits))),
                time_remaining=left,
            )
    if before is not run:
        return WindowReset(run.position + 1, at, call.turn, taken_back=not call.window_reset)
    return None


def asks_window(run: State, call: Call) -> bool:
    """Whether `call` names a model and no window: one to be looked up by its name."""
    return bool(call.model) and call.context_tokens is None and call.model != run.plan.model


def _given_again(
    run: State, call: Call, earlier: CallPrepared | None, known: Mapping[str, Insertion]
) -> list[Insertion]:
    """The durable texts to be given again: of the turn's earlier record, those that wait, those not placed."""
    again = {one.id: one for one in earlier.insertions} if earlier else {}
    again |= {id: known[id] for id in (*run.memory.waiting, *call.unplaced_ids) if id in known}
    return [one for one in again.values() if one.lifetime is Lifetime.DURABLE]


def _new(
    run: State, call: Call, fires: Sequence[Candidate], found_window: int | None, dates: Dates, at: int
) -> list[Insertion]:
    """The durable texts that are begun for this turn."""
    window = run.context_tokens if found_window is None else found_window
    if call.context_tokens is not None:
        window = call.context_tokens
    new = (
        session_context(run, call, dates, at),
        durable(call.turn, fires, run.memory.said) if fires else None,
        notice(run, call, window),
    )
    return [one for one in new if one is not None]


def _in_order(
    lasting: Iterable[Insertion], passing: Insertion | None, time: Insertion | None, tail: Tail
) -> tuple[Insertion, ...]:
    """What can be placed at this tail, in the order of its places; of a kind the oldest first."""
    ordered = sorted(lasting, key=lambda one: (_ORDER.index(one.kind), turn_of(one.id)))
    before = [one for one in ordered if one.placement is Placement.BEFORE_TAIL and tail.is_user]
    after = [one for one in ordered if one.placement is Placement.AFTER_TAIL]
    if passing is not None:
        (before if passing.placement is Placement.BEFORE_TAIL else after).append(passing)
    return (*before, *after, time) if time else (*before, *after)


def _waits(run: State, lasting: Iterable[Insertion], tail: Tail) -> list[str]:
    """The ids of those that begin to wait for a user message here."""
    if tail.is_user:
        return []
    before = [one.id for one in lasting if one.placement is Placement.BEFORE_TAIL]
    return [id for id in before if id not in run.memory.waiting]


def _unplaced(run: State, call: Call, lasting: Iterable[Insertion]) -> list[str]:
    """Those named as not placed that stand for something: a durable text, or a step of the time budget."""
    if not call.unplaced_ids:
        return []
    told = {f"{turn}/{time_budget.KEY}" for turn in run.memory.time_told if turn}
    known = told.union(one.id for one in lasting)
    return [id for id in call.unplaced_ids if id in known]


def _time(run: State, budget: int, call: Call, at: int) -> tuple[int, Insertion | None]:
    """What is left of the run's `budget`, in nanoseconds, and the reminder where it is due; None where not."""
    left = call.time_remaining
    if left is None:
        left = time_budget.remaining(budget, run.clock_start, at)
    due = time_budget.due(run.memory.time_told, call.turn, budget, left, time_budget.turns_of(call.unplaced_ids))
    again = run.memory.prepared_turn == call.turn and f"{call.turn}/{time_budget.KEY}" in run.memory.given_ids
    speaks = due or again or time_budget.is_last(left)
    return left, time_budget.reminder(call.turn, budget, left) if speaks else None
