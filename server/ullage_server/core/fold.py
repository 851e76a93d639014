"""The one way to a run's state: the fold of its ledger.

Rule (architecture.md, One way through): `fold` takes a state and a record and gives the next state. It is used
live, after a restart, on another server, by a fork and by a replay; nothing else makes a state.
"""

from msgspec.structs import replace

from .gauge import Reading, Sounded
from .kept import Kept
from .plan import Plan
from .records import Record, RunFinished, RunStarted, UsageObserved

#: The version of this fold. A stored state of another version is not used: the ledger is folded anew.
FOLD_VERSION = 1


class Origin(Kept, frozen=True):
    """Where a branch left its mother: her run, through which of her turns."""

    run_id: str
    through_turn: int


class State(Kept, frozen=True):
    """How a run stands after `position` records. Times in nanoseconds since the epoch; 0 turns: none yet.

    `context_tokens` is the window of the readings to come; `last_reset_turn` the turn that the last counted
    window reset was told for.
    """

    run_id: str
    plan: Plan
    position: int
    start_time: int
    update_time: int
    context_tokens: int
    finish_time: int | None = None
    outcome: str = ""
    sounded: Sounded = Sounded.NOTHING
    reading: Reading | None = None
    last_observed: int = 0
    last_compacted: int = 0
    last_reset_turn: int = 0
    window_epoch: int = 0
    origin: Origin | None = None
    insertions_given: int = 0
    insertion_tokens: int = 0
    dropped_bytes: int = 0

    @property
    def finished(self) -> bool:
        """Whether the run has ended."""
        return self.finish_time is not None

    @property
    def last_turn(self) -> int:
        """The greatest turn observed or compacted."""
        return max(self.last_observed, self.last_compacted)


def fold(state: State | None, record: Record) -> State:
    """The state after `record`. Only a run's first record is folded onto None, and it onto nothing else."""
    if isinstance(record, UsageObserved):
        return _observed(_begun(state, record), record)
    if isinstance(record, RunFinished):
        run = _begun(state, record)
        return replace(
            run, position=record.position, update_time=record.at, finish_time=record.at, outcome=record.outcome
        )
    return _started(state, record)


def _started(state: State | None, record: RunStarted) -> State:
    if state is not None:
        raise ValueError(f"a run starts once; its ledger starts again at position {record.position}")
    return State(
        run_id=record.run_id,
        plan=record.plan,
        position=record.position,
        start_time=record.at,
        update_time=record.at,
        context_tokens=record.plan.context_tokens,
    )


def _observed(run: State, record: UsageObserved) -> State:
    window = record.context_tokens
    if window is None:
        window = record.found_context_tokens
    given = record.reminder
    return replace(
        run,
        position=record.position,
        update_time=record.at,
        context_tokens=run.context_tokens if window is None else window,
        sounded=record.sounded,
        reading=record.reading,
        last_observed=record.turn,
        last_reset_turn=record.turn if record.opens_window else run.last_reset_turn,
        window_epoch=run.window_epoch + record.opens_window,
        insertions_given=run.insertions_given + (given is not None),
        insertion_tokens=run.insertion_tokens + (given.estimated_tokens if given is not None else 0),
    )


def _begun(state: State | None, record: Record) -> State:
    if state is None or record.position != state.position + 1:
        raise ValueError(f"the ledger has a gap before position {record.position}")
    return state
