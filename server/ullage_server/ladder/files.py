"""The rungs' documents as files: the default place, which an operator may edit by hand.

Rule: the city's document is `CONFIG.toml` in the ladder's folder, a building's `lab/CONFIG.toml`, a resident's
`lab/alice/CONFIG.toml`. A document is replaced as a whole and durably, so that a reader, or a server that starts
after a crash, finds the old one or the new one. It is read from the disk each time, so a hand edit is seen by the
next request. Symbolic links are followed, and written through, while they stay in the folder; one that leads out
of it is refused, so nothing beyond the folder is ever read or written.

One process writes here, and people may at any time. What a write puts in a document's place is on the disk before
the document is looked at once more, and replaces it at once if it is still what the write is to change. A hand
edit is lost only if it falls between that look and the replacement: microseconds, or a few milliseconds where the
server's other threads are busy; a plain replacement cannot close that gap. A crash may leave `CONFIG.toml.new`
behind; the next write of that rung replaces it.
"""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from ..core.errors import Reason, Refusal
from ..core.names import check_address
from .document import MAX_DOCUMENT_BYTES, subject, unreadable
from .places import position
from .port import Document
from .threads import reading, writing

NAME = "CONFIG.toml"
_NEW = "CONFIG.toml.new"

_NO_FILE = ("is no file", f"put a file named {NAME} in its place, or take away what stands there")

#: What makes a document one that cannot be read, whatever else the disk serves, and what is to be done then.
_UNREADABLE = {
    errno.EACCES: ("may not be read by this server", "give the server's user the right to read it"),
    errno.EPERM: ("may not be read by this server", "give the server's user the right to read it"),
    errno.ELOOP: ("is a link that leads to itself", "put the document itself in its place"),
    errno.ENAMETOOLONG: ("is a link to a name that is too long", "put the document itself in its place"),
    errno.ENXIO: _NO_FILE,
    errno.ENODEV: _NO_FILE,
}

_CAUSES = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk's quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "this server has no right to it",
    errno.EPERM: "this server has no right to it",
    errno.ENOTDIR: "a file stands where its folder would be",
    errno.EEXIST: "a file stands where its folder would be",
}


class TomlFiles:
    """Documents in `folder`, which is made with the first of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def read(self, address: str) -> Document | None:
        """The document of the rung at `address`; None where there is none. One that is no text is refused."""
        return await reading(self._read, address)

    async def write(self, address: str, document: Document, found: str | None) -> bool:
        """Puts `document` in the place of the text `found` (None: of nothing) as a whole; durable when it returns.

        False, and no change, where another text stands at `address` by now.
        """
        return await writing(self._write, address, document, found)

    async def addresses(self) -> list[str]:
        """The addresses that have a document, in order; the city's is the empty one."""
        return await reading(self._addresses)

    def _read(self, address: str) -> Document | None:
        path = self._place(address)
        try:
            # Without O_NONBLOCK a pipe in a document's place would hold the thread for good.
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            if Path(self._folder, address, NAME).is_symlink():
                raise unreadable(
                    address, "is a link to a file that is not there", "put the document itself in its place"
                ) from None
            return None
        except OSError as error:
            if error.errno in _UNREADABLE:
                raise unreadable(address, *_UNREADABLE[error.errno]) from None
            raise _unavailable(address, error) from None
        try:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode):
                raise unreadable(address, *_NO_FILE)
            with open(handle, "rb", closefd=False) as file:
                data = file.read(MAX_DOCUMENT_BYTES + 1)
        except OSError as error:
            raise _unavailable(address, error) from None
        finally:
            os.close(handle)
        return _decoded(address, data, about.st_mtime_ns)

    def _write(self, address: str, document: Document, found: str | None) -> bool:
        path = self._place(address)
        new = path.with_name(_NEW)
        try:
            root = Path(os.path.realpath(self._folder))
            # A folder's entry is durable when the folder it stands in is.
            last = root if root.exists() else root.parent
            path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                new.unlink()
            try:
                _write_new(new, document, _mode(path))
                now = self._read(address)
                if (now.text if now else None) != found:
                    new.unlink()
                    return False
                new.replace(path)
            except (OSError, Refusal):
                with suppress(OSError):
                    new.unlink()
                raise
            for folder in (path.parent, *path.parent.parents):
                _sync(folder)
                if folder == last:
                    break
        except OSError as error:
            raise _unavailable(address, error) from None
        return True

    def _addresses(self) -> list[str]:
        try:
            found = [""] if _has(self._folder) else []
            for building in _children(self._folder):
                if _has(building):
                    found.append(building.name)
                # Of a folder that cannot be listed, what is in it is not known; nobody else is harmed by that.
                with suppress(OSError):
                    found += [f"{building.name}/{child.name}" for child in _children(building) if _has(child)]
        except OSError as error:
            raise _unavailable("", error) from None
        return sorted(found)

    def _place(self, address: str) -> Path:
        """Where the document of the rung at `address` stands, all links followed."""
        check_address("address", address)
        root = os.path.realpath(self._folder)
        place = Path(os.path.realpath(Path(root, address, NAME)))
        if not place.is_relative_to(root):
            raise unreadable(
                address,
                "is a link that leads out of the ladder's folder",
                "put the document itself into the folder",
            )
        return place


def _children(folder: Path) -> list[Path]:
    """What in `folder` has a segment of an address for its name, and may be the folder of a rung."""
    try:
        return [child for child in folder.iterdir() if _is_segment(child.name)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _has(folder: Path) -> bool:
    """Whether there is a document in `folder`, or it cannot be told: then whoever reads it is told why."""
    try:
        os.lstat(folder / NAME)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _is_segment(name: str) -> bool:
    try:
        return bool(check_address("address", name))
    except Refusal:
        return False


def _mode(path: Path) -> int:
    """The mode of the document at `path`; a new one is its owner's alone."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return 0o600


def _write_new(path: Path, document: Document, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(document.text.encode())
        file.flush()
        os.fchmod(handle, mode)
        os.utime(handle, ns=(document.update_time, document.update_time))
        os.fsync(handle)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _decoded(address: str, data: bytes, at: int) -> Document:
    if len(data) > MAX_DOCUMENT_BYTES:
        raise unreadable(
            address,
            f"is larger than {MAX_DOCUMENT_BYTES} bytes, the most a document has",
            "make the document smaller",
        )
    try:
        return Document(data.decode(), at)
    except UnicodeDecodeError as error:
        sound = data[: error.start].decode()
        line, column = position(sound, len(sound))
    raise unreadable(
        address,
        f"is not in UTF-8 at line {line}, column {column}",
        f"save the document in UTF-8, or correct line {line}; the next request reads it anew",
    )


def _unavailable(address: str, error: OSError) -> Refusal:
    cause = _CAUSES.get(error.errno or 0, "the disk did not serve it")
    return Refusal(
        Reason.STORE_UNAVAILABLE,
        f"the document of {subject(address)} cannot be reached: {cause}",
        subject=subject(address),
        recovery="send the request again, it is safe; if it stays so, an operator must look at the server's disk",
    )
