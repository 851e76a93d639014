"""The one way to a run's state: the fold of its ledger.

Rule (architecture.md, One way through): `fold` takes a state and a record and gives the next state. It is used
live, after a restart, on another server, by a fork and by a replay; nothing else makes a state.
"""

from msgspec.structs import replace

from . import registry, time_budget
from .insertion import Insertion, InsertionKind, Lifetime, turn_of
from .records import (
    CallPrepared,
    ExchangeCompacted,
    Record,
    RunFinished,
    RunForked,
    RunStarted,
    UsageObserved,
    WindowReset,
)
from .session_context import names_session
from .state import Memory, State
from .window_reset import told

#: The version of this fold. A stored state of another version is not used: the ledger is folded anew.
FOLD_VERSION = 2


def fold(state: State | None, record: Record) -> State:
    """The state after `record`. Only a run's first record is folded onto None, and it onto nothing else."""
    if isinstance(record, RunStarted | RunForked):
        if state is not None:
            raise ValueError(f"a run begins once; its ledger begins again at position {record.position}")
        return _started(record) if isinstance(record, RunStarted) else _forked(record)
    if state is None or record.position != state.position + 1:
        raise ValueError(f"the ledger has a gap before position {record.position}")
    if isinstance(record, UsageObserved):
        return _observed(state, record)
    if isinstance(record, ExchangeCompacted):
        return _compacted(state, record)
    if isinstance(record, CallPrepared):
        return _prepared(state, record)
    if isinstance(record, WindowReset):
        return _reset(state, record)
    return _finished(state, record)


def _started(record: RunStarted) -> State:
    return State(
        run_id=record.run_id,
        plan=record.plan,
        position=record.position,
        start_time=record.at,
        update_time=record.at,
        clock_start=record.at,
    )


def _forked(record: RunForked) -> State:
    return replace(
        record.inherited,
        run_id=record.run_id,
        plan=record.plan,
        position=record.position,
        start_time=record.at,
        update_time=record.at,
        origin=record.origin,
    )


def _observed(run: State, record: UsageObserved) -> State:
    named = run.named_window
    if record.context_tokens is not None:
        named = record.context_tokens
    elif record.found_context_tokens is not None:
        # A call that comes back to the plan's own model comes back to the plan's window.
        named = None if record.model == run.plan.model else record.found_context_tokens
    given = record.reminder
    memory = run.memory
    if record.opens_window and memory.session_in_window:
        memory = replace(memory, session_in_window=False)
    return replace(
        run,
        position=record.position,
        update_time=record.at,
        named_window=named,
        sounded=record.sounded,
        reading=record.reading,
        last_observed=record.turn,
        last_reset_turn=record.turn if record.opens_window else run.last_reset_turn,
        window_epoch=run.window_epoch + record.opens_window,
        insertions_given=run.insertions_given + (given is not None),
        insertion_tokens=run.insertion_tokens + (given.estimated_tokens if given is not None else 0),
        memory=memory,
    )


def _prepared(run: State, record: CallPrepared) -> State:
    before = _given_for(run, record)
    new = [one for one in record.insertions if one.id not in before and turn_of(one.id) == record.turn]
    run = told(run, record.turn, record.window_reset)
    return replace(
        run,
        position=record.position,
        update_time=record.at,
        insertions_given=run.insertions_given + len(new),
        insertion_tokens=run.insertion_tokens + sum(one.estimated_tokens for one in new),
        memory=_remembered(run, record, before, new),
    )


def _remembered(run: State, record: CallPrepared, before: tuple[str, ...], new: list[Insertion]) -> Memory:
    memory = run.memory
    given = [one.id for one in record.insertions]
    notices = [one.text for one in new if one.kind is InsertionKind.NOTICE]
    said = [
        key.removeprefix(registry.KEY)
        for one in new
        if one.kind is InsertionKind.REGISTERED and one.lifetime is Lifetime.DURABLE
        for key in one.keys
    ]
    time_told = memory.time_told
    if run.plan.time_budget is not None and record.time_remaining is not None and _tells_time(record):
        due = time_budget.due(
            time_told,
            record.turn,
            run.plan.time_budget,
            record.time_remaining,
            time_budget.turns_of(record.unplaced_ids),
        )
        time_told = time_budget.after(time_told, record.turn, due)
    return replace(
        memory,
        prepared_turn=record.turn,
        given_ids=tuple(dict.fromkeys((*before, *given))),
        notice_prompt=record.turn - record.step if notices else memory.notice_prompt,
        notice_text=notices[-1] if notices else memory.notice_text,
        time_told=time_told,
        session_in_window=memory.session_in_window or any(map(names_session, record.insertions)),
        said=(*memory.said, *said),
        waiting=tuple(
            id
            for id in dict.fromkeys((*memory.waiting, *record.unplaced_ids))
            if id not in given and not id.endswith(f"/{time_budget.KEY}")
        ),
    )


def _given_for(run: State, record: CallPrepared | WindowReset) -> tuple[str, ...]:
    """What was given before for the turn of `record`."""
    return run.memory.given_ids if run.memory.prepared_turn == record.turn else ()


def _tells_time(record: CallPrepared) -> bool:
    return any(one.kind is InsertionKind.TIME_BUDGET for one in record.insertions)


def _reset(run: State, record: WindowReset) -> State:
    run = told(run, record.turn, not record.taken_back)
    memory = replace(run.memory, prepared_turn=record.turn, given_ids=_given_for(run, record))
    return replace(run, position=record.position, update_time=record.at, memory=memory)


def _compacted(run: State, record: ExchangeCompacted) -> State:
    return replace(
        run,
        position=record.position,
        update_time=record.at,
        last_compacted=record.turn,
        dropped_bytes=run.dropped_bytes + sum(verdict.dropped_bytes for verdict in record.verdicts),
    )


def _finished(run: State, record: RunFinished) -> State:
    return replace(
        run, position=record.position, update_time=record.at, finish_time=record.at, outcome=record.outcome
    )
