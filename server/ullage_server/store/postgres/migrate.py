"""The schema of a PostgreSQL database: numbered SQL files, applied in order, once each.

Rule (architecture.md, The ledger): only `ullage migrate` changes it, so that several servers can be upgraded one
by one; a server looks at its two numbers at its start. One at a time migrates, and a file is applied whole or not
at all.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg

from ..migrate import MIGRATIONS, SCHEMA_VERSION, SchemaTooOld, check_schema
from .database import CONNECT_SECONDS, told

if TYPE_CHECKING:
    from asyncpg import Connection, Record

#: Any number that nobody else locks in the same database.
_LOCK = 7_815_263_940


async def migrate(address: str) -> tuple[int, int]:
    """Brings the database at `address` up to this server's schema; the versions before and after.

    Raises SchemaTooNew where it is a newer server's, and StoreError.
    """
    async with told():
        connection = await asyncpg.connect(address, timeout=CONNECT_SECONDS)
        try:
            async with connection.transaction():
                await connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
                before, oldest = await schema_of(connection)
                check_schema(before, oldest)
                for number, file in _files():
                    if number > before:
                        await connection.execute(file.read_text())
                after, _ = await schema_of(connection)
        finally:
            await connection.close(timeout=CONNECT_SECONDS)
    return before, after


async def schema_of(connection: "Connection[Record]") -> tuple[int, int]:
    """The schema's version, and the oldest that a server must know; zeros where there is none."""
    if await connection.fetchval("SELECT to_regclass('schema')") is None:
        return 0, 0
    row = await connection.fetchrow("SELECT version, oldest FROM schema")
    return (0, 0) if row is None else (row["version"], row["oldest"])


async def check(connection: "Connection[Record]") -> None:
    """Raises SchemaTooNew or SchemaTooOld where this server can't run on the database."""
    version, oldest = await schema_of(connection)
    check_schema(version, oldest)
    if version < SCHEMA_VERSION:
        raise SchemaTooOld(f"the store's schema is version {version} and this server needs {SCHEMA_VERSION}")


def _files() -> list[tuple[int, Path]]:
    return sorted((int(file.name[:4]), file) for file in (MIGRATIONS / "postgres").glob("*.sql"))
