"""What the ledger needs of a store: rows by run and position, and a row for each run.

Rule (architecture.md, The ledger): the key (run, position) decides who was first. An append is "insert
position n": it either wins or finds the position taken. A record's row carries the state that follows from it, so
that the last one tells how its run stands. What a store answers is durable.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from ..ladder.port import Journal


class StoreError(Exception):
    """The store can't be read or written now; whether the batch at hand was recorded may be unknown."""


class Run(NamedTuple):
    """A run's row: what its first record settles, and whether it has ended."""

    run_id: str
    address: str
    start_time: int
    labels: Mapping[str, str]
    plan: bytes
    finished: bool = False


class Append(NamedTuple):
    """One record to be written at `position` of its run, and the state after it by that version of the fold.

    `turn` is 0 for a record that belongs to none. `begins` is the run's row, which the first record brings;
    `finishes` says that the record ends the run.
    """

    run_id: str
    position: int
    at: int
    kind: str
    turn: int
    payload: bytes
    fold_version: int
    state: bytes
    begins: Run | None = None
    finishes: bool = False


class Standing(NamedTuple):
    """How a run stands: its row, the last position of its ledger, and the state stored with it."""

    run: Run
    position: int
    fold_version: int
    state: bytes


class Row(NamedTuple):
    """One record as it is stored."""

    position: int
    payload: bytes


class Cursor(NamedTuple):
    """Where a page of runs ends: the start time and the id of its last run."""

    start_time: int
    run_id: str


class Change(NamedTuple):
    """A record that was written: its number among all of the store's, its run and position, the run's address."""

    number: int
    run_id: str
    position: int
    address: str


class Store(Journal, Protocol):
    """Where ledgers stand. Every method raises StoreError where the store can't answer."""

    exclusive: bool
    """Whether this process owns the store alone, so that what it wrote last is what stands."""

    async def append(self, batch: Sequence[Append]) -> list[bool]:
        """Writes a batch in one transaction; for each: whether its position was free. Durable when it returns."""

    async def standing(self, run_id: str) -> Standing | None:
        """How the run stands; None where there is no such run."""

    async def position(self, run_id: str) -> int:
        """The last position of the run's ledger; 0 where there is no such run."""

    async def rows(self, run_id: str, from_position: int, limit: int) -> list[Row]:
        """At most `limit` records from `from_position` on, in order."""

    async def row_of_turn(self, run_id: str, kind: str, turn: int, *, first: bool = False) -> Row | None:
        """The newest record of that kind for that turn, or the `first`; None where there is none."""

    async def page(
        self, address: str, finished: bool | None, labels: Mapping[str, str], after: Cursor | None, limit: int
    ) -> list[Standing]:
        """At most `limit` runs at `address` and below, newest first, behind `after`.

        `finished` None takes both; `labels` must each be equal.
        """

    async def last_change(self) -> int:
        """The number of the newest record; 0 where there is none.

        Numbers rise, none is given twice, and what is written from now on has a greater one.
        """

    async def changes(self, after: int, limit: int) -> list[Change]:
        """At most `limit` records behind the number `after`, in the order of their numbers."""

    async def close(self) -> None:
        """Ends what is under way and lets go of the store."""
