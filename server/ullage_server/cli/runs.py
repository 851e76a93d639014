"""`ullage runs`: the runs of a server, and how they stand.

Rule: what is shown is what the server says; a stale percent stands in brackets, and what is unknown is `-`.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Literal

import typer

from ullage import AsyncClient, RunStatus, Sounded

from .as_json import as_json
from .endings import carry_out, say
from .options import TIMEOUT, Below, Json, Labels, Target, labels_of, server
from .screen import Screen, moment
from .timeline import Line

_TITLES = ("RUN", "STATE", "TURN", "FULL", "SOUNDED", "ADDRESS", "MODEL", "USED", "WINDOW", "STARTED")
_RIGHT = frozenset({"TURN", "FULL", "USED", "WINDOW"})

#: The columns are as wide as these many runs need; those that follow are written as they come.
_MEASURED = 200


def runs(
    address: Below = "",
    state: Annotated[Literal["active", "finished"] | None, typer.Option(help="Only runs in this state.")] = None,
    label: Labels = None,
    target: Target = None,
    json: Json = False,
) -> None:
    """List runs, the newest first."""
    labels = labels_of(label)
    screen = Screen(as_json=json)
    carry_out(lambda: asyncio.run(_runs(server(target), address, state, labels, screen)))


async def _runs(
    target: str,
    address: str,
    state: Literal["active", "finished"] | None,
    labels: dict[str, str],
    screen: Screen,
) -> int:
    async with AsyncClient(target, timeout=TIMEOUT) as client:
        found = client.list_runs(address, state=state, labels=labels)
        if screen.as_json:
            async for each in found:
                screen.row(as_json(each))
            return 0
        first = [each async for each in _at_most(_MEASURED, found)]
        if not first:
            say("no runs", style="dim")
            return 0
        rows = [_cells(each) for each in first]
        widths = [max(map(len, column)) for column in zip(_TITLES, *rows, strict=True)]
        columns = _that_fit(widths, screen.width) if screen.terminal else len(widths)
        screen.line([(_aligned(_TITLES[:columns], widths), "title")])
        for row, each in zip(rows, first, strict=True):
            screen.line(_line(row, widths, columns, each))
        async for each in found:
            screen.line(_line(_cells(each), widths, columns, each))
    return 0


async def _at_most(count: int, runs: AsyncIterator[RunStatus]) -> AsyncIterator[RunStatus]:
    """The first `count` of `runs`, taken from it."""
    while count:
        try:
            yield await anext(runs)
        except StopAsyncIteration:
            return
        count -= 1


def _cells(run: RunStatus) -> list[str]:
    return [
        run.run_id,
        run.state,
        str(run.last_turn),
        percent(run),
        run.sounded,
        run.plan.address or "-",
        run.plan.model or "-",
        "-" if run.reading is None else str(run.reading.used_tokens),
        str(window(run) or "-"),
        moment(run.start_time),
    ]


def percent(run: RunStatus) -> str:
    """How full the run's window is; in brackets where the window was reset since."""
    if run.reading is None or run.reading.percent is None:
        return "-"
    text = f"{run.reading.percent}%"
    return f"({text})" if run.reading.stale else text


def window(run: RunStatus) -> int:
    """The width of the run's window at its last reading, else as frozen; 0 where it is unknown."""
    return run.plan.context_tokens if run.reading is None else run.reading.context_tokens


def _that_fit(widths: Sequence[int], width: int) -> int:
    """How many columns fit on a line of that width; at least the first."""
    used, columns = widths[0], 1
    for each in widths[1:]:
        used += 2 + each
        if used > width:
            break
        columns += 1
    return columns


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(
        cell.rjust(width) if title in _RIGHT else cell.ljust(width)
        for title, cell, width in zip(_TITLES, cells, widths, strict=False)
    )


def style_of(run: RunStatus) -> str:
    """How a run is written: by what has sounded."""
    return {Sounded.FIRST: "first", Sounded.HANDOVER: "handover"}.get(run.sounded, "")


def _line(cells: Sequence[str], widths: Sequence[int], columns: int, run: RunStatus) -> Line:
    style = style_of(run)
    return [(_aligned(cells[:columns], widths), style if run.state == "active" else "dim")]
