import asyncio
import sqlite3
import subprocess
import sys
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
