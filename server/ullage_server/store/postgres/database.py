"""Connections to one PostgreSQL database.

Rule: a connection that breaks is made anew at the next use, so that a database that was away needs no restart of
the server; whatever the driver raises is a StoreError. What is committed is on disk: where the database's own
setting would answer before that, these connections ask for it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import asyncpg

from ..port import StoreError

if TYPE_CHECKING:
    from asyncpg import Connection, Pool, Record

#: How many connections one server holds at most: one writes, the others read.
MAX_CONNECTIONS = 8

#: How long, in seconds, a connection may take to come about, and a statement to be answered. A caller's own
#: deadline ends a read before that; a write goes on, for others wait for its answer too.
CONNECT_SECONDS, STATEMENT_SECONDS = 5.0, 30.0

_FAILURES = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)

_SESSION = """
SELECT set_config('statement_timeout', $1, false),
       set_config('synchronous_commit',
                  CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
                  ELSE current_setting('synchronous_commit') END, false)
"""


class Database:
    """A database by its address, `postgresql://USER@HOST/NAME`; closed with `close`."""

    def __init__(self, pool: "Pool[Record]") -> None:
        self._pool = pool

    @classmethod
    async def opened(cls, address: str) -> "Database":
        """The database at `address`. Raises StoreError where it can't be reached."""
        async with told():
            pool = await asyncpg.create_pool(
                address,
                min_size=1,
                max_size=MAX_CONNECTIONS,
                timeout=CONNECT_SECONDS,
                command_timeout=STATEMENT_SECONDS,
                init=_begin,
                reset=_leave,
                server_settings={"application_name": "ullage"},
            )
        return cls(pool)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator["Connection[Record]"]:
        """A connection for the life of the context. Raises StoreError for whatever fails in it."""
        async with told(), self._pool.acquire(timeout=CONNECT_SECONDS) as connection:
            yield connection  # type: ignore[misc]  # a proxy that does what the connection does

    async def rows(self, statement: str, *values: Any) -> "list[Record]":
        """The rows that a statement gives. Raises StoreError."""
        async with self.connection() as connection:
            return await connection.fetch(statement, *values)

    async def value(self, statement: str, *values: Any) -> Any:
        """The first value that a statement gives; None where it gives none. Raises StoreError."""
        async with self.connection() as connection:
            return await connection.fetchval(statement, *values)

    async def close(self) -> None:
        """Lets go of all connections."""
        self._pool.terminate()


@asynccontextmanager
async def told() -> AsyncIterator[None]:
    """Raises StoreError for what the driver raises."""
    try:
        yield
    except _FAILURES as error:
        # The driver's text may name the user and the database, and is for the log alone.
        raise StoreError(
            f"PostgreSQL can't be used: {error or 'no answer in time'} ({type(error).__name__})"
        ) from error


async def _begin(connection: "Connection[Record]") -> None:
    await connection.fetchval(_SESSION, str(int(STATEMENT_SECONDS * 1000)))


async def _leave(connection: "Connection[Record]") -> None:
    """Nothing is changed in a session that the next one must not find, so nothing is undone at the end."""
