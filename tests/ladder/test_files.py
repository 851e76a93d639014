import asyncio
import errno
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ullage_server.core.errors import Reason, Refusal
from ullage_server.ladder.document import MAX_DOCUMENT_BYTES
from ullage_server.ladder.files import TomlFiles
from ullage_server.ladder.port import Document

HANDLES = Path("/proc/self/fd")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "ladder"


@pytest.fixture
def files(folder: Path) -> TomlFiles:
    return TomlFiles(folder)


def put(folder: Path, name: str, data: bytes = b"") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def is_there(path: Path) -> bool:
    return path.exists()


async def refused(files: TomlFiles, address: str = "lab", reason: Reason = Reason.CONFIG_UNREADABLE) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await files.read(address)
    assert caught.value.reason is reason
    assert caught.value.recovery
    assert "/" not in caught.value.message.replace(address, "")
    return caught.value


async def test_nothing_is_there_at_first(files: TomlFiles, folder: Path) -> None:
    assert await files.read("") is None
    assert await files.read("lab/alice") is None
    assert await files.addresses() == []
    assert not is_there(folder)


@pytest.mark.parametrize(
    ("address", "name"), [("", "CONFIG.toml"), ("lab", "lab/CONFIG.toml"), ("lab/alice", "lab/alice/CONFIG.toml")]
)
async def test_a_document_is_written_where_it_belongs(
    files: TomlFiles, folder: Path, address: str, name: str
) -> None:
    text = "# ü\r\n[context]\nrearm = 'x'"
    document = Document(text, 1_234_567_890_123_456_789)
    await files.write(address, document, None)
    assert (folder / name).read_bytes() == text.encode()
    assert await files.read(address) == document, "its time is when it was decided, to the nanosecond"
    assert await files.addresses() == [address]
    assert [path.name for path in (folder / name).parent.iterdir()] == ["CONFIG.toml"]


async def test_a_hand_edit_is_seen_at_once(files: TomlFiles, folder: Path) -> None:
    await files.write("lab", Document("a = 1\n", 1), None)
    path = folder / "lab/CONFIG.toml"
    about = path.stat()
    path.write_text("a = 2\n")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    found = await files.read("lab")
    assert found is not None
    assert found.text == "a = 2\n"


async def test_addresses_are_in_order_and_only_those_that_are_one(files: TomlFiles, folder: Path) -> None:
    for name in (
        "CONFIG.toml",
        "b/CONFIG.toml",
        "a/z/CONFIG.toml",
        "a-b/CONFIG.toml",
        "a/CONFIG.toml",
        "a/b/c/CONFIG.toml",
        "Lab/CONFIG.toml",
        ".hidden/CONFIG.toml",
        "-x/CONFIG.toml",
        "a b/CONFIG.toml",
        "ü/CONFIG.toml",
        "empty/notes.txt",
        "left/CONFIG.toml.new",
        "x" * 64 + "/CONFIG.toml",
    ):
        put(folder, name)
    put(folder, "file", b"no folder")
    assert await files.addresses() == ["", "a", "a-b", "a/z", "b"]


@pytest.mark.parametrize("address", ["..", "../x", "lab/../..", "/etc", "Lab", "a/b/c", "lab/", "a\x00b", "."])
async def test_what_is_no_address_is_refused(files: TomlFiles, address: str) -> None:
    for call in (files.read(address), files.write(address, Document("", 1), None)):
        with pytest.raises(Refusal) as caught:
            await call
        assert caught.value.reason is Reason.ARGUMENT_INVALID


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"\xff", "line 1, column 1"),
        (b"a = 1\nb = '\xc3\xbc\xff'\n", "line 2, column 7"),
        (b"a = 1\r\n\xc3", "line 2, column 1"),
        ("a = 1\n".encode("utf-16"), "line 1, column 1"),
    ],
)
async def test_what_is_not_utf8_is_refused_with_its_place(
    files: TomlFiles, folder: Path, data: bytes, place: str
) -> None:
    put(folder, "lab/CONFIG.toml", data)
    refusal = await refused(files)
    assert place in refusal.message
    assert refusal.subject == "building lab"


async def test_a_document_has_a_greatest_size(files: TomlFiles, folder: Path) -> None:
    path = put(folder, "lab/CONFIG.toml", b"#" * MAX_DOCUMENT_BYTES)
    assert await files.read("lab") is not None
    path.write_bytes(b"#" * (MAX_DOCUMENT_BYTES + 1))
    assert str(MAX_DOCUMENT_BYTES) in (await refused(files)).message


async def test_a_folder_in_a_documents_place_is_refused(files: TomlFiles, folder: Path) -> None:
    (folder / "lab/CONFIG.toml").mkdir(parents=True)
    assert "is no file" in (await refused(files)).message
    assert await files.addresses() == ["lab"]
    with pytest.raises(Refusal) as caught:
        await files.write("lab", Document("", 1), None)
    assert caught.value.reason is Reason.CONFIG_UNREADABLE
    assert [path.name for path in (folder / "lab").iterdir()] == ["CONFIG.toml"]


