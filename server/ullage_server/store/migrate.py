"""The schema: forward-only numbered SQL files a dialect, applied in order, once each.

Rule (architecture.md, The ledger): a schema carries two numbers: its version, and the oldest version a server
must know to run on it. A server refuses a schema that asks for more than it knows.
"""

import sqlite3
from pathlib import Path
from urllib.parse import quote

from yoyo import exceptions, get_backend, read_migrations

from .port import StoreError

#: The newest schema this server knows.
SCHEMA_VERSION = 1

#: Where the files stand, in a folder a dialect.
MIGRATIONS = Path(__file__).parent / "migrations"


class SchemaTooNew(Exception):
    """The store was written by a newer server, and this one can't run on it."""


class SchemaTooOld(Exception):
    """The store must be migrated before this server can run on it."""


def check_schema(version: int, oldest: int) -> None:
    """Raises SchemaTooNew where a schema of that version asks for a server that knows more than this one."""
    if oldest > SCHEMA_VERSION:
        raise SchemaTooNew(
            f"the store's schema is version {version} and needs a server that knows version {oldest}; "
            f"this one knows {SCHEMA_VERSION}"
        )


def migrate_sqlite(file: Path) -> None:
    """Brings the SQLite database at `file` up to this server's schema; made where it does not exist."""
    db = sqlite3.connect(file)
    try:
        held = db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'schema'").fetchone()[0]
        numbers = db.execute("SELECT version, oldest FROM schema").fetchall() if held else [(0, 0)]
    finally:
        db.close()
    if len(numbers) != 1 or not all(isinstance(number, int) for number in numbers[0]):
        raise StoreError("the store's schema tells no version; restore the data folder from a backup")
    version, oldest = numbers[0]
    check_schema(version, oldest)
    if version >= SCHEMA_VERSION:
        return
    backend = get_backend(f"sqlite:///{quote(str(file))}")
    try:
        # The folder's lock file says that nobody else migrates; a lock of the library's own is what a kill left.
        backend.break_lock()
        with backend.lock():
            backend.apply_migrations(backend.to_apply(read_migrations(str(MIGRATIONS / "sqlite"))))
    except (exceptions.MigrationConflict, exceptions.LockTimeout, exceptions.BadMigration) as error:
        raise StoreError("the store's schema could not be brought up to date") from error
    finally:
        backend.connection.close()
