"""`ullage building show` and `ullage building set`: the rungs of the ladder, read and written.

Rule: every value is shown with who stated it; those that this very rung states are marked. An address without a
rung takes all from the nearest one above, and is shown so. A command writes what it names and nothing else.
"""

import asyncio
from typing import Annotated, Any, Literal

import typer

from ullage import AsyncClient, Building, BuildingNotFound

from .as_json import as_json
from .endings import carry_out, say
from .options import MAX_INT32, MAX_INT64, TIMEOUT, Json, Target, pairs, server, whole
from .screen import Screen, moment

_TITLES = ("KEY", "VALUE", "SOURCE")

#: What to say to whoever names a building `city`, which is one like any other.
_CITY = 'the city itself has the address ""'

building = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Read and write the rules of the city, a building or a resident.",
)


@building.command()
def show(
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="BUILDING or BUILDING/RESIDENT; none is the city.")
    ] = "",
    target: Target = None,
    json: Json = False,
) -> None:
    """Show what a run started there now would freeze, and who stated it."""
    carry_out(lambda: asyncio.run(_show(server(target), address, Screen(as_json=json))))


@building.command("set")
def set_(
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help='BUILDING or BUILDING/RESIDENT; "" is the city.')
    ],
    second_threshold: Annotated[
        int | None,
        typer.Option(metavar="N", callback=whole(MAX_INT64), help="The percent at which the handover sounds."),
    ] = None,
    rearm: Annotated[
        Literal["per_run", "per_window"] | None, typer.Option(help="When the thresholds may sound again.")
    ] = None,
    finishing_act: Annotated[
        str | None, typer.Option(metavar="WORD", help="How an agent ends its work, as the handover names it.")
    ] = None,
    exchange_budget_bytes: Annotated[
        int | None,
        typer.Option(metavar="N", callback=whole(MAX_INT64), help="Text one exchange may hold, in bytes."),
    ] = None,
    notices_every_steps: Annotated[
        int | None,
        typer.Option(metavar="N", callback=whole(MAX_INT32), help="Steps from one notice to the next; 0: none."),
    ] = None,
    notices_include_subagents: Annotated[
        bool | None,
        typer.Option(
            "--notices-include-subagents/--no-notices-include-subagents",
            help="Whether subagents' runs get notices.",
        ),
    ] = None,
    reminders_budget_chars: Annotated[
        int | None,
        typer.Option(
            metavar="N", callback=whole(MAX_INT32), help="Characters the reminders of one call may hold."
        ),
    ] = None,
    clock_zone: Annotated[
        str | None, typer.Option(metavar="ZONE", help="Time zone of dates told to an agent, as Europe/Berlin.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=TOKENS", help="The width of a model's window; may be repeated."),
    ] = None,
    reset: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="Remove a key from this rung, as models.NAME; may be repeated."),
    ] = None,
    etag: Annotated[str, typer.Option(help="Write only if this is still the rung's etag.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would come of it; write nothing.")] = False,
    target: Target = None,
    json: Json = False,
) -> None:
    """Write to one rung; the next runs there read it, and those that are going never change by it."""
    changes: dict[str, Any] = {
        "context_second_threshold": second_threshold,
        "context_rearm": rearm,
        "context_finishing_act": finishing_act,
        "exchange_budget_bytes": exchange_budget_bytes,
        "notices_every_steps": notices_every_steps,
        "notices_include_subagents": notices_include_subagents,
        "reminders_budget_chars": reminders_budget_chars,
        "clock_zone": clock_zone,
        "models": _windows(model or []) or None,
    }
    if not reset and all(value is None for value in changes.values()):
        raise typer.BadParameter("say what to write, as --second-threshold 60, or what to --reset")
    if reset:
        changes["reset"] = reset
    screen = Screen(as_json=json)
    carry_out(lambda: asyncio.run(_set(server(target), address, changes, etag, dry_run, screen)))


def _windows(texts: list[str]) -> dict[str, int]:
    windows = {}
    # A model's name may hold a `=`; a number does not.
    for name, tokens in pairs(texts, "--model", "NAME=TOKENS", str.rpartition).items():
        try:
            windows[name] = int(tokens)
        except ValueError:
            raise typer.BadParameter(f"{tokens!r} is no number of tokens", param_hint="--model") from None
        if abs(windows[name]) > MAX_INT64:
            raise typer.BadParameter(f"{tokens} is beyond any window", param_hint="--model")
    return windows


async def _show(target: str, address: str, screen: Screen) -> int:
    async with AsyncClient(target, timeout=TIMEOUT) as client:
        nearest = await _nearest(client, address)
    if nearest.address == address:
        _draw(nearest, "", screen)
        return 0
    _draw(Building(address, (), nearest.settled, "", None), "no rung of its own", screen)
    above = f"building {nearest.address}" if nearest.address else "the city"
    make = f"`ullage building set {address}` and what to write makes it a rung of its own"
    say(
        f"nobody configured {address}; a run there takes all of it from {above}",
        f"{make}\n{_CITY}" if address == "city" else make,
        style="dim",
    )
    return 0


async def _nearest(client: AsyncClient, address: str) -> Building:
    """That rung, or the nearest one above it; a run settles by no other where its own has none."""
    while True:
        try:
            return await client.get_building(address)
        except BuildingNotFound:
            if not address:
                raise
            address = address.rpartition("/")[0]


async def _set(
    target: str, address: str, changes: dict[str, Any], etag: str, dry_run: bool, screen: Screen
) -> int:
    async with AsyncClient(target, timeout=TIMEOUT) as client:
        found = await client.configure_building(address, etag=etag, validate_only=dry_run, **changes)
    _draw(found, "as it would be; nothing is written" if dry_run else "written", screen)
    if address == "city":
        say("this is a building called city", _CITY, "yellow")
    return 0


def _draw(building: Building, what: str, screen: Screen) -> None:
    screen.row(as_json(building))
    title = f"building {building.address}" if building.address else "the city"
    screen.title(f"{title}: {what}" if what else title)
    if building.update_time is not None:
        screen.title(f"etag {building.etag}, document of {moment(building.update_time)}")
    elif building.etag:
        screen.title(f"etag {building.etag}, no document")
    stated = {each.key for each in building.stated}
    rows = [(each.key, each.value, each.source) for each in building.settled]
    keys, values, sources = (max(map(len, column)) for column in zip(_TITLES, *rows, strict=True))
    screen.line([(f"{_TITLES[0]:{keys}}  {_TITLES[1]:{values}}  {_TITLES[2]}", "title")])
    for key, value, source in rows:
        here = key in stated
        screen.line(
            [
                (f"{key:{keys}}  ", "key"),
                (f"{value:{values}}  ", "title" if here else ""),
                (f"{source:{sources}}", "first" if here else "dim"),
                ("  stated here" if here else "", "dim"),
            ]
        )
