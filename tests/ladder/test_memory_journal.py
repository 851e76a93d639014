import pytest

from tests.ladder.fakes import MemoryJournal
from tests.store.journal_contract import JournalContract
from ullage_server.ladder.port import Journal


class TestMemoryJournal(JournalContract):
    @pytest.fixture
    async def journal(self) -> Journal:
        return MemoryJournal()
