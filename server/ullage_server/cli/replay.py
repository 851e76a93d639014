"""`ullage replay`: a recorded run played against a server, and its timeline.

Rule: without a file the bundled example is played; without a target a server in this process, which keeps
nothing. What of a file is not played is said on stderr; stdout holds the timeline alone.
"""

import asyncio
from contextlib import AsyncExitStack
from typing import Annotated, Any

import typer

from ullage import AsyncClient, AsyncRun

from .endings import carry_out, say
from .opened import read_recording
from .options import TIMEOUT, Json, Model, Threshold, Window, named_server
from .own_server import passing_server
from .play import Played, Stated, play, start
from .recordings import RecordedRun, Recording
from .screen import Screen, printable
from .timeline import ASCII, BLOCKS, Timeline, Turn


def replay(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="JSON lines or an array: usage objects, usage lines (`raw_usage`), or a session file of Claude "
            "Code, Codex or pi; - is stdin. Default: a bundled example.",
            show_default=False,
        ),
    ] = None,
    window: Window = None,
    model: Model = "",
    threshold: Threshold = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="The server to play against; it keeps the run. Default: ULLAGE_TARGET, else one in this process "
            "that keeps nothing.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Play a recorded run and draw its timeline: how full the window was at each turn."""
    carry_out(lambda: _replay(file, Stated(window, model, threshold), target, Screen(as_json=json)))


def _replay(file: str | None, stated: Stated, target: str | None, screen: Screen) -> int:
    # Read before there is a loop: while one waits for stdin, a loop would keep Ctrl-C to itself.
    address = named_server(target)
    recording, name = read_recording(file)
    refused = asyncio.run(_play_all(recording, name, stated, address, screen))
    if refused:
        what = "1 report or exchange was" if refused == 1 else f"{refused} reports or exchanges were"
        say(f"{what} refused; each says why, and is not in the run")
    return 1 if refused else 0


async def _play_all(recording: Recording, name: str, stated: Stated, address: str | None, screen: Screen) -> int:
    """Plays each run; how many reports or exchanges were refused."""
    refused = 0
    async with AsyncExitStack() as stack:
        address = address or await stack.enter_async_context(passing_server())
        client = await stack.enter_async_context(AsyncClient(address, timeout=TIMEOUT))
        for number, run in enumerate(recording.runs):
            if number:
                screen.line([])
            refused += await _one(client, run, name, stated, screen)
    return refused


async def _one(client: AsyncClient, run: RecordedRun, name: str, stated: Stated, screen: Screen) -> int:
    """Plays one run; how many of its reports were refused."""
    name = f"{name}: {run.name}" if run.name else name
    started = await start(client, run, stated, {"replay": printable(name)[:1024]})
    second = started.plan.second_threshold
    drawn = Timeline(second, BLOCKS if screen.unicode else ASCII, screen.width if screen.terminal else None)
    screen.title(f"{name}, run {started.run_id}")
    screen.title(_about(started, run, stated))
    screen.line(drawn.head())
    refused = 0
    async for played in play(started, run, stated):
        refused += bool(played.refusal)
        screen.row(_row(started.run_id, run.name, played))
        for line in drawn.lines(_turn(played)):
            screen.line(line)
    await started.finish("replayed")
    return refused


def _about(started: AsyncRun, run: RecordedRun, stated: Stated) -> str:
    """What the run is measured against, and who said so."""
    window = started.plan.context_tokens
    found = next((each.source for each in started.settled if each.key == "context_tokens"), "")
    if not window:
        measure = "window unknown, so no percent and no reminder: state it with --window"
    elif stated.window is not None:
        measure = f"window {window} (stated)"
    elif run.window:
        measure = f"window {window} ({'assumed in' if run.window_assumed else 'from'} the recording)"
    else:
        measure = f"window {window} ({found})"
    return f"{started.plan.model or 'model unknown'}, {measure}"


def _turn(played: Played) -> Turn:
    """A call as the timeline draws it."""
    notes = []
    if played.call.window_reset:
        notes.append("window reset")
    if played.told_model:
        notes.append(played.told_model)
    if played.dropped_bytes:
        notes.append(f"dropped {played.dropped_bytes} bytes")
    if played.refusal:
        notes.append(f"refused: {played.refusal}")
    said = tuple(one.text for one in played.insertions)
    if played.answer is None:
        return Turn(played.turn, None, None, None, tuple(notes), said)
    reading = played.answer.reading
    reminder = played.answer.reminder.text if played.answer.reminder else None
    if reading is None or not played.read:
        return Turn(played.turn, None, None, reminder, (*notes, "no usage"), said)
    if reading.window_exceeded:
        notes.append("window exceeded")
    return Turn(played.turn, reading.used_tokens, reading.percent, reminder, tuple(notes), said)


def _row(run_id: str, name: str, played: Played) -> dict[str, Any]:
    """A call as a program reads it; what this call did not tell is null."""
    answer = played.answer
    reading = answer.reading if answer is not None and played.read else None
    return {
        "run_id": run_id,
        "sequence": name or None,
        "turn": played.turn,
        "used_tokens": reading.used_tokens if reading else None,
        "percent": reading.percent if reading else None,
        "context_tokens": reading.context_tokens or None if reading else None,
        "remaining_tokens": reading.remaining_tokens if reading else None,
        "projected_tokens": reading.projected_tokens if reading else None,
        "window_exceeded": reading.window_exceeded if reading else None,
        "counted_as": reading.counted_as if reading else None,
        "sounded": str(answer.sounded) if answer else None,
        "insertions": [{"id": one.id, "text": one.text} for one in played.insertions],
        "reminder": answer.reminder.text if answer and answer.reminder else None,
        "model": played.call.model or None,
        "window_reset": played.call.window_reset,
        "dropped_bytes": played.dropped_bytes,
        "refused": played.refusal or None,
    }
