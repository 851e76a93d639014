"""All commands, in one place."""

import os
import sys
from typing import Annotated, NoReturn

import typer

from .building import building
from .chart import chart
from .compact import compact
from .endings import say
from .migrate import migrate
from .replay import replay
from .run import run
from .runs import runs
from .serve import serve
from .top import top
from .watch import watch

app = typer.Typer(
    name="ullage",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Boxes leave too little room for the names of the options.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="How full a model's window is: run the service, and ask it.",
)
app.command()(serve)
app.command()(replay)
app.command()(compact)
app.command()(runs)
app.command()(run)
app.command()(watch)
app.command()(chart)
app.command()(top)
app.command()(migrate)
app.add_typer(building, name="building")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        sys.stdout.write(f"ullage {version('ullage')}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def run_app() -> NoReturn:
    """Runs the command that the process was started with, and ends the process with its code."""
    for argument in map(os.fsencode, sys.argv[1:]):
        try:
            argument.decode()
        except UnicodeDecodeError:
            say(f"the argument {argument!r} is no UTF-8", "write it in UTF-8")
            raise SystemExit(2) from None
    app(prog_name="ullage")
    raise SystemExit(0)
