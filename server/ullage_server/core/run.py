"""A run's start and end.

Rule (rules.md 3): the run's id is the caller's and unique in the whole city. The same start again is the same
run, judged on what was stated; another start under its id is refused. A finished run takes no more turns; the
same end again changes nothing, another one is refused.
"""

from .errors import Reason, Refusal
from .plan import Frozen, Stated
from .records import Record, RunFinished, RunStarted
from .state import State


def subject(run_id: str) -> str:
    """How a refusal names the run it is about."""
    return f"run {run_id}"


def present(state: State | None, run_id: str, field: str = "run_id") -> State:
    """`state`, which the run `run_id` has; refused, naming `field`, with RUN_NOT_FOUND where nobody started it."""
    if state is None:
        raise Refusal(
            Reason.RUN_NOT_FOUND,
            f"there is no run {run_id}",
            subject=subject(run_id),
            recovery=f"start it with StartRun, or correct {field}",
            field=field,
        )
    return state


def check_going(run: State) -> None:
    """Refused with RUN_FINISHED where the run has ended."""
    if run.finished:
        raise Refusal(
            Reason.RUN_FINISHED,
            f"run {run.run_id} is finished and takes no more turns; it can be forked",
            subject=subject(run.run_id),
            recovery="go on in a branch of it (ForkRun) or in another run",
        )


def start(run_id: str, stated: Stated, frozen: Frozen, at: int) -> RunStarted:
    """The first record of the run `run_id`."""
    return RunStarted(1, at, run_id, stated, frozen.plan, frozen.settled)


def same_start(run: State, stated: Stated, first: Record | None) -> RunStarted:
    """`first`, the first record of `run`, where it answers this start too; else refused."""
    if not isinstance(first, RunStarted):
        otherwise = "began as a branch"
    elif first.stated != stated:
        otherwise = f"was started with another {' and another '.join(_differing(first.stated, stated))}"
    else:
        return first
    raise Refusal(
        Reason.RUN_ALREADY_EXISTS,
        f"run {run.run_id} exists already and {otherwise}; a run's id is one in the whole city",
        subject=subject(run.run_id),
        recovery="to go on with it, ask GetRun for its last turn; to start another, choose another run_id",
        field="run_id",
    )


def _differing(one: Stated, other: Stated) -> list[str]:
    """What two plans state differently, by name."""
    own = [name for name in one.__struct_fields__ if name != "settings"]
    keys = sorted(one.settings.keys() | other.settings.keys())
    return [
        *(name for name in own if getattr(one, name) != getattr(other, name)),
        *(key for key in keys if one.settings.get(key) != other.settings.get(key)),
    ]


def finish(run: State, outcome: str, at: int) -> RunFinished | None:
    """The record that ends `run`; None where it has ended so already."""
    if run.finished and run.outcome == outcome:
        return None
    if run.finished:
        raise Refusal(
            Reason.RUN_FINISHED,
            f"run {run.run_id} has ended already, with another outcome; a run ends once, and can be forked",
            subject=subject(run.run_id),
            recovery="leave it as it is; GetRun tells its outcome",
        )
    return RunFinished(run.position + 1, at, outcome)
