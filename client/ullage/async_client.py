"""The asynchronous client: a server's services, and the runs started or resumed there.

Rule: as in `client`, awaited. A client belongs to the event loop of its first call.
"""

import uuid
from collections.abc import AsyncIterator, Iterable, Mapping
from types import TracebackType
from typing import Any, Self, Unpack

from . import requests
from .async_calls import AsyncCalls, replay_exchanges
from .async_run import AsyncRun
from .replays import DroppedHalfWave, ReplayedExchange, batches, replayed_of
from .requests import Asked, BuildingChanges, StatedPlan
from .run_ids import new_run_id
from .standing import Building, RunStatus, building_of, status_of
from .streamed import LedgerReading
from .target import check_target
from .v1.ledger_pb2 import LedgerRecord
from .watching import RunEvent, Watching


class AsyncClient:
    """A client of one Ullage server. Made once and kept; shared freely among the tasks of one event loop.

    The connection is opened at the first call and is in the clear. It does not survive a fork: make the client in
    the process that uses it.

        async with ullage.AsyncClient() as client:
            run = await client.start_run(model="claude-sonnet-4-5", context_tokens=200_000)
            seen = await run.observe(response.usage)
            if seen.reminder:
                messages.append({"role": "user", "content": seen.reminder.text})

    Every call raises an `UllageError`: the class of the service's reason (as `RunNotFound`), `ServerUnreachable`
    where no Ullage answers, `DeadlinePassed` where the time ran out. Any call may be sent again. RuntimeError
    where the client is closed.

    Args:
        target: the server's address as gRPC spells it, `unix:/PATH` or `HOST:PORT`. None: the environment's
            `ULLAGE_TARGET`, else the user's own socket on which `ullage serve` listens.
        timeout: seconds that one call may take, all its attempts together; above 0. Where nothing has
            answered this client yet and nothing listens, it gives up after 2 seconds.
        stream: whether calls share one Converse stream. It spares the server about a fifth of its work. Off by
            default, because what a client gains depends: measured with 16 runs at once, threads had a fifth to
            two fifths more calls a second, tasks about as many. A server that lacks it is called without.

    """

    def __init__(self, target: str | None = None, *, timeout: float = 10.0, stream: bool = False) -> None:
        self._call = AsyncCalls(check_target(target), timeout, stream=stream)

    @property
    def target(self) -> str:
        """The server's address."""
        return self._call.target

    async def start_run(self, run_id: str | None = None, **plan: Unpack[StatedPlan]) -> "AsyncRun":
        """Starts a run, and freezes its plan: what is stated here, else the ladder's rungs, else the default.

        The same start again gets the run as it stands now (`replayed`).

        Args:
            run_id: the run's id, unique in the whole city, `[A-Za-z0-9._:-]{1,128}`; None: a new UUIDv7.
            **plan: see `StatedPlan`.

        Raises:
            ThresholdOutOfDomain: second_threshold is not 31 to 90.
            RunAlreadyExists: the id was started with another plan.
            ConfigUnreadable: a rung's document does not parse.
            ArgumentInvalid: another value is outside its domain.

        """
        asked = requests.start_run(new_run_id() if run_id is None else run_id, plan)
        answer = await self._call(self._call.services.runs.StartRun, asked)
        return AsyncRun(self, answer.run, answer.settled, answer.replayed)

    async def resume_run(self, run_id: str) -> "AsyncRun":
        """A run that was started before, by whomever; its turns are counted on from its last.

        Raises:
            RunNotFound: no run has that id.

        """
        asked = requests.get_run(run_id)
        return AsyncRun(self, (await self._call(self._call.services.runs.GetRun, asked)).run)

    async def get_run(self, run_id: str) -> RunStatus:
        """How a run stands. Records nothing.

        Raises:
            RunNotFound: no run has that id.

        """
        return status_of((await self._call(self._call.services.runs.GetRun, requests.get_run(run_id))).run)

    def list_runs(
        self, address: str = "", *, state: requests.State | None = None, labels: Mapping[str, str] | None = None
    ) -> AsyncIterator[RunStatus]:
        """The runs of an address and of all below it, newest start first; pages are fetched as they are needed.

        Args:
            address: the rung; empty: the whole city.
            state: "active" or "finished"; None: any.
            labels: those a run must have, with these values; None: any.

        """
        asked = requests.list_runs(address, state, labels)

        async def pages() -> AsyncIterator[RunStatus]:
            page = asked
            while True:
                answer = await self._call(self._call.services.runs.ListRuns, page)
                for run in answer.runs:
                    yield status_of(run)
                if not answer.next_page_token:
                    return
                page = requests.page_after(page, answer.next_page_token)

        return pages()

    def watch_runs(
        self, address: str = "", *, run_id: str | None = None, labels: Mapping[str, str] | None = None
    ) -> AsyncIterator[RunEvent]:
        """The runs as they stand, and then every change, until the iterator is closed.

        A stream that breaks is taken up where it broke; a run may then be told twice.

        Args:
            address: the rung, whose runs are told with those of all below it; empty: the whole city.
            run_id: one run alone; None: any.
            labels: those a run must have, with these values; None: any.

        Yields:
            A `RunChanged` for each run that is there, then `SnapshotComplete` once, then a `RunChanged` or
            `RunRemoved` for each change. Who takes them slowly is not told each state, but always the last one.

        Raises:
            RunNotFound: no run has that id.
            ArgumentInvalid: a value is outside its domain.
            ServerUnreachable: no stream came about for as long as a call may take.

        """
        return self._call.stream("WatchRuns", Watching(requests.watch_runs(address, run_id, labels)))

    def read_ledger(self, run_id: str, from_position: int = 1) -> AsyncIterator[LedgerRecord]:
        """The records of a run's ledger in order, in the wire's own messages: what happened, what was answered.

        Args:
            run_id: the run's id.
            from_position: the first record's position, from 1.

        Raises:
            RunNotFound: no run has that id.

        """
        return self._call.stream("ReadLedger", LedgerReading(requests.read_ledger(run_id, from_position)))

    def replay(
        self,
        records: Iterable[Any],
        *,
        run_id: str | None = None,
        exchange_budget_bytes: int | None = None,
        exchange_rules: int | None = None,
    ) -> AsyncIterator[ReplayedExchange | DroppedHalfWave]:
        """The exchanges of a history, compacted again as they were live. Records nothing.

        Args:
            records: the history's messages in order, in the shapes that `Run.compact` takes; prompts and system
                messages among them are passed over. A reply's turn is one more than the one before, from 1; a
                record may be a pair (turn, reply) instead. They are taken as the exchanges are asked for, which
                go out some at a time.
            run_id: a run by whose budget and rules it is done, and against whose ledger each turn is checked;
                None: by the two below.
            exchange_budget_bytes: the bytes of text that one exchange may hold; None: 32768. Not with run_id.
            exchange_rules: the version of the rules; None: the newest. Not with run_id.

        Yields:
            A `ReplayedExchange` for each reply, in order; a `DroppedHalfWave` for the last one where the history
            ends before all of its results.

        Raises:
            TypeError, ValueError: a record is no message, or the turns do not rise.
            RunNotFound: no run has that id.
            ArgumentInvalid: a result comes where no reply waits for one, or a value is outside its domain.
            MessageTooLarge: an exchange is more than the server takes, 17 MiB.

        """
        start = requests.replay_start(run_id, exchange_budget_bytes, exchange_rules)

        async def exchanges() -> AsyncIterator[ReplayedExchange | DroppedHalfWave]:
            rpc = replay_exchanges(self._call.services.runs)
            for waves, sent in batches(start.request, records):
                answers = await self._call(rpc, Asked(sent, start.action, start.subject))
                for exchange in replayed_of(waves, answers):
                    yield exchange

        return exchanges()

    async def finish_run(self, run_id: str, outcome: str = "") -> RunStatus:
        """Ends a run: it takes no more turns, and can be forked. The same end again gets the run.

        Args:
            run_id: the run's id.
            outcome: your word for how it ended, at most 1024 characters.

        Raises:
            RunNotFound: no run has that id.
            RunFinished: it was finished with another outcome.

        """
        asked = requests.finish_run(run_id, outcome)
        return status_of((await self._call(self._call.services.runs.FinishRun, asked)).run)

    async def configure_building(
        self,
        address: str,
        *,
        request_id: str | None = None,
        etag: str = "",
        validate_only: bool = False,
        **changes: Unpack[BuildingChanges],
    ) -> Building:
        """Writes to one rung of the ladder what is given, all or nothing, and removes what `reset` names.

        The next run that is started reads it; one that is going does not.

        Args:
            address: the rung: "" (the city), "building" or "building/resident".
            request_id: makes the command safe to send twice, `[A-Za-z0-9._:-]{1,128}`; None: one is made for
                this call, and all its attempts. State one to send the same again after an error.
            etag: the rung's etag as last seen, which must still fit; empty: write in any case.
            validate_only: whether to ask only what would come of it; nothing is written.
            **changes: see `BuildingChanges`.

        Raises:
            ThresholdOutOfDomain: context_second_threshold is not 31 to 90.
            RequestIdReused: the request id belongs to another command.
            ConfigChanged: the etag no longer fits.
            ConfigUnreadable: the rung's document does not parse.
            ArgumentInvalid: another value is outside its domain, or a key is both given and reset.

        """
        asked = requests.configure_building(
            address,
            changes,
            request_id=str(uuid.uuid4()) if request_id is None else request_id,
            etag=etag,
            validate_only=validate_only,
        )
        return building_of((await self._call(self._call.services.buildings.ConfigureBuilding, asked)).building)

    async def get_building(self, address: str) -> Building:
        """What a rung states, and what a run there would freeze now. The city, "", is always there.

        Raises:
            BuildingNotFound: nobody has configured that address.
            ConfigUnreadable: its document, or that of a rung above, does not parse.

        """
        answer = await self._call(self._call.services.buildings.GetBuilding, requests.get_building(address))
        return building_of(answer.building)

    async def list_buildings(self) -> AsyncIterator[Building]:
        """The rungs by address, the city first; pages are fetched as they are needed."""
        page = requests.list_buildings()
        while True:
            answer = await self._call(self._call.services.buildings.ListBuildings, page)
            for building in answer.buildings:
                yield building_of(building)
            if not answer.next_page_token:
                return
            page = requests.page_after(page, answer.next_page_token)

    async def close(self) -> None:
        """Ends the connection; a second time does nothing. The runs go on: they live on the server."""
        await self._call.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
