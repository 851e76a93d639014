"""What a server has recorded: the rows of its ledger and the documents of its ladder, read from its disk."""

import sqlite3
from pathlib import Path
from typing import NamedTuple


class Recorded(NamedTuple):
    """How much there is: rows by table, and each file of the ladder with what it holds."""

    rows: dict[str, int]
    documents: dict[str, bytes]


class Records:
    """The records in a server's data folder, which it may be writing to."""

    def __init__(self, data: Path) -> None:
        self._city = data / "city"
        self._db = sqlite3.connect(f"file:{data / 'ullage.db'}?mode=ro", uri=True, isolation_level=None)

    def now(self) -> Recorded:
        """What is recorded at this moment."""
        rows = {}
        for table in ("ledger", "runs", "commands"):
            (rows[table],) = self._db.execute(f"SELECT count(*) FROM {table}").fetchone()
        files = (path for path in self._city.rglob("*") if path.is_file())
        return Recorded(rows, {str(path.relative_to(self._city)): path.read_bytes() for path in files})

    def close(self) -> None:
        self._db.close()