async def test_a_pipe_in_a_documents_place_is_refused_and_holds_nobody(files: TomlFiles, folder: Path) -> None:
    (folder / "lab").mkdir(parents=True)
    os.mkfifo(folder / "lab/CONFIG.toml")
    async with asyncio.timeout(5):
        assert "is no file" in (await refused(files)).message


async def test_a_file_in_a_folders_place(files: TomlFiles, folder: Path) -> None:
    put(folder, "lab", b"x")
    assert await files.read("lab") is None
    assert await files.read("lab/alice") is None
    with pytest.raises(Refusal, match="a file stands where its folder would be") as caught:
        await files.write("lab/alice", Document("", 1), None)
    assert caught.value.reason is Reason.STORE_UNAVAILABLE


async def test_a_link_that_stays_in_the_folder_is_followed_and_written_through(
    files: TomlFiles, folder: Path
) -> None:
    real = put(folder, "..data/CONFIG.toml", b"a = 1\n")
    (folder / "lab").mkdir()
    (folder / "lab/CONFIG.toml").symlink_to("../..data/CONFIG.toml")
    found = await files.read("lab")
    assert found is not None
    assert found.text == "a = 1\n"
    await files.write("lab", Document("a = 2\n", 1), "a = 1\n")
    assert (folder / "lab/CONFIG.toml").is_symlink()
    assert real.read_text() == "a = 2\n"


async def test_a_link_that_leads_out_is_refused(files: TomlFiles, folder: Path, tmp_path: Path) -> None:
    secret = put(tmp_path, "outside/CONFIG.toml", b"a = 1\n")
    (folder / "lab").mkdir(parents=True)
    (folder / "lab/CONFIG.toml").symlink_to(secret)
    (folder / "out").symlink_to(tmp_path / "outside")
    for address in ("lab", "out", "out/alice"):
        assert "leads out" in (await refused(files, address)).message
        with pytest.raises(Refusal, match="leads out"):
            await files.write(address, Document("b = 2\n", 1), "a = 1\n")
    assert secret.read_text() == "a = 1\n"
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["CONFIG.toml"]


@pytest.mark.parametrize("target", ["CONFIG.toml", "nowhere.toml", "x" * 300, "../zoo/none"])
async def test_a_link_to_nothing_is_refused_and_listed(files: TomlFiles, folder: Path, target: str) -> None:
    (folder / "lab").mkdir(parents=True)
    (folder / "lab/CONFIG.toml").symlink_to(target)
    assert "is a link" in (await refused(files)).message
    assert await files.addresses() == ["lab"]


async def test_a_folder_that_leads_to_itself_is_refused_and_listed(files: TomlFiles, folder: Path) -> None:
    put(folder, "zoo/CONFIG.toml")
    (folder / "lab").symlink_to("lab")
    await refused(files)
    assert await files.addresses() == ["lab", "zoo"]


@pytest.mark.skipif(os.getuid() == 0, reason="everything is open to root")
async def test_what_this_server_may_not_read_is_refused_and_listed(files: TomlFiles, folder: Path) -> None:
    put(folder, "lab/CONFIG.toml").chmod(0)
    put(folder, "mill/CONFIG.toml")
    put(folder, "zoo/CONFIG.toml")
    (folder / "mill").chmod(0)
    try:
        for address in ("lab", "mill", "mill/bob"):
            assert "may not be read" in (await refused(files, address)).message
        assert await files.addresses() == ["lab", "mill", "zoo"]
    finally:
        (folder / "mill").chmod(0o700)


