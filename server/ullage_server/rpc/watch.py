"""WatchRuns: how runs stand, and then again whenever one changes.

Rule (wire.md, WatchRuns): first the present runs, or with a token those that changed since, then
`snapshot_complete`, then every change as the whole run. The latest wins: who reads slowly skips states, but never
the last one. Where nothing changes for ten seconds a heartbeat says so. Every event has a token to go on from
behind it; one that fits no more begins with all runs.
"""

import itertools
from collections.abc import AsyncIterator, Callable, Mapping
from typing import NamedTuple

from ullage.v1.run_service_pb2 import Heartbeat, SnapshotComplete, WatchRunsRequest, WatchRunsResponse

from ..convert.run import run_to
from ..convert.times import to_timestamp
from ..core.errors import Refusal
from ..core.names import check_address, check_labels, check_name, rungs_of
from ..core.run import present
from ..core.state import State
from ..store.changes import Watch
from ..store.ledger import Ledger
from ..store.port import Cursor
from .pages import SLICE, page_token, read_page_token
from .turns import Turns

#: How long nothing changes before a heartbeat says so, in seconds.
HEARTBEAT_SECONDS = 10.0


class _Filter(NamedTuple):
    """What must hold of a run: where it is, which it is where that is not empty, and its labels."""

    address: str
    run_id: str
    labels: Mapping[str, str]

    def holds(self, run: State) -> bool:
        return (
            self.run_id in ("", run.run_id)
            and self.address in rungs_of(run.plan.address)
            and self.labels.items() <= run.plan.labels.items()
        )


class _Place(NamedTuple):
    """How far a stream has come: the number up to which it told every change, and the last present run it told.

    The run's id is empty before the first of them, and `told_all` is 1 behind the last.
    """

    number: int
    told_all: int
    start_time: int
    run_id: str


class Watches:
    """Watches the runs of a ledger."""

    def __init__(self, ledger: Ledger, now: Callable[[], int]) -> None:
        self._ledger = ledger
        self._now = now
        self._turns = Turns()

    async def watch_runs(self, requests: AsyncIterator[WatchRunsRequest]) -> AsyncIterator[WatchRunsResponse]:
        """Tells of runs until the caller ends it."""
        async for request in requests:
            async for event in self._watched(request):
                yield event

    async def _watched(self, request: WatchRunsRequest) -> AsyncIterator[WatchRunsResponse]:
        labels = check_labels("labels", dict(request.labels))
        which = _Filter(check_address("address", request.address), request.run_id, labels)
        if which.run_id:
            check_name("run_id", which.run_id)
            present(await self._ledger.state(which.run_id), which.run_id)
        asked = ["watch", which.address, which.run_id, dict(which.labels)]
        said = read_page_token(asked, request.resume_token, (int, int, int, str), "resume_token")

        def token(place: _Place) -> str:
            return page_token(asked, list(place))

        async with self._ledger.changes.watch(which.address, which.run_id) as watch:
            place = _Place(watch.since, 0, 0, "")
            if said is not None and int(said[0]) <= watch.since:
                place = _Place(int(said[0]), int(said[1]), int(said[2]), str(said[3]))
            if not place.told_all:
                async for cursor, run in self._present(which, place):
                    place = place._replace(start_time=cursor.start_time, run_id=cursor.run_id)
                    yield WatchRunsResponse(run=run_to(run), resume_token=token(place))
            await watch.catch_up(place.number)
            # As many as there are now: more may come for ever.
            for left in itertools.count(watch.pending, -1):
                event = await self._next(watch, which) if left else _complete()
                if event is not None:
                    event.resume_token = token(_Place(watch.position, 1, 0, ""))
                    yield event

    async def _present(self, which: _Filter, place: _Place) -> AsyncIterator[tuple[Cursor, State]]:
        """The runs as they stand, newest first, behind those that were told."""
        if which.run_id:
            run = await self._ledger.changed_state(which.run_id)
            if run is not None and which.holds(run) and not place.run_id:
                yield Cursor(run.start_time, run.run_id), run
            return
        after = Cursor(place.start_time, place.run_id) if place.run_id else None
        while found := await self._ledger.page(which.address, None, which.labels, after, SLICE):
            for after, state in found:
                if state is not None:  # GetRun tells why
                    await self._turns.take()
                    yield after, state

    async def _next(self, watch: Watch, which: _Filter) -> WatchRunsResponse | None:
        """The next event, without its token; None where what changed is none of what was asked for."""
        if not await watch.has_more(HEARTBEAT_SECONDS):
            return WatchRunsResponse(heartbeat=Heartbeat(at=to_timestamp(self._now())))
        await self._turns.take()
        run_id, position = watch.next()
        try:
            run = await self._ledger.changed_state(run_id, position)
        except Refusal:  # a newer server wrote to it: GetRun tells
            return None
        if run is None:
            return WatchRunsResponse(removed_run_id=run_id)
        return WatchRunsResponse(run=run_to(run)) if which.holds(run) else None


def _complete() -> WatchRunsResponse:
    return WatchRunsResponse(snapshot_complete=SnapshotComplete())
