"""The options that several commands have, each written once."""

import os
from collections.abc import Callable
from typing import Annotated

import typer

from ullage.target import check_target

#: The greatest numbers of the wire's two widths.
MAX_INT32 = 2**31 - 1
MAX_INT64 = 2**63 - 1

#: How long a question may take, in seconds: someone is waiting at a terminal.
TIMEOUT = 5.0

Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="ADDRESS",
        help="The server: unix:PATH or HOST:PORT. Default: ULLAGE_TARGET, else the socket that `ullage serve` "
        "listens on.",
    ),
]
Store = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="postgresql://USER@HOST/DATABASE, for several servers. Default: ULLAGE_STORE, else none.",
    ),
]
Below = Annotated[str, typer.Option("--address", metavar="ADDRESS", help="Only runs at this address and below.")]
Labels = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="KEY=VALUE", help="Only runs with this label; may be repeated."),
]
Json = Annotated[bool, typer.Option("--json", help="JSON for a program, one object a line.")]


def whole(most: int, least: int | None = None) -> Callable[[int | None], int | None]:
    """A check that a number is one the wire can hold; whether it makes sense is for the service to say."""

    def check(number: int | None) -> int | None:
        if number is not None and not lowest <= number <= most:
            raise typer.BadParameter(f"{number} is not from {lowest} to {most}")
        return number

    lowest = -most if least is None else least
    return check


Window = Annotated[
    int | None,
    typer.Option(
        "--window",
        metavar="TOKENS",
        callback=whole(MAX_INT64, 0),
        help="The model's window; 0: unknown. Default: the recording's, else by model.",
    ),
]
Model = Annotated[
    str, typer.Option("--model", metavar="NAME", help="The model, for all calls. Default: the recording's.")
]
Threshold = Annotated[
    int | None,
    typer.Option(
        "--threshold", metavar="PERCENT", callback=whole(MAX_INT64), help="The second threshold, 31 to 90."
    ),
]


def labels_of(labels: list[str] | None) -> dict[str, str]:
    """The labels that were named."""
    return pairs(labels or [], "--label", "KEY=VALUE", str.partition)


def server(target: str | None) -> str:
    """The server to ask: the one named, else the one a client finds; what is wrong is told with where it stood."""
    try:
        return check_target(target or None)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--target" if target else None) from None


def named_server(target: str | None) -> str | None:
    """The server that is named, here or in ULLAGE_TARGET; None: none is, so one in this process is to be asked."""
    return server(target) if target or os.environ.get("ULLAGE_TARGET") else None


def pairs(
    texts: list[str], option: str, form: str, split: Callable[[str, str], tuple[str, str, str]]
) -> dict[str, str]:
    """Texts of a `form` as KEY=VALUE by key, each split at the first or last `=`; the last one of a key stands."""
    found = {}
    for text in texts:
        name, equals, value = split(text, "=")
        if not name or not equals:
            raise typer.BadParameter(f"{text!r} is not {form}", param_hint=option)
        found[name] = value
    return found
