"""Group commit: while one batch is on its way to disk, the appends that arrive wait together for the next.

A commit costs as much as many appends. So a batch waits for as many as were under way together around each of the
last two, as long as more of them keep coming. A caller that is alone never waits, nor one that met another by
chance.

Rule (architecture.md, The ledger): each append is settled after its own batch is durable; in a batch a conflict
fails its own append only. What follows from an append runs whether or not its caller still waits.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from .port import Append, Store

#: What an append came to: whether it won its position, or why that is not known.
Result = bool | Exception

#: How many appends one transaction takes, so that a batch's memory and its time are bounded.
MAX_BATCH = 256

#: How long a batch waits for the next append before it goes without it, in seconds: what a few calls take to
#: be answered and their callers to call again.
GATHER_SECONDS = 0.004

#: How often it waits so, at most: callers who keep coming hold up those who came first no longer than that.
GATHER_TIMES = 3


class _Waiting(NamedTuple):
    append: Append
    settle: Callable[[Result], None]


class GroupCommit:
    """Writes appends to a store, one batch at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None
        #: How many appends were under way around the last batch: in it, or waiting when it had been written.
        self._around = 0
        #: How many are waited for.
        self._expected = 0
        self._all_here = asyncio.Event()

    def append(self, append: Append, settle: Callable[[Result], None]) -> None:
        """Takes `append` into the next batch; `settle` is called with its result, once, in this event loop."""
        self._waiting.append(_Waiting(append, settle))
        if len(self._waiting) >= self._expected:
            self._all_here.set()
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def drained(self) -> None:
        """Returns when everything taken so far is settled."""
        while self._writing is not None:
            await asyncio.shield(self._writing)

    async def _write(self) -> None:
        while self._waiting:
            await self._gather()
            batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
            results: list[Result]
            try:
                results = list(await self._store.append([waiting.append for waiting in batch]))
            except Exception as error:  # each caller is told; the next batch may fare better
                results = [error] * len(batch)
            before, self._around = self._around, min(len(batch) + len(self._waiting), MAX_BATCH)
            self._expected = min(before, self._around)
            for waiting, result in zip(batch, results, strict=True):
                waiting.settle(result)
        self._writing = None

    async def _gather(self) -> None:
        for _ in range(GATHER_TIMES):
            here = len(self._waiting)
            if here >= self._expected:
                break
            self._all_here.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._all_here.wait(), GATHER_SECONDS)
            if len(self._waiting) == here:
                break
