"""The one way to a run's state: the fold of its ledger.

Rule (architecture.md, One way through): `fold` takes a state and a record and gives the next state. It is used
live, after a restart, on another server, by a fork and by a replay; nothing else makes a state.
"""

from msgspec.structs import replace

from .records import ExchangeCompacted, Record, RunFinished, RunForked, RunStarted, UsageObserved
from .state import State

#: The version of this fold. A stored state of another version is not used: the ledger is folded anew.
FOLD_VERSION = 1


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
    return _finished(state, record)


def _started(record: RunStarted) -> State:
    return State(
        run_id=record.run_id,
        plan=record.plan,
        position=record.position,
        start_time=record.at,
        update_time=record.at,
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
    )


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
