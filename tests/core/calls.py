"""Calls prepared in a run's ledger, as the service does it, with nothing but lists."""

from collections.abc import Sequence

from tests.core.runs import report, started, stated
from ullage_server.core.call import Call, check_call
from ullage_server.core.fold import fold
from ullage_server.core.insertion import Insertion, Lifetime, turn_of
from ullage_server.core.observe import observe
from ullage_server.core.plan import Stated
from ullage_server.core.prepare import prepare
from ullage_server.core.records import CallPrepared, Record, UsageObserved, WindowReset
from ullage_server.core.registry import DEFAULT_PRIORITY, Candidate, Edge
from ullage_server.core.tail import Tail, TailRole

USER = Tail(TailRole.USER, False, True)
FIRST = Tail(TailRole.USER, False, False)
TOOL = Tail(TailRole.TOOL_RESULT, False, True)
FAILED_TOOL = Tail(TailRole.TOOL_RESULT, True, True)
EMPTY = Tail(None, False, False)


def call(
    turn: int,
    step: int = 1,
    tail: Tail = USER,
    *,
    candidates: Sequence[Candidate] = (),
    left: int | None = None,
    in_context: bool | None = None,
    reset: bool = False,
    unplaced: Sequence[str] = (),
    now: int | None = None,
    model: str = "",
    window: int | None = None,
) -> Call:
    """A call; `left` in nanoseconds."""
    return check_call(
        Call(turn, step, tail, tuple(candidates), left, in_context, reset, tuple(unplaced), now, model, window)
    )


def candidate(
    id: str, text: str = "Mind the gate.", edge: Edge = Edge.EVERY_CALL, priority: int = DEFAULT_PRIORITY
) -> Candidate:
    """A reminder whose label is its id, of the lifetime that goes with its edge."""
    lifetime = Lifetime.DURABLE if edge is Edge.SESSION_START else Lifetime.TRANSIENT
    return Candidate(id, id, edge, lifetime, priority, text)


class Book:
    """One run's ledger."""

    def __init__(self, plan: Stated | None = None) -> None:
        self.run = started(plan if plan is not None else stated())
        self.records: list[Record] = []

    def prepare(self, call: Call, at: int = 2, found_window: int | None = None) -> tuple[Insertion, ...]:
        """What is said before `call`."""
        earlier = [r for r in self.records if isinstance(r, CallPrepared) and r.turn == call.turn]
        again = earlier[-1] if earlier and self.run.memory.prepared_turn == call.turn else None
        asked = (*(self.run.memory.waiting if call.tail.is_user else ()), *call.unplaced_ids)
        known = {id: one for id in asked if (one := self._given(id)) is not None}
        record = prepare(self.run, call, again, known, found_window, lambda at, zone: f"{at} in {zone}", at)
        if record is not None:
            self.add(record)
        return record.insertions if isinstance(record, CallPrepared) else ()

    def observe(self, turn: int, used: int | None = None, *, reset: bool = False) -> Insertion | None:
        """Reports a turn."""
        record = observe(self.run, report(turn, used, reset=reset), None, None, at=3)
        self.add(record)
        return record.reminder

    def add(self, record: CallPrepared | WindowReset | UsageObserved) -> None:
        self.records.append(record)
        self.run = fold(self.run, record)

    def _given(self, id: str) -> Insertion | None:
        first = next((r for r in self.records if isinstance(r, CallPrepared) and r.turn == turn_of(id)), None)
        observed = [r.reminder for r in self.records if isinstance(r, UsageObserved) and r.reminder]
        given = (*(first.insertions if first else ()), *observed)
        return next((one for one in given if one.id == id and one.lifetime is Lifetime.DURABLE), None)


def said(insertions: Sequence[Insertion]) -> list[str]:
    """The ids, in order."""
    return [one.id for one in insertions]
