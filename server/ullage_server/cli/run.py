"""`ullage run ID`: how one run stands, and what was frozen at its start.

Rule: what is shown is what the server says, under the names of the wire; what was never said is left out.
"""

import asyncio
from typing import Annotated

import typer

from ullage import AsyncClient
from ullage.v1 import plan_pb2, run_pb2

from .as_json import as_json, enum_name
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
    if screen.terminal and found.reading.HasField("percent"):
        drawn = Timeline(found.plan.second_threshold, BLOCKS if screen.unicode else ASCII, screen.width)
        screen.line([(percent(found).rjust(7) + " ", "title"), *drawn.bar(found.reading.percent)])
        screen.line([])
    facts = _facts(found)
    width = max(len(key) for key, _ in facts)
    for key, value in facts:
        screen.line([(key.ljust(width) + "  ", "key"), (value, "")])
    return 0


def _facts(run: run_pb2.Run) -> list[tuple[str, str]]:
    """What there is to say of a run, by name; the frozen plan under `plan`."""
    reading = run.reading
    stale = ", stale: the window was reset since" if reading.stale else ""
    facts = [
        ("run", run.run_id),
        ("state", enum_name(run_pb2.RunState.DESCRIPTOR, run.state) or "-"),
        ("sounded", enum_name(run_pb2.Sounded.DESCRIPTOR, run.sounded) or "-"),
        ("last_turn", str(run.last_turn)),
    ]
    if run.HasField("reading"):
        facts += [
            ("used", f"{reading.used_tokens} tokens at turn {reading.turn}, as {reading.counted_as}"),
            ("percent", f"{reading.percent}%{stale}" if reading.HasField("percent") else "unknown"),
            ("window", str(reading.context_tokens or "unknown")),
            ("remaining", str(reading.remaining_tokens) if reading.HasField("remaining_tokens") else "unknown"),
            ("projected", str(reading.projected_tokens) if reading.HasField("projected_tokens") else "unknown"),
        ]
    else:
        facts.append(("window", str(run.plan.context_tokens or "unknown")))
    facts.append(("window_epoch", str(run.window_epoch)))
    if run.HasField("origin"):
        facts.append(("origin", f"{run.origin.run_id}, after turn {run.origin.through_turn}"))
    facts.append(("start_time", moment(run.start_time)))
    facts.append(("update_time", moment(run.update_time)))
    if run.HasField("finish_time"):
        facts.append(("finish_time", moment(run.finish_time)))
        facts.append(("outcome", run.outcome or "-"))
    return facts + [(f"plan.{key}", value) for key, value in _plan(run.plan)]


def _plan(plan: plan_pb2.RunPlan) -> list[tuple[str, str]]:
    """The frozen settings that say something."""
    said = []
    for key, value in as_json(plan).items():
        if key == "labels":
            said += [(f"labels.{name}", text) for name, text in value.items()]
        elif isinstance(value, bool):
            said.append((key, "true" if value else "false"))
        elif value not in (None, "", 0) or (value == 0 and plan.DESCRIPTOR.fields_by_name[key].has_presence):
            said.append((key, f"{value:g} s" if key == "time_budget" else str(value)))
    return said
