"""`ullage run ID`: how one run stands, and what was frozen at its start.

Rule: what is shown is what the server says, under the names of the wire; what was never said is left out.
"""

import asyncio
from typing import Annotated

import typer

from ullage import AsyncClient, Plan, RunStatus

from .as_json import as_json
from .endings import carry_out
from .options import TIMEOUT, Json, Target, server
from .runs import percent
from .screen import Screen, moment
from .timeline import ASCII, BLOCKS, Timeline


def run(
    run_id: Annotated[str, typer.Argument(metavar="ID", help="The run's id.")],
    target: Target = None,
    json: Json = False,
) -> None:
    """Show how one run stands, and what was frozen at its start."""
    carry_out(lambda: asyncio.run(_run(server(target), run_id, Screen(as_json=json))))


async def _run(target: str, run_id: str, screen: Screen) -> int:
    async with AsyncClient(target, timeout=TIMEOUT) as client:
        found = await client.get_run(run_id)
    screen.row(as_json(found))
    if screen.terminal and found.reading is not None and found.reading.percent is not None:
        drawn = Timeline(found.plan.second_threshold, BLOCKS if screen.unicode else ASCII, screen.width)
        screen.line([(percent(found).rjust(7) + " ", "title"), *drawn.bar(found.reading.percent)])
        screen.line([])
    facts = _facts(found)
    width = max(len(key) for key, _ in facts)
    for key, value in facts:
        screen.line([(key.ljust(width) + "  ", "key"), (value, "")])
    return 0


def _facts(run: RunStatus) -> list[tuple[str, str]]:
    """What there is to say of a run, by name; the frozen plan under `plan`."""
    reading = run.reading
    facts = [
        ("run", run.run_id),
        ("state", run.state),
        ("sounded", run.sounded),
        ("last_turn", str(run.last_turn)),
    ]
    if reading is not None:
        stale = ", stale: the window was reset since" if reading.stale else ""
        facts += [
            ("used", f"{reading.used_tokens} tokens at turn {reading.turn}, as {reading.counted_as}"),
            ("percent", "unknown" if reading.percent is None else f"{reading.percent}%{stale}"),
            ("window", str(reading.context_tokens or "unknown")),
            ("remaining", _known(reading.remaining_tokens)),
            ("projected", _known(reading.projected_tokens)),
        ]
    else:
        facts.append(("window", str(run.plan.context_tokens or "unknown")))
    facts.append(("window_epoch", str(run.window_epoch)))
    if run.origin is not None:
        facts.append(("origin", f"{run.origin.run_id}, after turn {run.origin.through_turn}"))
    facts.append(("start_time", moment(run.start_time)))
    facts.append(("update_time", moment(run.update_time)))
    if run.finish_time is not None:
        facts.append(("finish_time", moment(run.finish_time)))
        facts.append(("outcome", run.outcome or "-"))
    return facts + [(f"plan.{key}", value) for key, value in _plan(run.plan)]


def _known(tokens: int | None) -> str:
    return "unknown" if tokens is None else str(tokens)


def _plan(plan: Plan) -> list[tuple[str, str]]:
    """The frozen settings that say something; a window of 0 says nothing."""
    said = []
    for key, value in as_json(plan).items():
        if key == "labels":
            said += [(f"labels.{name}", text) for name, text in value.items()]
        elif isinstance(value, bool):
            said.append((key, "true" if value else "false"))
        elif value not in (None, "") and (key, value) != ("context_tokens", 0):
            said.append((key, f"{value:g} s" if key == "time_budget" else str(value)))
    return said
