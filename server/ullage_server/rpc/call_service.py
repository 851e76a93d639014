"""PrepareCall: what the model shall hear before a call. Converts, looks up what core asks for, and answers."""

from collections.abc import Callable, Collection, Iterable

from ullage.v1.run_service_pb2 import PrepareCallRequest, PrepareCallResponse

from ..convert.call import call_from
from ..convert.dates import date_in
from ..convert.gauge import insertion_to
from ..core.call import Call, check_call
from ..core.insertion import FIRST_KEY, HANDOVER_KEY, Insertion, Lifetime, turn_of
from ..core.names import check_name
from ..core.prepare import asks_window, prepare
from ..core.records import CallPrepared, UsageObserved, WindowReset
from ..core.run import present
from ..core.state import State
from ..ladder.ladder import Ladder
from ..store.ledger import Ledger


class CallService:
    """The calls that are about to be made."""

    def __init__(self, ledger: Ledger, ladder: Ladder, now: Callable[[], int]) -> None:
        self._ledger = ledger
        self._ladder = ladder
        self._now = now

    async def prepare_call(self, request: PrepareCallRequest) -> PrepareCallResponse:
        """Tells what to insert into the request; an empty answer is not recorded."""
        run_id = check_name("run_id", request.run_id)
        call = check_call(call_from(request))

        async def decide(state: State | None) -> CallPrepared | WindowReset | None:
            run = present(state, run_id)
            earlier = None
            if run.memory.prepared_turn == call.turn:
                earlier = await self._ledger.recorded(run_id, CallPrepared, call.turn)
            asked = _asked(run, call)
            known = await self._known(run, asked) if asked else {}
            found_window = None
            if asks_window(run, call):
                found_window = await self._ladder.window(run.plan.address, call.model)
            return prepare(run, call, earlier, known, found_window, date_in, self._now())

        record = (await self._ledger.command(run_id, decide)).record
        response = PrepareCallResponse()
        if isinstance(record, CallPrepared):
            response.insertions.extend(map(insertion_to, record.insertions))
        return response

    async def _known(self, run: State, ids: Iterable[str]) -> dict[str, Insertion]:
        """Those of `ids` that are durable insertions of the run or of the line it is a branch of."""
        known: dict[str, Insertion] = {}
        for id in ids:
            given = await self._given(run, turn_of(id), id)
            known |= {one.id: one for one in given if one.id == id and one.lifetime is Lifetime.DURABLE}
        return known

    async def _given(self, run: State, turn: int, id: str) -> tuple[Insertion, ...]:
        """What was given for `turn` when it was first answered, where `id` would be among it."""
        while run.origin is not None and turn <= run.origin.through_turn:
            mother = await self._ledger.state(run.origin.run_id)
            if mother is None:
                return ()
            run = mother
        if not 1 <= turn <= max(run.last_turn, run.memory.prepared_turn):
            return ()
        if id.endswith((FIRST_KEY, HANDOVER_KEY)):
            observed = await self._ledger.recorded(run.run_id, UsageObserved, turn)
            return (observed.reminder,) if observed and observed.reminder else ()
        # All durable texts of a turn are in its first record.
        prepared = await self._ledger.recorded(run.run_id, CallPrepared, turn, first=True)
        return prepared.insertions if prepared else ()


def _asked(run: State, call: Call) -> Collection[str]:
    """The ids to be looked up: those not placed, and those that wait where they wait no longer."""
    waiting = run.memory.waiting if call.tail.is_user else ()
    return dict.fromkeys((*waiting, *call.unplaced_ids))
