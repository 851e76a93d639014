"""What may happen in a run: the records of its ledger.

Rule (architecture.md, One way through): a record holds the facts the fold needs and the answer that was given,
so that the same request again gets the same answer, from any server, at any time. Times are nanoseconds since
the Unix epoch; `position` counts from 1.
"""

from .exchange.verdict import TextVerdict
from .gauge import Reading, Sounded
from .insertion import Insertion
from .kept import Kept
from .plan import Plan, Settled, Stated
from .state import Origin, State
from .usage import CountedUsage


class RunStarted(Kept, frozen=True, tag="run_started"):
    """The run began: what its request stated, and the plan that was frozen."""

    position: int
    at: int
    run_id: str
    stated: Stated
    plan: Plan
    settled: tuple[Settled, ...]


class RunForked(Kept, frozen=True, tag="run_forked"):
    """A branch began: what its request stated, and the plan that was frozen for it.

    `origin` is what was forked, as the request named it; `in_force` all that is stated for the branch, its own
    over its mother's; `inherited` its mother's state at the end of that turn, with her id, her plan and her
    times.
    """

    position: int
    at: int
    run_id: str
    origin: Origin
    stated: Stated
    in_force: Stated
    plan: Plan
    settled: tuple[Settled, ...]
    inherited: State


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


class CallPrepared(Kept, frozen=True, tag="call_prepared"):
    """A call was prepared, and something was said for it or waits: `insertions` is the answer.

    `unplaced_ids` are the known insertions that came to stand nowhere; `time_remaining` is what was left of the
    time budget, in nanoseconds, None where the run has none. The windows are as in UsageObserved.
    """

    position: int
    at: int
    turn: int
    step: int
    insertions: tuple[Insertion, ...]
    window_reset: bool
    model: str
    context_tokens: int | None
    found_context_tokens: int | None
    unplaced_ids: tuple[str, ...]
    time_remaining: int | None


class WindowReset(Kept, frozen=True, tag="window_reset"):
    """A window reset was told, or taken back, before a call for which nothing was said."""

    position: int
    at: int
    turn: int
    taken_back: bool


class ExchangeCompacted(Kept, frozen=True, tag="exchange_compacted"):
    """A turn's exchange was compacted. Its digests and the verdicts are kept; its texts are not."""

    position: int
    at: int
    turn: int
    source_digest: bytes
    result_digest: bytes
    source_bytes: int
    result_bytes: int
    over_budget: bool
    verdicts: tuple[TextVerdict, ...]


class RunFinished(Kept, frozen=True, tag="run_finished"):
    """The run ended; `outcome` is the caller's word for how."""

    position: int
    at: int
    outcome: str


Record = RunStarted | RunForked | CallPrepared | WindowReset | UsageObserved | ExchangeCompacted | RunFinished
