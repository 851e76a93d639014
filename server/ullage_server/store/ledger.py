"""The ledger: every command of a run goes through `command`, and every state comes from the fold.

Rule (rules.md 3, architecture.md The ledger): what is accepted is durable before it is answered. Where another
server took the position first, this one reads on, folds and decides again. An answer that appends nothing is
given only from a state proved current, unless this process owns the store. Once an append is on its way it and
what follows from it run to their end, whether or not the caller still waits; any end but success drops the
cached state. One command writes at most one record.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Generic, NamedTuple, TypeVar

from ..core.errors import Refusal
from ..core.fold import FOLD_VERSION, fold
from ..core.records import Record
from ..core.state import State
from .cache import StateCache
from .changes import Changes
from .codec import KINDS, decode_record, decode_state, encode_plan, encode_record, encode_state, turn_of
from .commit import GroupCommit, Result
from .order import RunOrder
from .port import Append, Cursor, Run, Standing, Store, StoreError

R = TypeVar("R", bound=Record)
#: What a command answers with; None among it where the state as it stands may answer.
A = TypeVar("A", bound=Record | None)

#: How many records a long reader takes in one transaction, so that none stays open for long.
PAGE = 500


class Outcome(NamedTuple, Generic[A]):
    """What a command came to.

    `record` answers it: the one it added, or the recorded one; None where the state as it stands answers.
    """

    state: State
    record: A
    replayed: bool


#: Takes the state as it stands (None: no such run) and gives the record that answers the command: a new one to be
#: appended, or a recorded one; None where nothing is to be added. Raises Refusal.
Decide = Callable[[State | None], Awaitable[A]]


class Ledger:
    """The runs' ledgers over a store, with a cache of folded states of `cache_bytes` in front.

    Every method raises StoreError where the store can't answer.
    """

    def __init__(self, store: Store, cache_bytes: int) -> None:
        self._store = store
        self._cache = StateCache(cache_bytes)
        self._commit = GroupCommit(store)
        self._order = RunOrder()
        #: Who has changed, for those who watch.
        self.changes = Changes(store)

    async def command(self, run_id: str, decide: Decide[A]) -> Outcome[A]:
        """Carries out one command of a run, after those of the same run that came before it."""
        while True:
            await self._order.enter(run_id)
            appending = False
            try:
                state, current = await self._last_known(run_id)
                try:
                    record = await decide(state)
                except Refusal:
                    if current or await self._is_current(run_id, state):
                        raise
                    continue
                if state is not None and (record is None or record.position <= state.position):
                    if current or await self._is_current(run_id, state):
                        return Outcome(state, record, replayed=True)
                    continue
                if record is None:
                    raise ValueError("a run that does not exist can't answer a command")
                after = fold(state, record)
                won = self._append(after, record)
                appending = True
            finally:
                if not appending:
                    self._order.leave(run_id)
            if await won:
                return Outcome(after, record, replayed=False)

    async def state(self, run_id: str) -> State | None:
        """How the run stands; None where there is no such run."""
        state = self._cache.get(run_id)
        if state is not None and (self._store.exclusive or await self._is_current(run_id, state)):
            return state
        # It is not kept: a command of the run may go on from a later one meanwhile.
        return await self._load(run_id)

    async def changed_state(self, run_id: str, position: int = 0) -> State | None:
        """How the run stands at `position` or behind it; 0: as the store has it now. None where there is none.

        It may be ahead of the state that commands go on from: the store shows a record before it has settled here.
        """
        state = self._cache.get(run_id)
        if state is not None and 0 < position <= state.position:
            return state
        return await self._load(run_id)

    async def recorded(self, run_id: str, kind: type[R], turn: int, *, first: bool = False) -> R | None:
        """The newest record of that kind for that turn, or the `first`; None where there is none."""
        row = await self._store.row_of_turn(run_id, KINDS[kind], turn, first=first)
        record = None if row is None else decode_record(run_id, row.payload)
        return record if isinstance(record, kind) else None

    async def first(self, run_id: str) -> Record | None:
        """The record the run began with; None where there is no such run."""
        rows = await self._store.rows(run_id, 1, 1)
        return decode_record(run_id, rows[0].payload) if rows else None

    async def records(self, run_id: str, from_position: int = 1) -> AsyncIterator[Record]:
        """The run's records from `from_position` on, in order, to the last one there is."""
        while rows := await self._store.rows(run_id, from_position, PAGE):
            for row in rows:
                yield decode_record(run_id, row.payload)
            from_position = rows[-1].position + 1

    async def page(
        self, address: str, finished: bool | None, labels: Mapping[str, str], after: Cursor | None, limit: int
    ) -> list[tuple[Cursor, State | None]]:
        """At most `limit` runs at `address` and below, newest first, behind `after`, each with its place.

        The state is None where a newer server has written to the run: one such run does not hide the others.
        """
        found = await self._store.page(address, finished, labels, after, limit)
        return [(Cursor(at.run.start_time, at.run.run_id), await self._readable(at)) for at in found]

    async def close(self) -> None:
        """Waits for the appends under way, and closes the store."""
        await self._commit.drained()
        await self._store.close()

    async def _last_known(self, run_id: str) -> tuple[State | None, bool]:
        """The run's state, and whether it is proved current."""
        state = self._cache.get(run_id)
        if state is not None:
            return state, self._store.exclusive
        state = await self._load(run_id)
        if state is not None:
            self._cache.put(state)
        return state, True

    async def _is_current(self, run_id: str, state: State | None) -> bool:
        """Whether `state` is the run's last one; where it is not, the cache forgets it."""
        last = await self._store.position(run_id)
        if state is not None and state.position == last:
            return True
        self._cache.drop(run_id)
        return state is None and last == 0

    async def _load(self, run_id: str) -> State | None:
        standing = await self._store.standing(run_id)
        return None if standing is None else await self._folded(standing)

    async def _readable(self, standing: Standing) -> State | None:
        try:
            return await self._folded(standing)
        except Refusal:
            return None

    async def _folded(self, standing: Standing) -> State:
        run_id = standing.run.run_id
        state: State | None = None
        if standing.fold_version == FOLD_VERSION:
            state = decode_state(run_id, standing.run.plan, standing.state)
        if state is not None:
            return state
        async for record in self.records(run_id):
            state = fold(state, record)
        if state is None:
            raise StoreError(f"run {run_id} has a row and no ledger")
        return state

    def _append(self, after: State, record: Record) -> asyncio.Future[bool]:
        """Sends `record` to disk; when it has settled, the run's next command comes in."""
        run_id = after.run_id
        won: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def settle(result: Result) -> None:
            if result is True:
                self._cache.put(after)
            else:
                self._cache.drop(run_id)
            # Also where it failed, for then it may be recorded all the same.
            self.changes.appended()
            self._order.leave(run_id)
            if won.done():  # the caller gave up; what it asked for is done all the same
                return
            if isinstance(result, Exception):
                won.set_exception(result)
            else:
                won.set_result(result)

        begins = None
        if record.position == 1:
            plan = after.plan
            begins = Run(run_id, plan.address, after.start_time, plan.labels, encode_plan(after))
        append = Append(
            run_id,
            record.position,
            record.at,
            KINDS[type(record)],
            turn_of(record),
            encode_record(record),
            FOLD_VERSION,
            encode_state(after),
            begins,
            after.finished,
        )
        self._commit.append(append, settle)
        return won
