from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.postgres import Cluster
from tests.store.contract import StoreContract, append
from ullage_server.store.port import Store
from ullage_server.store.postgres.ledger import PostgresStore
from ullage_server.store.postgres.migrate import migrate


@pytest.fixture
async def address(postgres: Cluster) -> str:
    address = postgres.database()
    await migrate(address)
    return address


class TestPostgresStore(StoreContract):
    @pytest.fixture
    async def store(self, address: str) -> AsyncIterator[Store]:
        store = await PostgresStore.opened(address)
        yield store
        await store.close()


async def test_a_change_is_told_only_when_none_before_it_can_come(address: str) -> None:
    store = await PostgresStore.opened(address)
    await store.append([append("a", 1)])
    other = await asyncpg.connect(address)
    slow = other.transaction()
    await slow.start()
    await other.execute("SELECT pg_current_xact_id()")
    await store.append([append("b", 1)])
    assert [change.run_id for change in await store.changes(0, 10)] == ["a"]
    await slow.commit()
    assert [change.run_id for change in await store.changes(0, 10)] == ["a", "b"]
    await other.close()
    await store.close()


async def test_numbers_rise_in_a_database_that_was_restored_into_a_younger_cluster(address: str) -> None:
    store = await PostgresStore.opened(address)
    await store.append([append("a", 1)])
    await store.database.value("UPDATE ledger SET number = number + 1000000000")
    await store.close()
    store = await PostgresStore.opened(address)
    before = await store.last_change()
    await store.append([append("b", 1)])
    assert [change.run_id for change in await store.changes(before, 10)] == ["b"]
    await store.close()
