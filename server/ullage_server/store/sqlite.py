"""The ledger in an SQLite file, for one process: the embedded default.

Rule (architecture.md, The ledger): the standard library's driver in one writer thread and one reader thread,
WAL, `synchronous=FULL`, so that what is answered survives a power cut. One process owns the file; a lock file
beside it says so.
"""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from ..ladder.port import Asked
from .migrate import migrate_sqlite
from .port import Append, Cursor, Row, Run, StoreError

T = TypeVar("T")

_RUN = "run_id, address, start_time, labels, plan, finished, position, fold_version, state"


class StoreInUse(Exception):
    """Another process owns the store."""


class SqliteStore:
    """A Store over `ullage.db` in a folder, which it owns until it is closed."""

    exclusive = True

    def __init__(self, folder: Path) -> None:
        """Opens and migrates the store. Raises StoreInUse, SchemaTooNew, or StoreError."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # It is taken in one thread and given back in another.
        self._lock = FileLock(folder / "ullage.lock", timeout=0, thread_local=False)
        try:
            self._lock.acquire()
        except Timeout:
            raise StoreInUse(
                "another process owns this data folder; an SQLite store belongs to one server"
            ) from None
        try:
            file = folder / "ullage.db"
            migrate_sqlite(file)
            self._writer = _connect(file)
            self._reader = _connect(file)
            self._reader.execute("PRAGMA query_only = ON")
        except sqlite3.Error as error:
            self._lock.release()
            raise StoreError("the SQLite file can't be opened") from error
        except BaseException:
            self._lock.release()
            raise
        # A thread each, so that a long read never holds up a commit.
        self._writing = ThreadPoolExecutor(1, "ullage-write")
        self._reading = ThreadPoolExecutor(1, "ullage-read")

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await _in_thread(self._writing, _transaction, self._writer, work)

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await _in_thread(self._reading, _call, self._reader, work)

    async def append(self, batch: Sequence[Append]) -> list[bool]:
        return await self._write(lambda db: _append(db, batch))

    async def run(self, run_id: str) -> tuple[Run, int] | None:
        def work(db: sqlite3.Connection) -> tuple[Run, int] | None:
            row = db.execute(
                f"SELECT {_RUN}, (SELECT max(position) FROM ledger WHERE ledger.run_id = runs.run_id)"  # noqa: S608
                " FROM runs WHERE run_id = ?",
                (run_id,),
            ).fetchone()
            return None if row is None else (_run(row[:-1]), row[-1])

        return await self._read(work)

    async def position(self, run_id: str) -> int:
        def work(db: sqlite3.Connection) -> int:
            (position,) = db.execute(
                "SELECT coalesce(max(position), 0) FROM ledger WHERE run_id = ?", (run_id,)
            ).fetchone()
            return int(position)

        return await self._read(work)

    async def rows(self, run_id: str, from_position: int, limit: int) -> list[Row]:
        return await self._read(
            lambda db: [
                Row(*row)
                for row in db.execute(
                    "SELECT position, payload FROM ledger WHERE run_id = ? AND position >= ?"
                    " ORDER BY position LIMIT ?",
                    (run_id, from_position, limit),
                )
            ]
        )

    async def row_of_turn(self, run_id: str, kind: str, turn: int) -> Row | None:
        def work(db: sqlite3.Connection) -> Row | None:
            row = db.execute(
                "SELECT position, payload FROM ledger WHERE run_id = ? AND kind = ? AND turn = ?"
                " ORDER BY position DESC LIMIT 1",
                (run_id, kind, turn),
            ).fetchone()
            return None if row is None else Row(*row)

        return await self._read(work)

    async def page(
        self, address: str, finished: bool | None, labels: Mapping[str, str], after: Cursor | None, limit: int
    ) -> list[Run]:
        where, values = ["true"], list[object]()
        if address:
            # '0' is the character behind '/': the range holds all that lies below the address.
            where.append("(address = ? OR address > ? AND address < ?)")
            values += [address, f"{address}/", f"{address}0"]
        if finished is not None:
            where.append("finished = ?")
            values.append(finished)
        for key, value in labels.items():
            where.append(
                "EXISTS (SELECT 1 FROM json_each(labels) AS label WHERE label.key = ? AND label.value = ?)"
            )
            values += [key, value]
        if after is not None:
            where.append("(start_time, run_id) < (?, ?)")
            values += after
        query = (
            f"SELECT {_RUN} FROM runs WHERE {' AND '.join(where)}"  # noqa: S608  # the parts above are ours
            " ORDER BY start_time DESC, run_id DESC LIMIT ?"
        )
        return await self._read(lambda db: [_run(row) for row in db.execute(query, [*values, limit])])

    async def find(self, request_id: str) -> Asked | None:
        def work(db: sqlite3.Connection) -> Asked | None:
            row = db.execute(
                "SELECT request_id, command, found_etag, document, answer FROM commands WHERE request_id = ?",
                (request_id,),
            ).fetchone()
            return None if row is None else Asked(*row)

        return await self._read(work)

    async def ask(self, asked: Asked) -> bool:
        return await self._write(
            lambda db: (
                db.execute(
                    "INSERT INTO commands (request_id, command, found_etag, document, answer, done)"
                    " VALUES (?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING",
                    asked,
                ).rowcount
                == 1
            )
        )

    async def done(self, request_id: str) -> None:
        await self._write(
            lambda db: db.execute("UPDATE commands SET done = 1 WHERE request_id = ?", (request_id,))
        )

    async def undone(self) -> list[Asked]:
        return await self._read(
            lambda db: [
                Asked(*row)
                for row in db.execute(
                    "SELECT request_id, command, found_etag, document, answer FROM commands WHERE done = 0"
                    " ORDER BY number"
                )
            ]
        )

    async def close(self) -> None:
        for pool, connection in ((self._writing, self._writer), (self._reading, self._reader)):
            await _in_thread(pool, connection.close)
            pool.shutdown()
        self._lock.release()


def _connect(file: Path) -> sqlite3.Connection:
    # isolation_level None: transactions are begun and ended in one place, below.
    db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    # Pages that many runs share are written back once for many commits, and are found without asking the system.
    db.execute("PRAGMA wal_autocheckpoint = 4000")
    db.execute("PRAGMA cache_size = -65536")
    return db


async def _in_thread(pool: ThreadPoolExecutor, work: Callable[..., T], *args: object) -> T:
    return await asyncio.get_running_loop().run_in_executor(pool, work, *args)


def _call(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    try:
        return work(db)
    except sqlite3.Error as error:
        raise StoreError("the SQLite file can't be read") from error


def _transaction(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    try:
        db.execute("BEGIN IMMEDIATE")
        try:
            done = work(db)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
    except sqlite3.Error as error:
        raise StoreError("the SQLite file can't be written") from error
    return done


def _append(db: sqlite3.Connection, batch: Sequence[Append]) -> list[bool]:
    # One statement a batch: each step of one lets go of the interpreter's lock and must win it back.
    won = _insert(db, batch)
    if won == len(batch):
        _put_runs(db, batch)
        return [True] * won
    db.execute("ROLLBACK")
    db.execute("BEGIN IMMEDIATE")
    results = []
    for append in batch:
        results.append(_insert(db, [append]) == 1)
        if results[-1]:
            _put_runs(db, [append])
    return results


def _insert(db: sqlite3.Connection, batch: Sequence[Append]) -> int:
    rows = ", ".join(["(?, ?, ?, ?, ?, ?)"] * len(batch))
    values: list[object] = []
    for append in batch:
        values += (append.run.run_id, append.position, append.at, append.kind, append.turn, append.payload)
    statement = (
        f"INSERT INTO ledger (run_id, position, at, kind, turn, payload) VALUES {rows} ON CONFLICT DO NOTHING"  # noqa: S608
    )
    return db.execute(statement, values).rowcount


def _put_runs(db: sqlite3.Connection, batch: Sequence[Append]) -> None:
    rows = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?)"] * len(batch))
    values: list[object] = []
    for append in batch:
        run = append.run
        labels = json.dumps(dict(run.labels)) if append.position == 1 else ""
        values += (run.run_id, run.address, run.start_time, labels, *run[4:])
    db.execute(
        f"INSERT INTO runs ({_RUN}) VALUES {rows}"  # noqa: S608
        " ON CONFLICT (run_id) DO UPDATE SET finished = excluded.finished, position = excluded.position,"
        " fold_version = excluded.fold_version, state = excluded.state",
        values,
    )


def _run(row: tuple[str, str, int, str, bytes, int, int, int, bytes]) -> Run:
    run_id, address, start_time, labels, plan, finished, position, fold_version, state = row
    return Run(
        run_id, address, start_time, json.loads(labels), plan, bool(finished), position, fold_version, state
    )
