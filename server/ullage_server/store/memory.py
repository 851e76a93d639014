"""The ledger in memory: for tests, and the standard that the other stores are held to.

It keeps nothing beyond its life. Several ledgers may share one, as several servers share a database.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from ..ladder.port import Asked
from .port import Append, Change, Cursor, Row, Run, Standing


class MemoryStore:
    """A Store of dictionaries."""

    def __init__(self, *, exclusive: bool = True) -> None:
        self.exclusive = exclusive
        self._ledgers: dict[str, list[Append]] = {}
        self._runs: dict[str, Run] = {}
        self._changed: list[tuple[str, int]] = []
        self._asked: dict[str, Asked] = {}
        self._undone: set[str] = set()

    async def append(self, batch: Sequence[Append]) -> list[bool]:
        return [self._append(append) for append in batch]

    def _append(self, append: Append) -> bool:
        ledger = self._ledgers.setdefault(append.run_id, [])
        if append.position != len(ledger) + 1:
            return False
        ledger.append(append)
        self._changed.append((append.run_id, append.position))
        if append.begins is not None:
            self._runs[append.run_id] = append.begins
        if append.finishes:
            self._runs[append.run_id] = self._runs[append.run_id]._replace(finished=True)
        return True

    async def standing(self, run_id: str) -> Standing | None:
        run = self._runs.get(run_id)
        return None if run is None else self._standing(run)

    def _standing(self, run: Run) -> Standing:
        last = self._ledgers[run.run_id][-1]
        return Standing(run, last.position, last.fold_version, last.state)

    async def position(self, run_id: str) -> int:
        return len(self._ledgers.get(run_id, ()))

    async def rows(self, run_id: str, from_position: int, limit: int) -> list[Row]:
        first = max(from_position, 1) - 1
        return [Row(a.position, a.payload) for a in self._ledgers.get(run_id, [])[first : first + limit]]

    async def row_of_turn(self, run_id: str, kind: str, turn: int, *, first: bool = False) -> Row | None:
        for append in self._ledgers.get(run_id, [])[:: 1 if first else -1]:
            if append.kind == kind and append.turn == turn:
                return Row(append.position, append.payload)
        return None

    async def page(
        self, address: str, finished: bool | None, labels: Mapping[str, str], after: Cursor | None, limit: int
    ) -> list[Standing]:
        fits = [
            run
            for run in self._runs.values()
            if (not address or run.address == address or run.address.startswith(f"{address}/"))
            and finished in (None, run.finished)
            and labels.items() <= run.labels.items()
        ]
        fits.sort(key=lambda run: Cursor(run.start_time, run.run_id))
        end = (
            len(fits)
            if after is None
            else bisect_left(fits, after, key=lambda run: Cursor(run.start_time, run.run_id))
        )
        return [self._standing(run) for run in fits[max(end - limit, 0) : end][::-1]]

    async def last_change(self) -> int:
        return len(self._changed)

    async def changes(self, after: int, limit: int) -> list[Change]:
        found = self._changed[after : after + limit]
        return [
            Change(number, run_id, position, self._runs[run_id].address)
            for number, (run_id, position) in enumerate(found, after + 1)
        ]

    async def find(self, request_id: str) -> Asked | None:
        return self._asked.get(request_id)

    async def ask(self, asked: Asked) -> bool:
        if asked.request_id in self._asked:
            return False
        self._asked[asked.request_id] = asked
        self._undone.add(asked.request_id)
        return True

    async def done(self, request_id: str) -> None:
        self._undone.discard(request_id)

    async def undone(self) -> list[Asked]:
        return [asked for request_id, asked in self._asked.items() if request_id in self._undone]

    async def close(self) -> None:
        """Nothing is held."""
