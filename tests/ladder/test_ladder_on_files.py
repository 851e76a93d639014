"""The ladder over real files: what an operator meets."""

import os
from pathlib import Path

import pytest

from tests.ladder.fakes import ZONES, MemoryJournal, command, stated, threshold
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.settings import Rearm
from ullage_server.ladder.files import TomlFiles
from ullage_server.ladder.ladder import Ladder


@pytest.fixture
def ladder(tmp_path: Path) -> Ladder:
    return Ladder(TomlFiles(tmp_path), MemoryJournal(), ZONES, lambda model: None, lambda: 7)


async def test_a_hand_edited_document_is_read_changed_and_kept(tmp_path: Path, ladder: Ladder) -> None:
    path = tmp_path / "lab" / "CONFIG.toml"
    path.parent.mkdir()
    path.write_bytes(b"# Ada's\r\ncontext = { rearm = 'per_run' } # c\r\n")
    await ladder.configure(command(context__rearm=Rearm.PER_WINDOW, models={"gpt-4.1": 5}), "q", "", False)
    assert path.read_bytes() == (
        b'# Ada\'s\r\ncontext = { rearm = "per_window" } # c\r\n\r\n[models]\r\n"gpt-4.1" = 5\r\n'
    )
    path.write_text("context.second_threshold = 40\n")
    assert stated((await ladder.rungs("lab/alice"))[0]) == {"context.second_threshold": 40}
    assert [building.address for building in (await ladder.page(None, 10))[0]] == ["", "lab"]


async def test_what_stands_in_a_documents_place_is_refused_and_listed_empty(
    tmp_path: Path, ladder: Ladder
) -> None:
    await ladder.configure(threshold(40, "zoo"), "", "", False)
    (tmp_path / "lab").mkdir()
    os.mkfifo(tmp_path / "lab" / "CONFIG.toml")
    (tmp_path / "mill").mkdir()
    (tmp_path / "mill" / "CONFIG.toml").write_bytes(b"a = 1\n\xff")
    for address in ("lab", "lab/alice", "mill"):
        for call in (ladder.rungs(address), ladder.configure(threshold(40, address), "q", "", False)):
            with pytest.raises(Refusal) as caught:
                await call
            assert caught.value.reason is Reason.CONFIG_UNREADABLE
    page, _ = await ladder.page(None, 10)
    assert [(building.address, len(building.settled), building.etag != "") for building in page] == [
        ("", 8, True),
        ("lab", 0, False),
        ("mill", 0, False),
        ("zoo", 8, True),
    ]
