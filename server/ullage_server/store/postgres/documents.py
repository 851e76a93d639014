"""The rungs' documents in PostgreSQL, where several servers read and change them.

Rule (rules.md 2): the same texts as in files, changed by the same code. A document is replaced only where the text
that was found still stands, so of two servers one starts over; and it is read anew each time, so that a change is
seen by every server's next freeze.
"""

from ...ladder.port import Document
from .database import Database


class PostgresDocuments:
    """Documents in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, address: str) -> Document | None:
        """The document of the rung at `address`; None where there is none. Raises StoreError."""
        found = await self._database.rows("SELECT text, update_time FROM documents WHERE address = $1", address)
        return Document(*found[0]) if found else None

    async def write(self, address: str, document: Document, found: str | None) -> bool:
        """Puts `document` in the place of the text `found` (None: of nothing); durable when it returns.

        False, and no change, where another text stands at `address` by now. Raises StoreError.
        """
        if found is None:
            statement = (
                "INSERT INTO documents (address, text, update_time) VALUES ($1, $2, $3)"
                " ON CONFLICT DO NOTHING RETURNING 1"
            )
            return bool(await self._database.rows(statement, address, *document))
        statement = "UPDATE documents SET text = $2, update_time = $3 WHERE address = $1 AND text = $4 RETURNING 1"
        return bool(await self._database.rows(statement, address, *document, found))

    async def addresses(self) -> list[str]:
        """The addresses that have a document, in order; the city's is the empty one. Raises StoreError."""
        return [
            row["address"] for row in await self._database.rows("SELECT address FROM documents ORDER BY address")
        ]
