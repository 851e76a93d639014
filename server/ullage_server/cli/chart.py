"""`ullage chart`: a run's curve as a picture, of a run on a server or of a recording.

Rule: a recording is played as `ullage replay` plays it, on a server in this process that keeps nothing; then it is
a run like any other. The picture is written whole or not at all.
"""

import asyncio
import io
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Literal

import typer

from ullage import AsyncClient

from .curve import Curve, curve_of
from .endings import Problem, carry_out, say
from .opened import read_recording
from .options import TIMEOUT, Model, Target, Threshold, Window, server
from .own_server import passing_server
from .picture import draw
from .play import Stated, play, start


def chart(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Where to: a name ending in .svg or .png.")
    ],
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN_OR_FILE",
            help="A recording, as `ullage replay` takes it (- is stdin), or else the id of a run on a server. "
            "Default: a bundled example.",
            show_default=False,
        ),
    ] = None,
    window: Window = None,
    model: Model = "",
    threshold: Threshold = None,
    target: Target = None,
) -> None:
    """Draw how full a run's window was over its turns."""
    form = out.suffix.removeprefix(".").lower()
    if form not in ("svg", "png"):
        raise typer.BadParameter(f"{out} ends in neither .svg nor .png", param_hint="--out")
    carry_out(lambda: _chart(what, Stated(window, model, threshold), target, out, form))


def _chart(
    what: str | None, stated: Stated, target: str | None, out: Path, form: Literal["svg", "png"] | str
) -> int:
    if what in (None, "-") or Path(what).exists():
        curve, title = _of_recording(what, stated)
    else:
        curve, title = asyncio.run(_of_run(server(target), what))
    picture = io.BytesIO()
    try:
        draw(curve, title, picture, form)
    except ModuleNotFoundError as missing:
        if missing.name != "matplotlib":
            raise
        raise Problem("a chart needs matplotlib, which is not installed", "pip install '.[charts]'") from None
    try:
        out.write_bytes(picture.getbuffer())
    except OSError as error:
        raise Problem(f"{out} can't be written: {error.strerror}") from None
    return 0


def _of_recording(file: str | None, stated: Stated) -> tuple[Curve, str]:
    recording, name = read_recording(file)
    run = max(recording.runs, key=lambda each: len(each.calls))
    if len(recording.runs) > 1:
        say(f"it holds {len(recording.runs)} runs; drawn is the longest, {run.name}", style="dim")

    async def played() -> Curve:
        async with AsyncExitStack() as stack:
            address = await stack.enter_async_context(passing_server())
            client = await stack.enter_async_context(AsyncClient(address, timeout=TIMEOUT))
            started = await start(client, run, stated, {})
            async for _ in play(started, run, stated):
                pass
            return await curve_of(client.read_ledger(started.run_id))

    curve = asyncio.run(played())
    return curve, _title(f"{name}: {run.name}" if run.name else name, curve)


async def _of_run(target: str, run_id: str) -> tuple[Curve, str]:
    async with AsyncClient(target, timeout=TIMEOUT) as client:
        curve = await curve_of(client.read_ledger(run_id))
    return curve, _title(f"run {run_id}", curve)


def _title(name: str, curve: Curve) -> str:
    """What is drawn: its name, its model and its window, the last one it had."""
    tokens = curve.points[-1].context_tokens if curve.points else curve.plan.context_tokens
    window = f"window {tokens:,} tokens" if tokens else "window unknown"
    return ", ".join(filter(None, (name, curve.plan.model, window)))
