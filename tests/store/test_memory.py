import pytest

from tests.store.contract import StoreContract
from ullage_server.store.memory import MemoryStore
from ullage_server.store.port import Store


class TestMemoryStore(StoreContract):
    @pytest.fixture
    async def store(self) -> Store:  # type: ignore[override]
        return MemoryStore()
