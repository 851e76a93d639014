"""A ladder's surroundings in memory, which can fail, and give way to others, at every step."""

import asyncio
from collections.abc import Callable
from typing import Any

from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.rung import Command, Rung
from ullage_server.core.settings import Value
from ullage_server.ladder.ladder import Ladder
from ullage_server.ladder.port import Asked, Document

ZONES = frozenset({"UTC", "Europe/Berlin", "Asia/Tokyo"})


class Crash(Exception):  # the process ends here
    """Stands for the end of the process: what follows it did not happen."""


class Steps:
    """Counts what is done outside, gives way to other tasks each time, and fails where it is told to."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.fail: Callable[[str], Exception | None] = lambda step: None

    async def take(self, step: str) -> None:
        await asyncio.sleep(0)
        if error := self.fail(step):
            raise error
        self.done.append(step)


class MemoryDocuments:
    def __init__(self, steps: Steps | None = None) -> None:
        self.texts: dict[str, str] = {}
        self.times: dict[str, int] = {}
        self.steps = steps or Steps()

    async def read(self, address: str) -> Document | None:
        await self.steps.take("read")
        if address not in self.texts:
            return None
        return Document(self.texts[address], self.times.get(address, 1))

    async def write(self, address: str, document: Document, found: str | None) -> bool:
        await self.steps.take("write")
        if self.texts.get(address) != found:
            return False
        self.texts[address], self.times[address] = document
        await self.steps.take("written")
        return True

    async def addresses(self) -> list[str]:
        await self.steps.take("addresses")
        return sorted(self.texts)


class MemoryJournal:
    def __init__(self, steps: Steps | None = None) -> None:
        self.kept: dict[str, Asked] = {}
        self.open: dict[str, Asked] = {}
        self.steps = steps or Steps()

    async def find(self, request_id: str) -> Asked | None:
        await self.steps.take("find")
        return self.kept.get(request_id)

    async def ask(self, asked: Asked) -> bool:
        await self.steps.take("ask")
        if asked.request_id in self.kept:
            return False
        self.kept[asked.request_id] = self.open[asked.request_id] = asked
        await self.steps.take("asked")
        return True

    async def done(self, request_id: str) -> None:
        await self.steps.take("done")
        self.open.pop(request_id, None)

    async def undone(self) -> list[Asked]:
        await self.steps.take("undone")
        return list(self.open.values())


class World:
    """Documents and a journal that outlive the ladder over them."""

    def __init__(self) -> None:
        self.steps = Steps()
        self.documents = MemoryDocuments(self.steps)
        self.journal = MemoryJournal(self.steps)
        self.ladder = self.start()

    def start(self) -> Ladder:
        """A server that starts on what is there."""
        self.steps.fail = lambda step: None
        self.ladder = Ladder(self.documents, self.journal, ZONES, {"packaged": 64}.get, lambda: 7)
        return self.ladder

    @property
    def texts(self) -> dict[str, str]:
        return self.documents.texts


def command(address: str = "lab", *, reset: tuple[str, ...] = (), models: Any = None, **values: Value) -> Command:
    """A command; a key's name has `__` for its dot."""
    return Command(
        address, {name.replace("__", "."): value for name, value in values.items()}, models or {}, reset
    )


def threshold(value: int, address: str = "lab") -> Command:
    return command(address, context__second_threshold=value)


def stated(rung: Rung) -> dict[str, object]:
    return {**rung.values, **{f"models.{name}": window for name, window in rung.models.items()}}


def unavailable() -> Refusal:
    return Refusal(Reason.STORE_UNAVAILABLE, "the disk is full", subject="building lab", recovery="send it again")
