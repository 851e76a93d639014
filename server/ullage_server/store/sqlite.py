"""The ledger in an SQLite file, for one process: the embedded default.

Rule (architecture.md, The ledger): the standard library's driver in one writer thread and one reader thread, and
one for lists, which may take long; WAL, `synchronous=FULL`, so that what is answered survives a power cut. One
process owns the file; a lock file beside it says so.
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
from .port import Append, Change, Cursor, Row, Run, Standing, StoreError

T = TypeVar("T")

#: The columns of a run's row, by name: a newer schema may have more.
_RUN = "run_id, address, start_time, labels, plan, finished"


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
            self._reader = _connect(file, reads_only=True)
            self._lister = _connect(file, reads_only=True)
        except sqlite3.Error as error:
            self._lock.release()
            raise _store_error("the SQLite file can't be opened", error) from error
        except BaseException:
            self._lock.release()
            raise
        # A thread each, so that a long list never holds up a read, nor that a commit.
        self._writing = ThreadPoolExecutor(1, "ullage-write")
        self._reading = ThreadPoolExecutor(1, "ullage-read")
        self._listing = ThreadPoolExecutor(1, "ullage-list")

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await _in_thread(self._writing, _transaction, self._writer, work)

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await _in_thread(self._reading, _call, self._reader, work)

    async def append(self, batch: Sequence[Append]) -> list[bool]:
        return await _in_thread(self._writing, _append, self._writer, batch)

    async def standing(self, run_id: str) -> Standing | None:
        def work(db: sqlite3.Connection) -> Standing | None:
            found = _standings(db, "WHERE run_id = ?", [run_id])
            return found[0] if found else None

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

    async def row_of_turn(self, run_id: str, kind: str, turn: int, *, first: bool = False) -> Row | None:
        order = "ASC" if first else "DESC"

        def work(db: sqlite3.Connection) -> Row | None:
            row = db.execute(
                "SELECT position, payload FROM ledger WHERE run_id = ? AND kind = ? AND turn = ?"  # noqa: S608
                f" ORDER BY position {order} LIMIT 1",
                (run_id, kind, turn),
            ).fetchone()
            return None if row is None else Row(*row)

        return await self._read(work)

    async def page(
        self, address: str, finished: bool | None, labels: Mapping[str, str], after: Cursor | None, limit: int
    ) -> list[Standing]:
        where, values = ["true"], list[object]()
        if address:
            # '0' is the character behind '/': the range holds all that lies below the address.
            where.append("(address = ? OR address > ? AND address < ?)")
            values += [address, f"{address}/", f"{address}0"]
        if finished is not None:
            # Said in the statement, because the index of the active runs fits no question with a parameter.
            where.append(f"finished = {int(finished)}")
        for key, value in labels.items():
            where.append(
                "EXISTS (SELECT 1 FROM json_each(labels) AS label WHERE label.key = ? AND label.value = ?)"
            )
            values += [key, value]
        if after is not None:
            where.append("(start_time, run_id) < (?, ?)")
            values += after
        which = f"WHERE {' AND '.join(where)} ORDER BY start_time DESC, run_id DESC LIMIT ?"
        return await _in_thread(
            self._listing, _call, self._lister, lambda db: _standings(db, which, [*values, limit])
        )

    async def last_change(self) -> int:
        def work(db: sqlite3.Connection) -> int:
            (number,) = db.execute("SELECT coalesce(max(rowid), 0) FROM ledger").fetchone()
            return int(number)

        return await self._read(work)

    async def changes(self, after: int, limit: int) -> list[Change]:
        # One writer writes one batch after the other, so a record's row id is its number.
        return await self._read(
            lambda db: [
                Change(*row)
                for row in db.execute(
                    "SELECT ledger.rowid, run_id, position, address FROM ledger JOIN runs USING (run_id)"
                    " WHERE ledger.rowid > ? ORDER BY ledger.rowid LIMIT ?",
                    (after, limit),
                )
            ]
        )

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
        for pool, connection in (
            (self._writing, self._writer),
            (self._reading, self._reader),
            (self._listing, self._lister),
        ):
            await _in_thread(pool, connection.close)
            pool.shutdown()
        self._lock.release()


def _connect(file: Path, *, reads_only: bool = False) -> sqlite3.Connection:
    # isolation_level None: transactions are begun and ended in one place, below. A batch of each length is a
    # statement of its own, and each is prepared once.
    db = sqlite3.connect(file, isolation_level=None, check_same_thread=False, cached_statements=512)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    # Pages that many runs share are written back once for many commits, and are found without asking the system.
    db.execute("PRAGMA wal_autocheckpoint = 4000")
    db.execute("PRAGMA cache_size = -16384")
    db.execute(f"PRAGMA query_only = {int(reads_only)}")
    return db


async def _in_thread(pool: ThreadPoolExecutor, work: Callable[..., T], *args: object) -> T:
    return await asyncio.get_running_loop().run_in_executor(pool, work, *args)


def _call(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    """What `work` gives; one statement is a transaction of its own."""
    try:
        return work(db)
    except sqlite3.IntegrityError:
        raise
    except sqlite3.Error as error:
        raise _store_error("the SQLite file can't be used", error) from error


def _store_error(told: str, error: sqlite3.Error) -> StoreError:
    """What SQLite says of it, with its name for it where it has one, as SQLITE_FULL."""
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return StoreError(f"{told}: {error} ({name})")


def _transaction(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    """What `work` gives, all of it written or nothing."""

    def whole(db: sqlite3.Connection) -> T:
        db.execute("BEGIN IMMEDIATE")
        try:
            done = work(db)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        return done

    return _call(db, whole)


def _append(db: sqlite3.Connection, batch: Sequence[Append]) -> list[bool]:
    def together(db: sqlite3.Connection) -> list[bool]:
        _insert(db, batch)
        for append in batch:
            _put_run(db, append)
        return [True] * len(batch)

    def each(db: sqlite3.Connection, append: Append) -> bool:
        try:
            _insert(db, [append])
        except sqlite3.IntegrityError:
            return False
        _put_run(db, append)
        return True

    # Most batches are one statement and need no more; each lets go of the interpreter's lock and must win it back.
    alone = not any(append.begins or append.finishes for append in batch)
    try:
        return (_call if alone else _transaction)(db, together)
    except sqlite3.IntegrityError:
        return _transaction(db, lambda db: [each(db, append) for append in batch])


def _put_run(db: sqlite3.Connection, append: Append) -> None:
    if append.begins is not None:
        run = append.begins
        # Who won the first position begins the run; a row that no record stands behind is in nobody's way.
        db.execute(
            f"INSERT OR REPLACE INTO runs ({_RUN}) VALUES (?, ?, ?, ?, ?, 0)",  # noqa: S608  # names of columns
            (run.run_id, run.address, run.start_time, json.dumps(dict(run.labels)), run.plan),
        )
    if append.finishes:
        db.execute("UPDATE runs SET finished = 1 WHERE run_id = ?", (append.run_id,))


def _insert(db: sqlite3.Connection, batch: Sequence[Append]) -> None:
    """Writes the records, all or none. Raises sqlite3.IntegrityError where a position is taken."""
    rows = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?)"] * len(batch))
    columns = "run_id, position, at, kind, turn, payload, fold_version, state"
    statement = f"INSERT INTO ledger ({columns}) VALUES {rows}"  # noqa: S608  # nothing but question marks
    db.execute(statement, [value for append in batch for value in append[:8]])


def _standings(db: sqlite3.Connection, which: str, values: list[object]) -> list[Standing]:
    """How the runs that `which` picks stand: each row beside the last one of the run's ledger."""
    rows = db.execute(
        f"SELECT {_RUN}, position, fold_version, state FROM (SELECT {_RUN} FROM runs {which})"  # noqa: S608
        " AS runs JOIN ledger USING (run_id)"
        " WHERE position = (SELECT max(position) FROM ledger WHERE ledger.run_id = runs.run_id)"
        " ORDER BY start_time DESC, run_id DESC",
        values,
    )
    return [
        Standing(
            Run(run_id, address, start_time, json.loads(labels), plan, bool(finished)),
            position,
            fold_version,
            state,
        )
        for run_id, address, start_time, labels, plan, finished, position, fold_version, state in rows
    ]
