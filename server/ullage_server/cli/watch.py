"""`ullage watch`: a line for every run as it stands, and another whenever one changes.

Rule: in JSON mode a run is the object that `ullage runs --json` writes; another object says that a run is gone,
or that all of them were told. It ends with Ctrl-C, or where the server stays away.
"""

import asyncio
from typing import Annotated

import typer

from ullage import AsyncClient, RunChanged, RunRemoved, RunStatus

from .as_json import as_json
from .endings import carry_out
from .options import TIMEOUT, Below, Json, Labels, Target, labels_of, server
from .runs import percent, style_of
from .screen import Screen, moment


def watch(
    address: Below = "",
    run: Annotated[str | None, typer.Option("--run", help="Only this run.", metavar="ID")] = None,
    label: Labels = None,
    target: Target = None,
    json: Json = False,
) -> None:
    """Tell how runs stand, and then every change, until Ctrl-C."""
    labels = labels_of(label)
    screen = Screen(as_json=json)
    carry_out(lambda: asyncio.run(_watch(server(target), address, run, labels, screen)))


async def _watch(target: str, address: str, run_id: str | None, labels: dict[str, str], screen: Screen) -> int:
    async with AsyncClient(target, timeout=TIMEOUT) as client:
        async for event in client.watch_runs(address, run_id=run_id, labels=labels):
            if isinstance(event, RunChanged):
                screen.row(as_json(event.run))
                screen.line([(_line(event.run), style_of(event.run))])
            elif isinstance(event, RunRemoved):
                screen.row({"removed_run_id": event.run_id})
                screen.line([(f"{event.run_id}  removed", "dim")])
            else:
                screen.row({"snapshot_complete": True})
                screen.title("from here on, changes")
            screen.flush()
    return 0


def _line(run: RunStatus) -> str:
    """When, which run, and how it stands."""
    where = " ".join(filter(None, (run.plan.address, run.plan.model)))
    told = (
        moment(run.update_time),
        run.run_id,
        run.state,
        f"turn {run.last_turn}",
        percent(run),
        run.sounded,
        where,
    )
    return "  ".join(filter(None, told))
