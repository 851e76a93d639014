"""The ladder over real files: what an operator meets."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

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
    path.write_bytes(b'# Ada\'s\r\ncontext = { rearm = "per_run" } # c\r\n')
    await ladder.configure(command(context__rearm=Rearm.PER_WINDOW, models={"gpt-4.1": 5}), "q", "", False)
    assert path.read_bytes() == (
        b'# Ada\'s\r\ncontext = { rearm = "per_window" } # c\r\n\r\n[models]\r\n"gpt-4.1" = 5\r\n'
    )
    path.write_text("context.second_threshold = 40\n")
    assert stated((await ladder.rungs("lab/alice"))[0]) == {"context.second_threshold": 40}
    assert [building.address for building in (await ladder.page(None, 10))[0]] == ["", "lab"]


async def test_documents_take_none_of_the_threads_in_which_runs_are_started(ladder: Ladder) -> None:
    class Taken(ThreadPoolExecutor):
        def submit(self, *args: Any, **kwargs: Any) -> Any:
            raise AssertionError("asyncio's own threads are not for documents")

    asyncio.get_running_loop().set_default_executor(Taken())
    long = {f"model-{number}": 1 for number in range(2000)}
    await ladder.configure(command(models=long), "q", "", False)
    await ladder.configure(threshold(40), "", "", True)
    assert len((await ladder.rungs("lab"))[0].models) == 2000
    assert [building.address for building in (await ladder.page(None, 10))[0]] == ["", "lab"]


async def test_a_document_that_cannot_be_read_is_listed_empty_and_harms_no_other(
    tmp_path: Path, ladder: Ladder
) -> None:
    await ladder.configure(threshold(40, "zoo"), "", "", False)
    for name in ("away", "dir", "loop"):
        (tmp_path / name).mkdir()
    (tmp_path / "away/CONFIG.toml").symlink_to("nowhere")
    (tmp_path / "dir/CONFIG.toml").mkdir()
    (tmp_path / "loop/CONFIG.toml").symlink_to("CONFIG.toml")
    (tmp_path / "ring").symlink_to("ring")
    page, _ = await ladder.page(None, 10)
    assert [(building.address, len(building.settled)) for building in page] == [
        ("", 8),
        ("away", 0),
        ("dir", 0),
        ("loop", 0),
        ("ring", 0),
        ("zoo", 8),
    ]
    for address in ("away", "dir", "loop", "ring", "ring/bob"):
        for call in (
            ladder.rungs(address),
            ladder.building(address),
            ladder.configure(threshold(40, address), "q", "", False),
        ):
            with pytest.raises(Refusal) as caught:
                await call
            assert caught.value.reason is Reason.CONFIG_UNREADABLE
            assert caught.value.subject == f"building {address}"


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
