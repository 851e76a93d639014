"""What may happen in a run: the records of its ledger.

Rule (architecture.md, One way through): a record holds the facts the fold needs and the answer that was given,
so that the same request again gets the same answer, from any server, at any time. Times are nanoseconds since
the Unix epoch; `position` counts from 1.
"""

from .gauge import Reading, Sounded
from .insertion import Insertion
from .kept import Kept
from .plan import Plan, Settled, Stated
from .usage import CountedUsage


class RunStarted(Kept, frozen=True, tag="run_started"):
    """The run began: what its request stated, and the plan that was frozen."""

    position: int
    at: int
    run_id: str
    stated: Stated
    plan: Plan
    settled: tuple[Settled, ...]


class UsageObserved(Kept, frozen=True, tag="usage_observed"):
    """A turn was reported: what was counted of it, and what was answered.

    `usage` is None where the report held none; `context_tokens` the window the report stated,
    `found_context_tokens` the one its model's name led to; `opens_window` whether the reset it told counted;
    `reminder`, `reading` and `sounded` are the answer.
    """

    position: int
    at: int
    turn: int
    usage: CountedUsage | None
    window_reset: bool
    opens_window: bool
    model: str
    context_tokens: int | None
    found_context_tokens: int | None
    reminder: Insertion | None
    reading: Reading | None
    sounded: Sounded


class RunFinished(Kept, frozen=True, tag="run_finished"):
    """The run ended; `outcome` is the caller's word for how."""

    position: int
    at: int
    outcome: str


Record = RunStarted | UsageObserved | RunFinished
