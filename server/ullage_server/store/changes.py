"""Which runs have changed, for those who watch them.

Rule (wire.md, WatchRuns): every record has a number in its store, and numbers rise whatever a clock says. They are
read in order, here and by whichever server wrote them, and each watcher is told the runs that it asked for. The
latest wins: a run that changes again before its watcher has looked is not told twice. A watcher who is slow holds
the names of runs, and holds up nobody.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress

from ..core.names import rungs_of
from .port import Change, Store

#: How many records are read at a time.
PAGE = 500

#: How long what changes together is gathered before it is read, in seconds.
GATHER_SECONDS = 0.02

#: How often, in seconds, is looked for what other servers wrote, where the store is not this process's own.
POLL_SECONDS = 0.5


class Watch:
    """The runs that one watcher has still to look at: of an address and all below it, and of one id where given.

    `since` is the number from which on it is told what changes.
    """

    def __init__(self, changes: "Changes", address: str, run_id: str) -> None:
        self.since = 0
        self._changes = changes
        self._address = address
        self._run_id = run_id
        #: Of each run the number of its first change that was not told, and the position of its last; in the order
        #: of the numbers.
        self._pending: dict[str, tuple[int, int]] = {}
        self._wake = asyncio.Event()
        self._error: Exception | None = None

    @property
    def pending(self) -> int:
        """How many runs are still to be looked at."""
        return len(self._pending)

    @property
    def position(self) -> int:
        """The number up to which every change was told."""
        first, _ = next(iter(self._pending.values()), (self._changes.last + 1, 0))
        return first - 1

    async def catch_up(self, after: int) -> None:
        """Takes up what has changed behind the number `after` and before this watch began. Raises StoreError."""
        missed: dict[str, tuple[int, int]] = {}
        while after < self.since and (found := await self._changes.read(after)):
            for change in found:
                if change.number <= self.since and self._is_asked(change):
                    _note(missed, change)
            after = found[-1].number
        for run_id, (first, position) in self._pending.items():
            missed[run_id] = missed.get(run_id, (first, 0))[0], position
        self._pending = missed

    async def has_more(self, seconds: float) -> bool:
        """Whether there is a run to look at; False where none changes for so long. Raises StoreError."""
        if not self._pending and self._error is None:
            self._wake.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._wake.wait()
        if self._error is not None:
            raise self._error
        return bool(self._pending)

    def next(self) -> tuple[str, int]:
        """The id of the next run to look at, which is told by now, and the position it has come to."""
        run_id = next(iter(self._pending))
        _, position = self._pending.pop(run_id)
        return run_id, position

    def put(self, change: Change) -> None:
        """Notes a change of a run that is watched."""
        _note(self._pending, change)
        self._wake.set()

    def fail(self, error: Exception) -> None:
        """Ends the watch: what changes is not known any more."""
        self._error = error
        self._wake.set()

    def _is_asked(self, change: Change) -> bool:
        return self._run_id in ("", change.run_id) and self._address in rungs_of(change.address)


def _note(pending: dict[str, tuple[int, int]], change: Change) -> None:
    first, _ = pending.get(change.run_id, (change.number, 0))
    pending[change.run_id] = first, change.position


class Changes:
    """Tells the watchers of a store; does nothing where there are none."""

    def __init__(self, store: Store) -> None:
        self._store = store
        #: The number up to which changes were told to the watches.
        self.last = 0
        #: The watches by the address or the run they asked for.
        self._at: defaultdict[str, set[Watch]] = defaultdict(set)
        self._of: defaultdict[str, set[Watch]] = defaultdict(set)
        self._follower: asyncio.Task[None] | None = None
        self._following: asyncio.Future[None] | None = None
        self._appended = asyncio.Event()

    def appended(self) -> None:
        """Notes that a record was written here."""
        if self._follower is not None:
            self._appended.set()

    async def read(self, after: int) -> list[Change]:
        """The changes behind the number `after`, at most a page of them. Raises StoreError."""
        return await self._store.changes(after, PAGE)

    @asynccontextmanager
    async def watch(self, address: str, run_id: str) -> AsyncIterator[Watch]:
        """A watch for the life of the context. Raises StoreError where the store can't answer."""
        watch = Watch(self, address, run_id)
        watches, key = (self._of, run_id) if run_id else (self._at, address)
        watches[key].add(watch)
        try:
            if self._follower is None:
                self._following = asyncio.get_running_loop().create_future()
                self._follower = asyncio.create_task(self._follow(self._following))
            assert self._following is not None  # noqa: S101  # it stands beside its follower
            await asyncio.shield(self._following)
            watch.since = self.last
            yield watch
        finally:
            watches[key].discard(watch)
            if not watches[key]:
                del watches[key]
            if not self._at and not self._of and self._follower is not None:
                self._follower.cancel()
                self._follower = None

    async def _follow(self, following: "asyncio.Future[None]") -> None:
        try:
            self.last = await self._store.last_change()
            following.set_result(None)
            while True:
                self._appended.clear()
                while found := await self.read(self.last):
                    self._tell(found)
                with suppress(TimeoutError):
                    async with asyncio.timeout(None if self._store.exclusive else POLL_SECONDS):
                        await self._appended.wait()
                await asyncio.sleep(GATHER_SECONDS)
        except Exception as error:  # whatever it is, those who watch must not take it for silence
            self._follower = None
            if not following.done():
                following.set_exception(error)
            for watch in [
                watch for watches in (self._at, self._of) for some in watches.values() for watch in some
            ]:
                watch.fail(error)

    def _tell(self, found: Iterable[Change]) -> None:
        for change in found:
            for address in rungs_of(change.address):
                for watch in self._at.get(address, ()):
                    watch.put(change)
            for watch in self._of.get(change.run_id, ()):
                watch.put(change)
            self.last = change.number
