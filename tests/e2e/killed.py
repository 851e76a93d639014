"""A server that is killed again and again on the same data, and the callers who never see it whole."""

import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tests.servers import environment
from tests.shared_data import REPOSITORY
from ullage import AsyncClient, DeadlinePassed, Draining, ServerUnreachable, StoreUnavailable

T = TypeVar("T")

PATIENCE = 60.0


class Siege:
    """A server over one folder, under load, and what its callers met.

    `met` counts what happened, `faults` what must not have, and `blamed` says it in words.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.data = folder / "data"
        self.target = f"unix:{folder}/u.sock"
        self.met: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.blamed: list[str] = []
        self._socket = folder / "u.sock"
        self._log = folder / "server.log"
        command = [sys.executable, "-m", "tests.e2e.warm", "serve"]
        with self._log.open("ab") as log:
            self._warm = subprocess.Popen(
                [*command, "--listen", self.target, "--data", str(self.data)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment(),
                cwd=REPOSITORY,
                text=True,
            )
        self._server = 0

    def start(self) -> None:
        """Starts the server, and does not wait for it."""
        self._server = int(self._order("start"))

    async def up(self) -> None:
        """Returns when the server listens."""
        await self._until(self._listens)

    async def answers(self) -> None:
        """Returns when a caller has been answered since the server listens."""
        await self.up()
        before = self.met["answers"]
        await self._until(lambda: self._more_answers_than(before))

    async def end(self, signum: int = signal.SIGKILL) -> int:
        """Sends `signum` and gives the exit code."""
        self._must_run()
        os.kill(self._server, signum)
        while not (code := self._order("poll")):  # noqa: ASYNC110  # another process tells of no event
            await asyncio.sleep(0.002)
        self._server = 0
        return int(code)

    async def kills(self, count: int) -> None:
        """Kills the server `count` times under load, and now and then once more while it starts."""
        self.start()
        for _ in range(count):
            if self.chance.random() < 0.1:
                await asyncio.sleep(self.chance.uniform(0, 0.3))
                await self._kill("kills at the start")
            await self.answers()
            await asyncio.sleep(self.chance.uniform(0.002, 0.15))
            await self._kill("kills under load")
        await self.up()

    async def persist(self, call: Callable[[], Awaitable[T]]) -> T:
        """The answer to `call`, made again and again for as long as no server is there to give it."""
        while True:
            self.met["attempts"] += 1
            try:
                answer = await call()
            except (ServerUnreachable, StoreUnavailable, Draining, DeadlinePassed) as error:
                self.met[type(error).__name__] += 1
            else:
                self.met["answers"] += 1
                return answer

    def blame(self, fault: str, words: str) -> None:
        """Notes what must not happen: a turn `missing`, a reminder `lost` or `doubled`, or else `wrong`."""
        self.faults[fault] += 1
        self.blamed.append(f"{fault}: {words}")

    def client(self) -> AsyncClient:
        # Short enough that its own attempts do not outlast every kill, and callers have to come again.
        return AsyncClient(self.target, timeout=self.chance.uniform(0.5, 4))

    async def _kill(self, how: str) -> None:
        await self.end()
        self.met[how] += 1
        for document in self.data.glob("city/**/CONFIG.toml"):
            tomllib.loads(document.read_text())
            self.met["documents read"] += 1
        self.start()

    async def _listens(self) -> bool:
        try:
            _, writer = await asyncio.open_unix_connection(self._socket)
        except OSError:
            return False
        writer.close()
        return True

    async def _more_answers_than(self, before: int) -> bool:
        return self.met["answers"] > before

    async def _until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not await holds():
            self._must_run()
            if time.monotonic() > deadline:
                raise RuntimeError(f"the server does not serve:\n{self._told()}")
            await asyncio.sleep(0.005)

    def _must_run(self) -> None:
        if code := self._order("poll"):
            self._server = 0
            raise RuntimeError(f"the server ended by itself with {code}:\n{self._told()}")

    def _told(self) -> str:
        return self._log.read_text(errors="replace")[-4000:]

    def _order(self, order: str) -> str:
        """Has an order carried out, and gives what was answered."""
        assert self._warm.stdin is not None
        assert self._warm.stdout is not None
        self._warm.stdin.write(f"{order}\n")
        self._warm.stdin.flush()
        return self._warm.stdout.readline().strip()

    def abandon(self) -> None:
        """Ends what may still run."""
        if self._server:
            os.kill(self._server, signal.SIGKILL)
        self._warm.communicate()


@contextmanager
def siege(seed: int) -> Iterator[Siege]:
    """A server's folder; gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="ullage-"))
    besieged = Siege(folder, seed)
    try:
        yield besieged
    finally:
        besieged.abandon()
        shutil.rmtree(folder, ignore_errors=True)
