"""Which store a server has, by its settings: an SQLite file in the data folder, or a PostgreSQL database.

Rule: with the database stands all that a server keeps, the ladder's documents too, so that several servers have
one truth; without it, all is in the data folder.
"""

import asyncio
from pathlib import Path
from typing import NamedTuple

from ..ladder.files import TomlFiles
from ..ladder.port import Documents
from ..settings import Settings
from .port import Store
from .sqlite import SqliteStore


class Opened(NamedTuple):
    """A store, and where the ladder's documents stand beside it."""

    store: Store
    documents: Documents


def with_files(store: Store, data: Path) -> Opened:
    """A store that keeps no documents, beside those in the folder `data`."""
    return Opened(store, TomlFiles(data / "city"))


async def open_store(settings: Settings) -> Opened:
    """The store of those settings. Raises StoreInUse, SchemaTooNew, SchemaTooOld, StoreError or OSError."""
    if settings.store is None:
        return with_files(await asyncio.to_thread(SqliteStore, settings.data), settings.data)
    # The driver is in an extra of its own.
    from .postgres.documents import PostgresDocuments
    from .postgres.ledger import PostgresStore

    store = await PostgresStore.opened(settings.store)
    return Opened(store, PostgresDocuments(store.database))
