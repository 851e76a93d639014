"""A server for the commands that ask one, and a folder short enough for a socket."""

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import begun


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="ullage-test-", dir="/tmp"))
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="session")
def target(folder: Path) -> Iterator[str]:
    """The address of a server, up for all of these tests."""
    listen = f"unix:{folder}/served/ullage.sock"
    with begun("serve", "--listen", listen, "--data", str(folder / "data"), stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert b'"listening"' in process.stderr.readline()
        yield listen
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
