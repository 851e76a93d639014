"""PrepareCall: what the model shall hear before a call, from the four sources and from what found no place.

Rule (rules.md 3): a turn's call may be prepared again until the turn is observed; what spoke for it speaks again
under the same id, the durable texts as recorded, the time and the transient ones anew, and nothing new is begun
for it. What the harness could not place is given again; what belongs before a user message waits for one. A record
is written where something is said, a wait begins, or a window reset is told or taken back; nothing else is.

Insertions are placed in this order. Before the tail: session context, durable, transient. After it: the gauge's,
notice, transient, time.
"""

from collections.abc import Iterable, Mapping

from . import time_budget
from .call import Call, check_order
from .insertion import Insertion, InsertionKind, Lifetime, Placement, turn_of
from .notice import notice
from .records import CallPrepared, WindowReset
from .registry import durable, transient
from .run import check_going
from .session_context import Dates, session_context
from .state import State
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
    memory, again = run.memory, run.memory.prepared_turn == call.turn
    before = told(run, call.turn, call.window_reset)
    lasting = _given_again(call, earlier, known, memory.waiting)
    if not again:
        window = run.context_tokens if found_window is None else found_window
        if call.context_tokens is not None:
            window = call.context_tokens
        new = (
            session_context(before, call, dates, at),
            durable(call.turn, call.candidates, call.tail, memory.said),
            notice(before, call, window),
        )
        lasting |= {one.id: one for one in new if one is not None}
    placed, waiting = _sorted(lasting.values(), is_user=call.tail.is_user)
    passing = transient(call.turn, call.candidates, call.tail, run.plan.settings.reminders_budget_chars)
    left, time = _time(run, call, at)
    insertions = _in_order(placed, passing, time)
    named = tuple(id for id in dict.fromkeys(call.unplaced_ids) if id in lasting or _is_time(run, id))
    waits = tuple(id for id in waiting if id not in memory.waiting)
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
            unplaced_ids=tuple(dict.fromkeys((*named, *waits))),
            time_remaining=left,
        )
    if before is not run:
        return WindowReset(run.position + 1, at, call.turn, taken_back=not call.window_reset)
    return None


def asks_window(run: State, call: Call) -> bool:
    """Whether `call` names a model and no window: one to be looked up by its name."""
    return bool(call.model) and call.context_tokens is None and call.model != run.plan.model


def _given_again(
    call: Call, earlier: CallPrepared | None, known: Mapping[str, Insertion], waiting: Iterable[str]
) -> dict[str, Insertion]:
    """The durable texts to be given again: of the turn's earlier record, those that wait, those not placed."""
    given = {one.id: one for one in earlier.insertions} if earlier else {}
    again = given | {id: known[id] for id in (*waiting, *call.unplaced_ids) if id in known}
    return {id: one for id, one in again.items() if one.lifetime is Lifetime.DURABLE}


def _sorted(lasting: Iterable[Insertion], *, is_user: bool) -> tuple[list[Insertion], list[str]]:
    """Those that can be placed, in order, the oldest of a kind first; and the ids of those that wait."""
    ordered = sorted(lasting, key=lambda one: (_ORDER.index(one.kind), turn_of(one.id)))
    placed = [one for one in ordered if is_user or one.placement is Placement.AFTER_TAIL]
    return placed, [one.id for one in ordered if one not in placed]


def _time(run: State, call: Call, at: int) -> tuple[int | None, Insertion | None]:
    """What is left of the run's time, in nanoseconds, and the reminder where it is due; None for neither."""
    budget = run.plan.time_budget
    if budget is None:
        return None, None
    left = call.time_remaining
    if left is None:
        left = time_budget.remaining(budget, run.clock_start, at)
    due = time_budget.due(run.memory.time_told, call.turn, budget, left, time_budget.turns_of(call.unplaced_ids))
    again = run.memory.prepared_turn == call.turn and f"{call.turn}/{time_budget.KEY}" in run.memory.given_ids
    speaks = due or again or time_budget.is_last(left)
    return left, time_budget.reminder(call.turn, budget, left) if speaks else None


def _is_time(run: State, id: str) -> bool:
    return any(id == f"{turn}/{time_budget.KEY}" for turn in run.memory.time_told if turn)


def _in_order(placed: list[Insertion], passing: Insertion | None, time: Insertion | None) -> tuple[Insertion, ...]:
    before = [one for one in placed if one.placement is Placement.BEFORE_TAIL]
    after = [one for one in placed if one.placement is Placement.AFTER_TAIL]
    if passing is not None:
        (before if passing.placement is Placement.BEFORE_TAIL else after).append(passing)
    return (*before, *after, time) if time else (*before, *after)
