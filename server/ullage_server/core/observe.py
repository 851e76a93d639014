"""ObserveUsage: a turn's report against the gauge, once a turn.

Rule (rules.md 1 and 3): the same report again gets its recorded answer, another one for the same turn is
refused; a turn below the last one that was never reported is refused, gaps upwards are fine. A reset comes
before the reading, counts once a turn, and makes the old reading stale. A window the report names is the run's
from this report on. A report without usage observes nothing: the last reading stays.
"""

from msgspec import Struct

from . import gauge
from .domain import check_tokens, check_turn
from .errors import Reason, Refusal
from .names import check_model
from .records import UsageObserved
from .run import check_going, subject
from .state import State
from .usage import CountedUsage
from .window_reset import counts, reset


class Report(Struct, frozen=True):
    """What a caller says of one turn: `usage` None for none, `context_tokens` None where it states no window."""

    turn: int
    usage: CountedUsage | None
    window_reset: bool
    model: str
    context_tokens: int | None


def check_report(report: Report) -> Report:
    """`report`; refused, with the field at fault, where a part of it is outside its domain."""
    check_turn("report.turn", report.turn)
    check_model("report.model", report.model)
    if report.context_tokens is not None:
        check_tokens("report.context_tokens", report.context_tokens)
    return report


def asks_window(run: State, report: Report) -> bool:
    """Whether `report` names another model than the plan's and no window: one to be looked up by its name."""
    return bool(report.model) and report.context_tokens is None and report.model != run.plan.model


def observe(
    run: State, report: Report, recorded: UsageObserved | None, found_window: int | None, at: int
) -> UsageObserved:
    """The record that answers `report`: `recorded`, the one of the same turn, or else a new one.

    `found_window` is what the name of another model led to on the ladder or in the catalogue, None for nothing.
    The plan's own model has the plan's window, so that a call which comes back to it finds it again.
    """
    if recorded is not None:
        return _same(run, report, recorded)
    check_going(run)
    if report.turn <= run.last_observed:
        raise Refusal(
            Reason.TURN_OUT_OF_ORDER,
            f"turn {report.turn} of run {run.run_id} was never reported and lies below the last one observed, "
            f"{run.last_observed}",
            subject=f"{subject(run.run_id)}, turn {report.turn}",
            recovery=f"report turns upwards from {run.last_observed + 1}",
            field="report.turn",
        )
    if report.model and report.model == run.plan.model and report.context_tokens is None:
        found_window = run.plan.context_tokens or None
    opens_window = report.window_reset and counts(run, report.turn)
    sounded, reading = reset(run) if opens_window else (run.sounded, run.reading)
    reminder = None
    if report.usage is not None:
        window = report.context_tokens if report.context_tokens is not None else found_window
        reading = gauge.read(report.turn, report.usage, run.context_tokens if window is None else window)
        before, sounded = sounded, gauge.sound(sounded, reading.percent, run.plan.settings.second_threshold)
        if sounded is not before:
            reminder = gauge.reminder(reading, sounded, run.plan.settings.context_finishing_act)
    return UsageObserved(
        position=run.position + 1,
        at=at,
        turn=report.turn,
        usage=report.usage,
        window_reset=report.window_reset,
        opens_window=opens_window,
        model=report.model,
        context_tokens=report.context_tokens,
        found_context_tokens=found_window,
        reminder=reminder,
        reading=reading,
        sounded=sounded,
    )


def _same(run: State, report: Report, recorded: UsageObserved) -> UsageObserved:
    if _facts(report) != _facts(recorded):
        raise Refusal(
            Reason.TURN_ALREADY_RECORDED,
            f"turn {report.turn} of run {run.run_id} is recorded with another report",
            subject=f"{subject(run.run_id)}, turn {report.turn}",
            recovery="do not retry: number each turn once; GetRun tells the last one, to go on behind it",
            field="report.turn",
        )
    return recorded


def _facts(said: Report | UsageObserved) -> tuple[object, ...]:
    """What makes two reports the same: the normalised numbers, not the words they came in."""
    usage = None if said.usage is None else (said.usage.prompt_tokens, said.usage.output_tokens)
    return usage, said.window_reset, said.model, said.context_tokens
