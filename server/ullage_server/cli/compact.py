"""`ullage compact`: what of an exchange stays in the window, what is cut out of it, and why.

Rule: the service decides, and what it says is shown. Without a target a server in this process is asked, which
keeps nothing; a named one keeps the run that is made for it.
"""

import asyncio
import difflib
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from ullage import AsyncClient, AsyncRun, CompactedExchange, TextVerdict

from .endings import Problem, carry_out
from .exchanges import RecordedExchange, chosen, read_exchanges
from .options import MAX_INT32, MAX_INT64, TIMEOUT, Json, named_server, whole
from .own_server import passing_server
from .recordings import RecordingError
from .screen import Screen, printable
from .timeline import Line

_TITLES = ("text", "class", "outcome", "before", "after", "dropped", "why")
#: The columns of numbers.
_RIGHT = {"before", "after", "dropped"}

#: Why a text of that class was cut as it was.
_CUT = {
    "prose": "read from the top: its head is kept",
    "table": "read from the top: its head is kept",
    "code": "the middle repeats: both its ends are kept",
    "diff": "the middle repeats: both its ends are kept",
    "log": "the news is at the end: its tail is kept",
    "markup": "its skeleton is the information: its headings are kept",
}
_WHY = {
    "must_offload": "half of it would be worse than none: store it elsewhere",
    "bound": "a later thinking block is bound to it",
}
_STYLES = {"cut": "first", "must_offload": "handover", "bound": "handover"}
_DIFF_STYLES = {"-": "handover", "+": "low", "@": "key"}


def compact(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="An exchange or a history of them, as messages in Anthropic's or OpenAI's shape (JSON lines or "
            "an array), or a Claude Code transcript; - is stdin.",
        ),
    ],
    turn: Annotated[
        int | None,
        typer.Option(
            metavar="TURN",
            callback=whole(MAX_INT32, 1),
            help="The turn, from 1. Default: the last whole exchange.",
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="BYTES", callback=whole(MAX_INT64, 0), help="The budget. Default: the city's, else 32768."
        ),
    ] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Show what was cut as a unified diff.")] = False,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="The server to ask; it keeps the run. Default: ULLAGE_TARGET, else one in this process that "
            "keeps nothing.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Cut an exchange's texts to a budget, and show what was cut and why."""
    carry_out(lambda: _compact(file, turn, budget, target, Screen(as_json=json), diff=diff))


def _compact(
    file: str, turn: int | None, budget: int | None, target: str | None, screen: Screen, *, diff: bool
) -> int:
    address = named_server(target)
    # Read before there is a loop: while one waits for stdin, a loop would keep Ctrl-C to itself.
    exchange = _read(file, turn)
    name = "stdin" if file == "-" else Path(file).name
    run, answer = asyncio.run(_asked(exchange, name, budget, address))
    screen.row(_row(run, answer))
    screen.title(f"{name}, turn {exchange.turn}, run {run.run_id}")
    screen.title(
        f"budget {run.plan.exchange_budget_bytes} bytes, {answer.source_bytes} of text, {answer.dropped_bytes} "
        f"dropped, {answer.result_bytes} left: {'still over' if answer.over_budget else 'within'} budget"
    )
    labels = _labels(answer.verdicts)
    _show_table(labels, answer.verdicts, screen)
    if diff:
        for label, verdict in zip(labels, answer.verdicts, strict=True):
            if verdict.outcome == "cut":
                screen.line([])
                _show_diff(label, _at(exchange.messages, verdict), _at(answer.messages, verdict), screen)
    return 0


async def _asked(
    exchange: RecordedExchange, name: str, budget: int | None, address: str | None
) -> tuple[AsyncRun, CompactedExchange]:
    async with AsyncExitStack() as stack:
        address = address or await stack.enter_async_context(passing_server())
        client = await stack.enter_async_context(AsyncClient(address, timeout=TIMEOUT))
        labels = {"compact": printable(name)[:1024]}
        run = await client.start_run(exchange_budget_bytes=budget, labels=labels)
        try:
            return run, await run.compact(exchange.messages, turn=exchange.turn)
        except (TypeError, ValueError) as error:
            raise Problem(f"{name} holds no exchange that can be sent: {error}") from None
        finally:
            await run.finish("compacted")


def _read(file: str, turn: int | None) -> RecordedExchange:
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return chosen(read_exchanges(raw), turn)
    except OSError as error:
        raise Problem(f"{file} can't be read: {error.strerror}") from None
    except RecordingError as error:
        raise Problem(f"{'stdin' if file == '-' else file} can't be compacted: {error}") from None


def _labels(verdicts: tuple[TextVerdict, ...]) -> list[str]:
    """A name for each text: `reply`, or the id of the call that it answers; numbered where there are several."""
    names = [verdict.tool_use_id or "reply" for verdict in verdicts]
    return [
        f"{name} {names[: place + 1].count(name)}" if names.count(name) > 1 else name
        for place, name in enumerate(names)
    ]


def _show_table(labels: list[str], verdicts: tuple[TextVerdict, ...], screen: Screen) -> None:
    rows = [
        (
            printable(label),
            verdict.content or "-",
            verdict.outcome,
            str(verdict.source_bytes),
            str(verdict.result_bytes),
            str(verdict.dropped_bytes),
            _why(verdict),
        )
        for label, verdict in zip(labels, verdicts, strict=True)
    ]
    widths = [max(map(len, column)) for column in zip(_TITLES, *rows, strict=True)]
    screen.line(_cells(_TITLES, widths, "title"))
    for row, verdict in zip(rows, verdicts, strict=True):
        screen.line(_cells(row, widths, _STYLES.get(verdict.outcome, "")))


def _cells(cells: tuple[str, ...], widths: list[int], style: str) -> Line:
    aligned = [
        cell.rjust(width) if title in _RIGHT else cell.ljust(width)
        for title, cell, width in zip(_TITLES, cells, widths, strict=True)
    ]
    return [("  ".join(aligned).rstrip(), style)]


def _why(verdict: TextVerdict) -> str:
    if verdict.outcome == "kept":
        return "a cut would be no shorter" if verdict.content else "within its share, or all within the budget"
    return _WHY.get(verdict.outcome) or _CUT.get(verdict.content or "", "")


def _show_diff(label: str, before: str, after: str, screen: Screen) -> None:
    lines = difflib.unified_diff(
        before.split("\n"), after.split("\n"), printable(label), f"{printable(label)}, cut", lineterm=""
    )
    for line in lines:
        screen.line([(line.expandtabs(), _DIFF_STYLES.get(line[0], ""))])


def _at(messages: list[Any], verdict: TextVerdict) -> Any:
    """The text that a verdict is about."""
    found: Any = messages
    for key in verdict.place:
        found = found[key]
    return found


def _row(run: AsyncRun, answer: CompactedExchange) -> dict[str, Any]:
    """The answer as a program reads it."""
    return {
        "run_id": run.run_id,
        "turn": answer.turn,
        "budget_bytes": run.plan.exchange_budget_bytes,
        "source_bytes": answer.source_bytes,
        "result_bytes": answer.result_bytes,
        "dropped_bytes": answer.dropped_bytes,
        "over_budget": answer.over_budget,
        "digest": answer.digest.hex(),
        "texts": [
            {
                "place": list(verdict.place),
                "tool_use_id": verdict.tool_use_id,
                "class": verdict.content,
                "outcome": verdict.outcome,
                "source_bytes": verdict.source_bytes,
                "result_bytes": verdict.result_bytes,
                "dropped_bytes": verdict.dropped_bytes,
            }
            for verdict in answer.verdicts
        ],
        "messages": answer.messages,
    }
