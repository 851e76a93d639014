"""`ullage serve`: a server in this process, until a signal ends it.

Rule: it says on stderr where it listens, who can call it there, and where its data is; what it can't start for is
one line, and exit code 1. It says when it begins to end, and when it has ended.
"""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from .endings import carry_out, say
from .options import Store
from .own_server import log_to_stderr, server_settings, start_problem

if TYPE_CHECKING:
    from ..settings import Settings


def serve(
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="unix:PATH or HOST:PORT. Default: ULLAGE_LISTEN, else a unix socket in a folder of yours alone.",
        ),
    ] = None,
    data: Annotated[
        # A text: as a path, an empty one would be the current folder.
        str | None,
        typer.Option(
            metavar="DIR",
            help="Where the ledger and the rules are kept. Default: ULLAGE_DATA, else your data directory.",
        ),
    ] = None,
    store: Store = None,
    insecure: Annotated[
        bool | None,
        typer.Option("--insecure", help="Listen beyond this machine, though without TLS.", show_default=False),
    ] = None,
    reflection: Annotated[
        Literal["auto", "on", "off"] | None,
        typer.Option(
            help="Server reflection. Default: ULLAGE_REFLECTION, else auto: where only this machine calls."
        ),
    ] = None,
) -> None:
    """Run a server until Ctrl-C or SIGTERM.

    Every setting can also stand in the environment, as ULLAGE_ and its name; a flag goes before it.
    """
    run = _loop()
    carry_out(lambda: run(_serve(listen=listen, data=data, store=store, insecure=insecure, reflection=reflection)))


def _loop() -> Callable[[Coroutine[Any, Any, int]], int]:
    """What runs the server's loop: uvloop where it is installed."""
    try:
        import uvloop
    except ModuleNotFoundError:
        return asyncio.run
    return uvloop.run


async def _serve(**stated: Any) -> int:
    settings = server_settings(**stated)
    from ..app import serve as serve_until_ended

    log_to_stderr()
    up = False

    def ready(listen: str) -> None:
        nonlocal up
        up = True
        _tell(listen, settings)

    try:
        await serve_until_ended(settings, ready, lambda: _say_or_log("draining", "Ctrl-C again ends it at once"))
    except Exception as error:
        problem = None if up else start_problem(error, settings)
        if problem is None:
            raise
        raise problem from None
    _say_or_log("stopped")
    return 0


def _say_or_log(event: str, more: str = "") -> None:
    import structlog

    if sys.stderr.isatty():
        say(event, more, style="green")
    else:
        structlog.get_logger().info(event)


def _tell(listen: str, settings: "Settings") -> None:
    """Where the server listens, who can call it there, and where its data is: on stderr."""
    import structlog

    from ..ops.address import is_local

    kept = str(settings.data) if settings.store is None else "PostgreSQL"
    if listen.startswith("unix:"):
        reach = "only you can call it"
    elif is_local(listen):
        reach = "any user of this machine can call it; on a unix socket (the default) only you could"
    else:
        reach = "anyone who reaches it over the network can call it and read along: there is no TLS"
    if sys.stderr.isatty():
        say(f"listening on {listen}", f"{reach}\ndata in {kept}\nCtrl-C ends it", style="green")
    else:
        structlog.get_logger().info("listening", listen=listen, reach=reach, data=kept)
