"""A real server for tests: a process of its own, on a unix socket in a folder of the test's."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc

START_SECONDS = 30.0

#: How soon a channel knocks again at a server that is about to be there.
_KNOCKING = [("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 100)]


class Server:
    """`ullage serve` over the folder `data`; it may be killed and started again on the same data."""

    def __init__(self, data: Path, socket: Path, *flags: str) -> None:
        self.data = data
        self.target = f"unix:{socket}"
        self._socket = socket
        self._flags = flags
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the server and returns when it answers."""
        command = [
            sys.executable,
            "-m",
            "ullage_server",
            "serve",
            "--listen",
            self.target,
            "--data",
            str(self.data),
        ]
        log = (self.data.parent / "server.log").open("ab")
        with log:
            self._process = subprocess.Popen([*command, *self._flags], stdout=log, stderr=log, env=environment())
        deadline = time.monotonic() + START_SECONDS
        with grpc.insecure_channel(self.target, _KNOCKING) as channel:
            ready = grpc.channel_ready_future(channel)
            while True:
                try:
                    return ready.result(timeout=0.1)
                except grpc.FutureTimeoutError:
                    if self._process.poll() is not None or time.monotonic() > deadline:
                        self.kill()
                        raise RuntimeError(f"the server did not start:\n{self.log()}") from None

    @property
    def pid(self) -> int:
        """The process that serves."""
        assert self._process is not None
        return self._process.pid

    def log(self) -> str:
        """What the server has written so far."""
        return (self.data.parent / "server.log").read_text(errors="replace")

    def kill(self) -> None:
        """SIGKILL: nothing is finished, nothing is said."""
        self.end(signal.SIGKILL)

    def end(self, signum: int = signal.SIGTERM) -> int:
        """Sends `signum`, waits for the end, and gives the exit code; SIGTERM drains."""
        assert self._process is not None
        if self._process.poll() is None:
            self._process.send_signal(signum)
        return self._process.wait(30)


def environment() -> dict[str, str]:
    """The environment of a server: this one's, without settings that would change what it does."""
    return {key: value for key, value in os.environ.items() if not key.startswith("ULLAGE_")}


@contextmanager
def owned_folder() -> Iterator[Path]:
    """A fresh folder, its owner's alone, with a short name: a unix socket's path has at most 107 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="ullage-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running_server(*flags: str) -> Iterator[Server]:
    """A server that is up, over fresh data; gone with its data at the end."""
    with owned_folder() as folder:
        server = Server(folder / "data", folder / "u.sock", *flags)
        try:
            server.start()
            yield server
        finally:
            if server._process is not None:
                server.kill()
