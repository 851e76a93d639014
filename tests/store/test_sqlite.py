import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.store.contract import StoreContract, append
from ullage_server.store.migrate import SchemaTooNew
from ullage_server.store.port import Store, StoreError
from ullage_server.store.sqlite import SqliteStore, StoreInUse


class TestSqliteStore(StoreContract):
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
        store = SqliteStore(tmp_path)
        yield store
        await store.close()


async def test_what_was_appended_is_there_after_it_is_opened_again(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.append([append("r", 1), append("r", 2, turn=1)])
    await store.close()
    store = SqliteStore(tmp_path)
    assert await store.position("r") == 2
    await store.close()


async def test_it_commits_to_disk_before_it_answers(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    other = sqlite3.connect(tmp_path / "ullage.db")
    assert store._writer.execute("PRAGMA synchronous").fetchone() == (2,), "2 is FULL"
    assert store._writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    await store.append([append("r", 1)])
    assert other.execute("SELECT count(*) FROM ledger").fetchone() == (1,)
    other.close()
    await store.close()


async def test_one_process_owns_the_folder(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    with pytest.raises(StoreInUse):
        SqliteStore(tmp_path)
    await store.close()
    await SqliteStore(tmp_path).close()


@pytest.mark.parametrize("name", ["with space", "per%20cent", "q?a=b", "ha#sh", "[x]*", "ünï", "co:lon@at"])
async def test_a_folder_of_any_name_serves(tmp_path: Path, name: str) -> None:
    store = SqliteStore(tmp_path / name)
    await store.append([append("r", 1)])
    await store.close()
    assert (tmp_path / name / "ullage.db").exists()


async def test_a_schema_that_asks_for_a_newer_server_is_refused(tmp_path: Path) -> None:
    await SqliteStore(tmp_path).close()
    with sqlite3.connect(tmp_path / "ullage.db") as db:
        db.execute("UPDATE schema SET version = 9, oldest = 9")
    db.close()
    with pytest.raises(SchemaTooNew, match="9"):
        SqliteStore(tmp_path)
    with sqlite3.connect(tmp_path / "ullage.db") as db:
        db.execute("UPDATE schema SET oldest = 1")
    db.close()
    await SqliteStore(tmp_path).close()


async def test_a_newer_schema_that_lets_this_server_in_is_read_by_the_names_of_its_columns(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.append([append("r", 1)])
    await store.close()
    with sqlite3.connect(tmp_path / "ullage.db") as db:
        for table in ("runs", "ledger", "commands"):
            db.execute(f"ALTER TABLE {table} ADD COLUMN later TEXT NOT NULL DEFAULT 'x'")
        db.execute("UPDATE schema SET version = 2")
    db.close()
    store = SqliteStore(tmp_path)
    await store.append([append("r", 2), append("s", 1)])
    standing = await store.standing("r")
    assert standing is not None
    assert (standing.run.run_id, standing.position) == ("r", 2)
    assert [standing.run.run_id for standing in await store.page("", False, {}, None, 10)] == ["s", "r"]
    await store.close()


@pytest.mark.parametrize("change", ["DELETE FROM schema", "UPDATE schema SET version = 'one'"])
async def test_a_schema_without_numbers_is_a_store_error(tmp_path: Path, change: str) -> None:
    await SqliteStore(tmp_path).close()
    with sqlite3.connect(tmp_path / "ullage.db") as db:
        db.execute(change)
    db.close()
    with pytest.raises(StoreError, match="backup"):
        SqliteStore(tmp_path)


async def test_a_row_that_no_record_stands_behind_is_in_nobodys_way(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    store._writer.execute("INSERT INTO runs VALUES ('r', 'old', 1, '{}', x'00', 1)")
    assert await store.append([append("r", 1), append("s", 1)]) == [True, True]
    standing = await store.standing("r")
    assert standing is not None
    assert (standing.run.address, standing.run.finished) == ("", False)
    await store.close()


async def test_a_list_holds_up_no_read(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.append([append("r", 1)])
    held = threading.Event()
    store._listing.submit(held.wait)
    listed = asyncio.ensure_future(store.page("", None, {}, None, 10))
    assert await store.position("r") == 1
    assert not listed.done()
    held.set()
    assert len(await listed) == 1
    await store.close()


async def test_the_active_runs_are_found_by_their_index(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    asked: list[str] = []
    store._lister.set_trace_callback(asked.append)
    await store.page("", False, {}, None, 10)
    store._lister.set_trace_callback(None)
    plan = store._lister.execute(f"EXPLAIN QUERY PLAN {asked[0]}").fetchall()
    assert any("runs_active" in step[-1] for step in plan), plan
    await store.close()


async def test_a_file_that_is_no_database_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "ullage.db").write_bytes(b"no database at all" * 1000)
    with pytest.raises(StoreError):
        SqliteStore(tmp_path)


async def test_a_full_disk_is_a_store_error_and_the_store_goes_on_when_there_is_room(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.append([append("r", 1)])
    pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
    store._writer.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError):
        await store.append([append("r", 2, payload=b"x" * 100_000)])
    assert await store.position("r") == 1
    store._writer.execute("PRAGMA max_page_count = 1000000")
    assert await store.append([append("r", 2, payload=b"x" * 100_000)]) == [True]
    await store.close()


async def test_a_kill_in_the_first_start_hinders_no_later_one(tmp_path: Path) -> None:
    code = (
        "import os, sys, yoyo.backends.base as base; from pathlib import Path;"
        "base.DatabaseBackend.apply_migrations = lambda self, migrations: os._exit(9);"
        "from ullage_server.store.sqlite import SqliteStore; SqliteStore(Path(sys.argv[1]))"
    )
    killed = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code, str(tmp_path)])
    assert killed.returncode == 9
    store = SqliteStore(tmp_path)
    assert await store.append([append("r", 1)]) == [True]
    await store.close()


async def test_what_one_thread_opened_another_closes(tmp_path: Path) -> None:
    store = await asyncio.to_thread(SqliteStore, tmp_path)
    await store.close()
    await SqliteStore(tmp_path).close()
