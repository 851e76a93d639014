"""How a run stands: what its ledger folds to.

Rule (architecture.md, One way through): a state is made by the fold alone.
"""

from .gauge import Reading, Sounded
from .kept import Kept
from .plan import Plan


class Origin(Kept, frozen=True):
    """Where a branch left its mother: her run, through which of her turns."""

    run_id: str
    through_turn: int


class State(Kept, frozen=True):
    """How a run stands after `position` records. Times in nanoseconds since the epoch; 0 turns: none yet.

    `named_window` is the window that a report named, in tokens, None while the plan's holds; `last_reset_turn` the
    turn that the last counted window reset was told for. In a branch `last_observed` and `last_compacted` begin
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
