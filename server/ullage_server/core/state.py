"""How a run stands: what its ledger folds to.

Rule (architecture.md, One way through): a state is made by the fold alone.
"""

from .gauge import Reading, Sounded
from .kept import Kept
from .plan import Plan
from .time_budget import UNTOLD


class Origin(Kept, frozen=True):
    """Where a branch left its mother: her run, through which of her turns."""

    run_id: str
    through_turn: int


class Undo(Kept, frozen=True):
    """What a window reset that was told before a call replaced, for where it is taken back."""

    last_reset_turn: int
    sounded: Sounded
    stale: bool
    session_in_window: bool


class Memory(Kept, frozen=True):
    """What is remembered of the calls that were prepared.

    `prepared_turn` is the newest turn with a record of it, 0 for none, and `given_ids` what was given for that
    turn; `notice_prompt` the prompt of the last notice, -1 for none; `time_told` the turn that each step of the
    time budget was told in; `session_in_window` whether the session's id was given since the last reset; `said`
    the ids of the durable reminders said; `waiting` those of insertions that wait for a user message.
    """

    prepared_turn: int = 0
    given_ids: tuple[str, ...] = ()
    notice_prompt: int = -1
    notice_text: str = ""
    time_told: tuple[int, ...] = UNTOLD
    session_in_window: bool = False
    said: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    undo: Undo | None = None


#: Of a run whose calls nobody prepared.
NO_MEMORY = Memory()


class State(Kept, frozen=True):
    """How a run stands after `position` records. Times in nanoseconds since the epoch; 0 turns: none yet.

    `named_window` is the window that a report named, in tokens, None while the plan's holds; `last_reset_turn` the
    turn that the last counted window reset was told for; `clock_start` the time from which its time budget runs.
    In a branch `last_observed` and `last_compacted` begin
    with the turn it left its mother at.
    """

    run_id: str
    plan: Plan
    position: int
    start_time: int
    update_time: int
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
    named_window: int | None = None
    clock_start: int = 0
    memory: Memory = NO_MEMORY

    @property
    def context_tokens(self) -> int:
        """The window of the readings to come, in tokens; 0 where it is unknown."""
        return self.plan.context_tokens if self.named_window is None else self.named_window

    @property
    def finished(self) -> bool:
        """Whether the run has ended."""
        return self.finish_time is not None

    @property
    def last_turn(self) -> int:
        """The greatest turn observed or compacted."""
        return max(self.last_observed, self.last_compacted)