@pytest.mark.parametrize("step", ["os.lstat", "pathlib.Path.iterdir"])
async def test_a_folder_that_may_not_be_looked_into_hides_no_other(
    files: TomlFiles, folder: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    for name in ("lab/CONFIG.toml", "lab/ann/CONFIG.toml", "zoo/CONFIG.toml", "zoo/bob/CONFIG.toml"):
        put(folder, name)
    really: Any = Path.iterdir if "iterdir" in step else os.lstat

    def fail(path: Any, *args: Any, **kwargs: Any) -> Any:
        if f"{folder}/lab" in str(path):
            raise PermissionError(errno.EACCES, "no", str(path))
        return really(path, *args, **kwargs)

    monkeypatch.setattr(step, fail)
    assert [each for each in await files.addresses() if each != "lab/ann"] == ["lab", "zoo", "zoo/bob"]


async def test_the_ladders_folder_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    await TomlFiles(tmp_path / "link").write("lab", Document("a = 1\n", 1), None)
    assert (tmp_path / "real/lab/CONFIG.toml").read_text() == "a = 1\n"


async def test_a_documents_rights_are_kept_and_a_new_one_is_its_owners(files: TomlFiles, folder: Path) -> None:
    await files.write("lab", Document("", 1), None)
    path = folder / "lab/CONFIG.toml"
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    await files.write("lab", Document("a = 1\n", 1), "")
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("left", ["file", "link", "pipe"])
async def test_what_a_crash_left_harms_nothing(files: TomlFiles, folder: Path, tmp_path: Path, left: str) -> None:
    path = folder / "lab/CONFIG.toml.new"
    path.parent.mkdir(parents=True)
    elsewhere = put(tmp_path, "elsewhere", b"kept")
    if left == "file":
        path.write_text("half a doc")
    elif left == "link":
        path.symlink_to(elsewhere)
    else:
        os.mkfifo(path)
    assert await files.addresses() == []
    assert await files.read("lab") is None
    await files.write("lab", Document("a = 1\n", 1), None)
    assert [each.name for each in path.parent.iterdir()] == ["CONFIG.toml"]
    assert elsewhere.read_text() == "kept"


@pytest.mark.parametrize("step", ["os.fsync", "os.fchmod", "pathlib.Path.replace", "pathlib.Path.mkdir"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EIO])
async def test_a_write_that_fails_leaves_the_old_document(
    files: TomlFiles, folder: Path, monkeypatch: pytest.MonkeyPatch, step: str, number: int
) -> None:
    await files.write("lab", Document("old = 1\n", 1), None)

    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError(number, os.strerror(number), str(folder))

    with monkeypatch.context() as patch:
        patch.setattr(step, fail)
        with pytest.raises(Refusal) as caught:
            await files.write("lab", Document("new = 1\n", 1), "old = 1\n")
    assert caught.value.reason is Reason.STORE_UNAVAILABLE
    assert str(folder) not in caught.value.message + caught.value.recovery
    assert [each.name for each in (folder / "lab").iterdir()] == ["CONFIG.toml"]
    assert (folder / "lab/CONFIG.toml").read_text() == "old = 1\n"


@pytest.mark.parametrize(
    ("number", "reason", "told"),
    [
        (errno.EACCES, Reason.CONFIG_UNREADABLE, "may not be read"),
        (errno.EPERM, Reason.CONFIG_UNREADABLE, "may not be read"),
        (errno.ENXIO, Reason.CONFIG_UNREADABLE, "is no file"),
        (errno.EIO, Reason.STORE_UNAVAILABLE, "the disk"),
        (errno.EMFILE, Reason.STORE_UNAVAILABLE, "the disk"),
    ],
)
async def test_a_read_that_fails_tells_a_document_from_the_disk(
    files: TomlFiles, folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, reason: Reason, told: str
) -> None:
    put(folder, "lab/CONFIG.toml")

    def fail(*args: Any, **kwargs: Any) -> int:
        raise OSError(number, "no", str(folder))

    monkeypatch.setattr("os.open", fail)
    assert told in (await refused(files, reason=reason)).message


@pytest.mark.parametrize("found", [None, "other = 1\n", ""])
async def test_what_changed_since_it_was_read_is_not_replaced(
    files: TomlFiles, folder: Path, found: str | None
) -> None:
    put(folder, "lab/CONFIG.toml", b"by = 'hand'\n")
    assert not await files.write("lab", Document("a = 1\n", 1), found)
    assert (folder / "lab/CONFIG.toml").read_text() == "by = 'hand'\n"
    assert [path.name for path in (folder / "lab").iterdir()] == ["CONFIG.toml"]


async def test_what_was_taken_away_since_it_was_read_is_not_made_anew(files: TomlFiles, folder: Path) -> None:
    put(folder, "lab/CONFIG.toml").unlink()
    assert not await files.write("lab", Document("a = 1\n", 1), "")
    assert await files.read("lab") is None


async def test_a_hand_edit_while_a_write_goes_to_the_disk_is_kept(
    files: TomlFiles, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(folder, "lab/CONFIG.toml", b"a = 1\n")
    really = os.fsync

    def fsync(handle: int) -> None:
        really(handle)
        path.write_text("by = 'hand'\n")

    monkeypatch.setattr("os.fsync", fsync)
    assert not await files.write("lab", Document("a = 2\n", 1), "a = 1\n")
    assert path.read_text() == "by = 'hand'\n"


@pytest.mark.skipif(not HANDLES.exists(), reason="no way to tell what a handle stands for")
async def test_a_write_is_durable_with_every_folder_it_made(
    files: TomlFiles, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    really = os.fsync

    def fsync(handle: int) -> None:
        synced.append(str((HANDLES / str(handle)).readlink()))
        really(handle)

    monkeypatch.setattr("os.fsync", fsync)
    await files.write("lab/alice", Document("a = 1\n", 1), None)
    alice = folder / "lab/alice"
    assert synced == [
        str(path) for path in (alice / "CONFIG.toml.new", alice, folder / "lab", folder, folder.parent)
    ]
    synced.clear()
    await files.write("lab/alice", Document("a = 2\n", 1), "a = 1\n")
    assert synced == [str(path) for path in (alice / "CONFIG.toml.new", alice, folder / "lab", folder)]


async def test_a_reader_finds_the_old_document_or_the_new_one(files: TomlFiles) -> None:
    texts = [f"# {number}\n" * 2000 for number in range(20)]
    await files.write("lab", Document(texts[0], 1), None)

    async def read() -> None:
        for _ in range(60):
            found = await files.read("lab")
            assert found is not None
            assert found.text in texts

    async def write() -> None:
        for before, text in pairwise(texts):
            assert await files.write("lab", Document(text, 1), before)

    await asyncio.gather(read(), read(), write())
