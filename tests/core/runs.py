"""Runs and reports for the tests of core."""

from ullage_server.core.fold import fold
from ullage_server.core.observe import Report
from ullage_server.core.plan import Stated, freeze
from ullage_server.core.run import start
from ullage_server.core.settings import Rearm, Value
from ullage_server.core.state import State
from ullage_server.core.usage import CountedUsage

NOTHING_STATED = Stated(
    address="",
    agent="",
    session_id="",
    parent_session_id="",
    subagent=False,
    model="",
    context_tokens=0,
    time_budget=None,
    labels={},
    settings={},
)


def stated(window: int = 1000, rearm: Rearm = Rearm.PER_RUN, model: str = "", second: int = 65) -> Stated:
    settings: dict[str, Value] = {"context.rearm": rearm, "context.second_threshold": second}
    return Stated("", "", "", "", False, model, window, None, {}, settings)


def started(what: Stated | None = None, run_id: str = "r") -> State:
    what = stated() if what is None else what
    return fold(None, start(run_id, what, freeze(run_id, what, [], lambda model: None), at=1))


def report(
    turn: int,
    used: int | None = None,
    *,
    output: int | None = None,
    reset: bool = False,
    model: str = "",
    window: int | None = None,
) -> Report:
    usage = None if used is None else CountedUsage(used, output, "input")
    return Report(turn, usage, reset, model, window)
