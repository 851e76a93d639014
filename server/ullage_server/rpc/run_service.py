"""RunService: runs and their turns. Each method converts, calls core, appends what core says, and answers."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection

from ullage.v1 import run_pb2
from ullage.v1.run_service_pb2 import (
    FinishRunRequest,
    FinishRunResponse,
    ForkRunRequest,
    ForkRunResponse,
    GetRunRequest,
    GetRunResponse,
    ListRunsRequest,
    ListRunsResponse,
    ObserveUsageRequest,
    ObserveUsageResponse,
    ReadLedgerRequest,
    ReadLedgerResponse,
    StartRunRequest,
    StartRunResponse,
)

from ..convert.gauge import insertion_to, reading_to, sounded_to
from ..convert.ledger import record_to
from ..convert.plan import settled_to, stated_from
from ..convert.report import report_from
from ..convert.run import run_to
from ..core.domain import check_count
from ..core.errors import invalid
from ..core.fork import (
    check_ancestor,
    check_fork,
    check_reached,
    fork,
    freeze_branch,
    in_force,
    inherit,
    same_fork,
    stated_for,
)
from ..core.names import check_address, check_labels, check_name, check_outcome
from ..core.observe import asks_window, check_report, observe
from ..core.plan import Catalogue, Stated, check_stated, freeze
from ..core.records import RunFinished, RunForked, RunStarted, UsageObserved
from ..core.run import finish, present, same_start, start
from ..core.state import Origin, State
from ..ladder.ladder import Ladder
from ..store.ledger import Ledger
from ..store.port import Cursor
from .pages import MAX_PAGE_BYTES, SLICE, page_size, page_token, read_page_token


class RunService:
    """The runs of the city."""

    def __init__(
        self,
        ledger: Ledger,
        ladder: Ladder,
        catalogue: Catalogue,
        zones: Collection[str],
        now: Callable[[], int],
    ) -> None:
        self._ledger = ledger
        self._ladder = ladder
        self._catalogue = catalogue
        self._zones = zones
        self._now = now

    async def start_run(self, request: StartRunRequest) -> StartRunResponse:
        """Begins a run under a frozen plan; the same start again is the same run."""
        run_id = check_name("run_id", request.run_id)
        stated = check_stated(stated_from(request.plan), self._zones)

        async def decide(state: State | None) -> RunStarted:
            if state is not None:
                return same_start(state, stated, await self._ledger.first(run_id))
            rungs = await self._ladder.rungs(stated.address)
            # In a thread, because a name that the catalogue has not been asked for takes a while.
            frozen = await asyncio.to_thread(freeze, run_id, stated, rungs, self._catalogue)
            return start(run_id, stated, frozen, self._now())

        outcome = await self._ledger.command(run_id, decide)
        return StartRunResponse(
            run=run_to(outcome.state), settled=settled_to(outcome.record.settled), replayed=outcome.replayed
        )

    async def observe_usage(self, request: ObserveUsageRequest) -> ObserveUsageResponse:
        """Takes a turn's report and says whether the agent must hear of it."""
        run_id = check_name("run_id", request.run_id)
        report = check_report(report_from(request.report))

        async def decide(state: State | None) -> UsageObserved:
            run = present(state, run_id)
            recorded = None
            if report.turn <= run.last_observed:
                recorded = await self._ledger.recorded(run_id, UsageObserved, report.turn)
            found_window = None
            if recorded is None and asks_window(run, report):
                found_window = await self._ladder.window(run.plan.address, report.model)
            return observe(run, report, recorded, found_window, self._now())

        outcome = await self._ledger.command(run_id, decide)
        record = outcome.record
        return ObserveUsageResponse(
            reminder=None if record.reminder is None else insertion_to(record.reminder),
            reading=None if record.reading is None else reading_to(record.reading),
            sounded=sounded_to(record.sounded),
            replayed=outcome.replayed,
        )

    async def finish_run(self, request: FinishRunRequest) -> FinishRunResponse:
        """Ends a run; the same end again changes nothing."""
        run_id = check_name("run_id", request.run_id)
        outcome_word = check_outcome("outcome", request.outcome)

        async def decide(state: State | None) -> RunFinished | None:
            return finish(present(state, run_id), outcome_word, self._now())

        outcome = await self._ledger.command(run_id, decide)
        return FinishRunResponse(run=run_to(outcome.state), replayed=outcome.replayed)

    async def fork_run(self, request: ForkRunRequest) -> ForkRunResponse:
        """Begins a branch of a run; the same fork again is the same branch."""
        run_id = check_name("run_id", request.run_id)
        origin = Origin(check_name("parent_run_id", request.parent_run_id), request.through_turn)
        own = check_stated(stated_from(request.plan), self._zones)
        check_fork(own, origin.through_turn)

        async def decide(state: State | None) -> RunForked:
            if state is not None:
                return same_fork(run_id, origin, own, await self._ledger.first(run_id))
            mother, stated = await self._mother(origin)
            stated = in_force(own, stated, mother.plan)
            rungs = await self._ladder.rungs(stated.address)
            # In a thread, as at a start.
            frozen = await asyncio.to_thread(
                freeze_branch, run_id, own, stated, mother.plan, rungs, self._catalogue
            )
            return fork(run_id, origin, own, stated, frozen, mother, self._now())

        outcome = await self._ledger.command(run_id, decide)
        return ForkRunResponse(
            run=run_to(outcome.state), settled=settled_to(outcome.record.settled), replayed=outcome.replayed
        )

    async def _mother(self, origin: Origin) -> tuple[State, Stated]:
        """The state that a branch inherits, and all that is stated for the run that it leaves."""
        named = mother = present(await self._ledger.state(origin.run_id), origin.run_id, "parent_run_id")
        check_reached(named, origin.through_turn)
        while mother.origin is not None and origin.through_turn < mother.origin.through_turn:
            ancestor = await self._ledger.state(mother.origin.run_id)
            mother = check_ancestor(ancestor, mother, origin.through_turn)
        first = await self._ledger.first(named.run_id)
        inherited: State | None = None
        async for record in self._ledger.records(mother.run_id):
            inherited = inherit(inherited, [record], origin.through_turn)
        return present(inherited, mother.run_id), stated_for(first)

    async def read_ledger(self, requests: AsyncIterator[ReadLedgerRequest]) -> AsyncIterator[ReadLedgerResponse]:
        """A run's records, in order."""
        async for request in requests:
            run_id = check_name("run_id", request.run_id)
            from_position = check_count("from_position", request.from_position)
            present(await self._ledger.state(run_id), run_id)
            async for record in self._ledger.records(run_id, max(from_position, 1)):
                yield ReadLedgerResponse(record=record_to(record))

    async def get_run(self, request: GetRunRequest) -> GetRunResponse:
        """How a run stands."""
        run_id = check_name("run_id", request.run_id)
        return GetRunResponse(run=run_to(present(await self._ledger.state(run_id), run_id)))

    async def list_runs(self, request: ListRunsRequest) -> ListRunsResponse:
        """The runs at an address and below, page by page, newest first."""
        address = check_address("address", request.address)
        labels = check_labels("labels", dict(request.labels))
        if request.state not in _FINISHED:
            raise invalid("state", f"state is {request.state}, no value of RunState")
        size = page_size(request.page_size)
        asked = ["runs", address, request.state, dict(labels)]
        last = read_page_token(asked, request.page_token, (int, str))
        after = None if last is None else Cursor(int(last[0]), str(last[1]))
        response = ListRunsResponse()
        held = 0
        while True:
            # One more than the page wants tells whether there is a next one.
            wanted = min(size + 1 - len(response.runs), SLICE)
            found = await self._ledger.page(address, _FINISHED[request.state], labels, after, wanted)
            for place, state in found:
                if state is None:  # GetRun tells why
                    after = place
                    continue
                run = run_to(state)
                held += run.ByteSize()
                if response.runs and after and (len(response.runs) == size or held > MAX_PAGE_BYTES):
                    response.next_page_token = page_token(asked, list(after))
                    return response
                response.runs.append(run)
                after = place
            if len(found) < wanted:
                return response


_FINISHED: dict[int, bool | None] = {
    run_pb2.RUN_STATE_UNSPECIFIED: None,
    run_pb2.RUN_STATE_ACTIVE: False,
    run_pb2.RUN_STATE_FINISHED: True,
}
