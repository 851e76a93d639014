"""What runs a server in this process: the only part of the command line that needs the extra `[server]`.

Rule: without that extra one line says so; with it, what a server can't start for is one line too.
"""

import logging
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .endings import Problem

if TYPE_CHECKING:
    from ..settings import Settings

#: A unix socket's whole path has at most 107 bytes; what stands behind the folder's takes some of them.
_LONGEST_FOLDER = 80


def server_settings(**stated: Any) -> "Settings":
    """The server's settings: those stated here, else the environment's, else the defaults."""
    _need_server_parts()
    from pydantic import ValidationError

    from ..settings import RIGHT, Settings

    try:
        return Settings(**{name: value for name, value in stated.items() if value is not None})
    except ValidationError as error:
        wrong = error.errors()[0]
        name = str(wrong["loc"][0]) if wrong["loc"] else "settings"
        said = (
            f"--{name.replace('_', '-')}"
            if name in stated and stated[name] is not None
            else f"ULLAGE_{name.upper()}"
        )
        # A store's address may hold a password.
        value = (
            "no such address" if name == "store" else f"'{wrong['input']}'" if wrong["input"] != "" else "empty"
        )
        raise Problem(f"{said} is {value}; it is {RIGHT.get(name, 'another')}", f"correct {said}") from None


def start_problem(error: Exception, settings: "Settings") -> Problem | None:
    """What to tell of an error that ended a server's start; None for one that is a fault of the server's own."""
    from ..core.errors import Refusal
    from ..ops.address import AddressRefused
    from ..store.migrate import SchemaTooNew
    from ..store.port import StoreError
    from ..store.sqlite import StoreInUse

    if settings.store is not None and (problem := _store_problem(error)):
        return problem
    data = settings.data
    if isinstance(error, AddressRefused):
        return Problem(str(error))
    if isinstance(error, StoreInUse):
        return Problem(f"{error} ({data})", "stop the other one, or name another folder with --data")
    if isinstance(error, SchemaTooNew):
        return Problem(f"{error} ({data})", "upgrade ullage, or name another folder with --data")
    if isinstance(error, StoreError):
        return Problem(f"{error} ({data})", "see that the folder is yours to write and its disk is not full")
    if isinstance(error, Refusal):
        return Problem(error.message, error.recovery)
    if isinstance(error, FileExistsError | NotADirectoryError):
        where = next(path for path in (data.absolute(), *data.absolute().parents) if path.exists())
        return Problem(f"{where} is a file, and the data needs a folder", "name a folder of yours with --data")
    if isinstance(error, OSError):
        return Problem(
            f"{error.filename or data}: {error.strerror or error}", "name a folder of yours with --data"
        )
    return None


def _store_problem(error: Exception) -> Problem | None:
    """What of such an error is for a PostgreSQL store to answer."""
    from ..store.migrate import SchemaTooNew, SchemaTooOld
    from ..store.port import StoreError

    if isinstance(error, ModuleNotFoundError) and error.name == "asyncpg":
        return Problem(
            "a PostgreSQL store needs asyncpg, which is not installed", "pip install '.[postgres]' in the checkout"
        )
    if isinstance(error, SchemaTooOld):
        return Problem(f"{error} (--store)", "run `ullage migrate` once, then start the servers")
    if isinstance(error, SchemaTooNew):
        return Problem(f"{error} (--store)", "upgrade ullage, or name another database with --store")
    if isinstance(error, StoreError):
        return Problem(str(error), "see that the database is up, and that --store names it and a user it knows")
    return None


def log_to_stderr(least: int = logging.INFO) -> None:
    """Has the server's log written to stderr: for people on a terminal, else as JSON lines."""
    import structlog

    people = sys.stderr.isatty()
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S" if people else "iso", utc=not people),
        structlog.processors.StackInfoRenderer(),
    ]
    last: list[Any] = (
        [structlog.dev.ConsoleRenderer(colors="NO_COLOR" not in os.environ)]
        if people
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=shared + last,
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


@asynccontextmanager
async def passing_server() -> AsyncIterator[str]:
    """A server in this process that keeps nothing, on a socket in a folder of its own; gives its address."""
    _need_server_parts()
    from ..app import running
    from ..store.memory import MemoryStore

    log_to_stderr(logging.WARNING)
    try:
        parent = tempfile.gettempdir()
        folder = tempfile.TemporaryDirectory(
            prefix="ullage-",
            dir=parent if len(os.fsencode(parent)) <= _LONGEST_FOLDER else "/tmp",  # noqa: S108
        )
    except OSError as error:
        raise Problem(f"no folder for the server's socket: {error}", "set TMPDIR to a folder of yours") from None
    with folder as path:
        settings = server_settings(listen=f"unix:{path}/ullage.sock", data=Path(path))
        async with running(settings, MemoryStore()):
            yield settings.listen


def _need_server_parts() -> None:
    """Refuses where the extra `[server]` is not installed."""
    try:
        from .. import app, settings  # noqa: F401  # whether they can be
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] in {"ullage", "ullage_server"}:
            raise
        message = f"running a server needs {missing.name}, which is not installed"
        raise Problem(message, "pip install '.[server]' in the checkout") from None
