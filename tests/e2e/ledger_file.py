"""The ledger as it lies in its file, read past the server, and read only."""

import sqlite3
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One record: where it stands in its run, what it is, and the turn it belongs to (0 for none)."""

    position: int
    kind: str
    turn: int


class LedgerFile:
    """The file in the folder `data`."""

    def __init__(self, data: Path) -> None:
        self._file = data / "ullage.db"

    def ask(self, question: str, *values: object) -> list[Any]:
        with closing(sqlite3.connect(f"{self._file.as_uri()}?mode=ro", uri=True)) as db:
            return db.execute(question, values).fetchall()

    def is_whole(self) -> bool:
        return self.ask("PRAGMA integrity_check") == [("ok",)]

    def runs(self) -> dict[str, list[Row]]:
        """Every run's records in their order."""
        found: dict[str, list[Row]] = defaultdict(list)
        for run_id, *row in self.ask("SELECT run_id, position, kind, turn FROM ledger ORDER BY run_id, position"):
            found[run_id].append(Row(*row))
        return dict(found)

    def commands(self) -> list[tuple[str, bool]]:
        """The commands sent under an id, in their order, and whether each is carried out."""
        return [
            (name, bool(done)) for name, done in self.ask("SELECT request_id, done FROM commands ORDER BY number")
        ]


def one_after_the_other(turns: int, *, finished: bool = False) -> list[Row]:
    """The ledger of a run whose turns from 1 to `turns` were reported once each."""
    rows = [Row(1, "run_started", 0), *(Row(turn + 1, "usage_observed", turn) for turn in range(1, turns + 1))]
    return [*rows, Row(turns + 2, "run_finished", 0)] if finished else rows
