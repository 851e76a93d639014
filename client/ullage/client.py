"""The synchronous client: a server's services, and the runs started or resumed there.

Rule: every call has a deadline, and can be sent again under its key; the client does so where no server is to
be had, and nothing else (see `retries`). What is asked and answered is the same as in `async_client`.
"""

import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self, Unpack

from . import requests
from .answers import Observation
from .calls import Calls, replay_exchanges
from .errors import TurnOutOfOrder, UllageError
from .exchanges import CompactedExchange, compacted_of
from .handle import RunHandle
from .histories import History
from .messages import taken
from .preparing import PreparedCall
from .reminders import asked as asked_of
from .replays import DroppedHalfWave, ReplayedExchange, batches, replayed_of
from .requests import Asked, BuildingChanges, StatedPlan
from .run_ids import new_run_id
from .standing import Building, RunStatus, building_of, status_of
from .target import check_target
from .v1 import plan_pb2, run_pb2


class Client:
    """A client of one Ullage server. Made once and kept; shared freely among threads.

    The connection is opened at the first call and is in the clear. It does not survive a fork: make the client in
    the process that uses it.

        with ullage.Client() as client:
            run = client.start_run(model="claude-sonnet-4-5", context_tokens=200_000)
            seen = run.observe(response.usage)
            if seen.reminder:
                messages.append({"role": "user", "content": seen.reminder.text})

    Every call raises an `UllageError`: the class of the service's reason (as `RunNotFound`), `ServerUnreachable`
    where no Ullage answers, `DeadlinePassed` where the time ran out. Any call may be sent again. RuntimeError
    where the client is closed; ValueError or TypeError for an argument that is none.

    Args:
        target: the server's address as gRPC spells it, `unix:/PATH` or `HOST:PORT`. None: the environment's
            `ULLAGE_TARGET`, else the user's own socket on which `ullage serve` listens.
        timeout: seconds that one call may take, all its attempts together; above 0. Where nothing has
            answered this client yet and nothing listens, it gives up after 2 seconds.

    """

    def __init__(self, target: str | None = None, *, timeout: float = 10.0) -> None:
        self._call = Calls(check_target(target), timeout)

    @property
    def target(self) -> str:
        """The server's address."""
        return self._call.target

    def start_run(self, run_id: str | None = None, **plan: Unpack[StatedPlan]) -> "Run":
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
        answer = self._call(self._call.services.runs.StartRun, asked)
        return Run(self, answer.run, answer.settled, answer.replayed)

    def resume_run(self, run_id: str) -> "Run":
        """A run that was started before, by whomever; its turns are counted on from its last.

        Raises:
            RunNotFound: no run has that id.

        """
        asked = requests.get_run(run_id)
        return Run(self, self._call(self._call.services.runs.GetRun, asked).run)

    def get_run(self, run_id: str) -> RunStatus:
        """How a run stands. Records nothing.

        Raises:
            RunNotFound: no run has that id.

        """
        return status_of(self._call(self._call.services.runs.GetRun, requests.get_run(run_id)).run)

    def list_runs(
        self, address: str = "", *, state: requests.State | None = None, labels: Mapping[str, str] | None = None
    ) -> Iterator[RunStatus]:
        """The runs of an address and of all below it, newest start first; pages are fetched as they are needed.

        Args:
            address: the rung; empty: the whole city.
            state: "active" or "finished"; None: any.
            labels: those a run must have, with these values; None: any.

        """
        asked = requests.list_runs(address, state, labels)

        def pages() -> Iterator[RunStatus]:
            page = asked
            while True:
                answer = self._call(self._call.services.runs.ListRuns, page)
                yield from map(status_of, answer.runs)
                if not answer.next_page_token:
                    return
                page = requests.page_after(page, answer.next_page_token)

        return pages()

    def replay(
        self,
        records: Iterable[Any],
        *,
        run_id: str | None = None,
        exchange_budget_bytes: int | None = None,
        exchange_rules: int | None = None,
    ) -> Iterator[ReplayedExchange | DroppedHalfWave]:
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

        def exchanges() -> Iterator[ReplayedExchange | DroppedHalfWave]:
            rpc = replay_exchanges(self._call.services.runs)
            for waves, sent in batches(start.request, records):
                yield from replayed_of(waves, self._call(rpc, Asked(sent, start.action, start.subject)))

        return exchanges()

    def finish_run(self, run_id: str, outcome: str = "") -> RunStatus:
        """Ends a run: it takes no more turns, and can be forked. The same end again gets the run.

        Args:
            run_id: the run's id.
            outcome: your word for how it ended, at most 1024 characters.

        Raises:
            RunNotFound: no run has that id.
            RunFinished: it was finished with another outcome.

        """
        asked = requests.finish_run(run_id, outcome)
        return status_of(self._call(self._call.services.runs.FinishRun, asked).run)

    def configure_building(
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
        return building_of(self._call(self._call.services.buildings.ConfigureBuilding, asked).building)

    def get_building(self, address: str) -> Building:
        """What a rung states, and what a run there would freeze now. The city, "", is always there.

        Raises:
            BuildingNotFound: nobody has configured that address.
            ConfigUnreadable: its document, or that of a rung above, does not parse.

        """
        asked = requests.get_building(address)
        return building_of(self._call(self._call.services.buildings.GetBuilding, asked).building)

    def list_buildings(self) -> Iterator[Building]:
        """The rungs by address, the city first; pages are fetched as they are needed."""
        page = requests.list_buildings()
        while True:
            answer = self._call(self._call.services.buildings.ListBuildings, page)
            yield from map(building_of, answer.buildings)
            if not answer.next_page_token:
                return
            page = requests.page_after(page, answer.next_page_token)

    def close(self) -> None:
        """Ends the connection; a second time does nothing. The runs go on: they live on the server."""
        self._call.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Run(RunHandle):
    """A run, and the count of its turns, made by `start_run`, `resume_run` or `fork`. Reports are sent one at a
    time, each under a number of its own, however many threads make them.
    """

    def __init__(
        self,
        client: Client,
        run: run_pb2.Run,
        settled: Sequence[plan_pb2.Settled] = (),
        replayed: bool = False,
    ) -> None:
        super().__init__(run, settled, replayed)
        self._client = client
        # A report takes its number when the one before has its answer.
        self._turns = threading.Lock()

    def prepare(
        self,
        messages: Sequence[Any],
        *,
        turn: int | None = None,
        step: int | None = None,
        window_reset: bool = False,
        time_remaining: timedelta | float | None = None,
        session_id_in_context: bool | None = None,
        now: datetime | None = None,
        model: str = "",
        context_tokens: int | None = None,
    ) -> PreparedCall:
        """Tells what the model should hear in the coming call, and puts it into the messages.

        Send the answer's `request`, and keep its `history`: the durable insertions stay in it. What is prepared
        again before its turn is observed, as a call that failed, gets the same durable texts under the same ids.
        The reminders of `observe` are placed here too, unless they stand in the messages already. What the caller
        did not keep is given again by the next call.

        Args:
            messages: the history, with the user's or the tools' last words at its end: of Anthropic's Messages or
                OpenAI's Chat Completions, as dicts, SDK objects or both. They are not changed.
            turn: the turn the call will make, from 1; None: the one after the last accepted.
            step: the call's number within its prompt, from 1; None: counted from the user's last words on.
            window_reset: whether this is the first call built from a compacted or cleared history.
            time_remaining: what your own timer has left of the time budget, a timedelta or seconds, 0 or more;
                None: the time since the run's start counts.
            session_id_in_context: whether the session's id stands in the window; None: looked up in the messages
                behind the last one that is a summary (of the role `summary` or `compactionSummary`, or marked
                `isCompactSummary`).
            now: the time to tell the agent, an aware datetime; None: the server's.
            model: the model of the call, where it is not the plan's; its window is looked up.
            context_tokens: that model's window in tokens, 0 to 2^53 - 1, 0 unknown; None: the run's.

        Raises:
            TypeError: `messages` is no list of messages, or another argument is of another type.
            ValueError: `now` is in no time zone, or a number does not fit the wire.
            TurnOutOfOrder: the turn was observed, or lies below one that was prepared or compacted.
            RunFinished: the run has ended.
            RunNotFound: no run has that id.
            ArgumentInvalid: a value is outside its domain, or a registered reminder's id or label is malformed.

        """
        history = History(messages)
        with self._turns:
            while True:
                number = self.last_turn + 1 if turn is None else turn
                place = min(history.step, number) if step is None else step
                candidates = asked_of(self.reminders, self.run_id, number, place, history.edges, messages)
                asked = requests.prepare_call(
                    self.run_id,
                    number,
                    place,
                    tail=history.tail,
                    candidates=candidates,
                    unplaced_ids=self._given.unplaced(history, number),
                    window_reset=window_reset,
                    time_remaining=time_remaining,
                    session_id_in_context=(
                        history.holds_session(self.plan.session_id)
                        if session_id_in_context is None and self.plan.agent
                        else session_id_in_context
                    ),
                    now=now,
                    model=model,
                    context_tokens=context_tokens,
                )
                try:
                    answer = self._client._call(self._client._call.services.runs.PrepareCall, asked)
                except TurnOutOfOrder:
                    if turn is None and self._in_doubt == number:
                        self._accepted(number)
                        continue
                    raise
                return self._given.prepared(history, number, place, answer)

    def observe(
        self,
        usage: object,
        *,
        turn: int | None = None,
        window_reset: bool = False,
        model: str = "",
        context_tokens: int | None = None,
        dialect: str | None = None,
    ) -> Observation:
        """Reports a turn's model call; tells how full the window is, and what the agent must hear of it.

        A turn is one call whose reply was kept. If this raises, send the same again: it goes under the same
        number, and what was recorded is answered as it was. If you go on with the next call's usage instead,
        that is no harm to the gauge; a reminder in the lost answer is lost with it.

        Args:
            usage: what the call reported: None; the provider's usage object as its SDK gives it, as a mapping,
                dataclass or protobuf message, or as JSON text or bytes; a response that holds one as `usage`
                (or `usage_metadata`, `usageMetadata`); an int, the whole prompt's tokens; or a `Usage`. It is
                one call's, never a sum over several. An object without a prompt count is no usage. It is not
                changed, and of a response nothing but the usage object is sent.
            turn: the turn's number, from 1; None: the one after the last accepted.
            window_reset: whether this call was the first one built from a compacted or cleared history.
            model: the model that answered, where it is not the plan's; its window is looked up.
            context_tokens: that model's window in tokens, 0 to 2^53 - 1, 0 unknown; None: the run's.
            dialect: whose words a provider's object is written in, as "openai_chat" (a `Dialect`'s name
                without its prefix, in lower case); None: told from its keys.

        Raises:
            TypeError: `usage` is none of these.
            ValueError: an unknown dialect or cache accounting, or a number that does not fit the wire.
            TurnAlreadyRecorded: the turn was reported before, with other content.
            TurnOutOfOrder: it lies below the last one, and was never reported.
            RunFinished: the run has ended.
            RunNotFound: no run has that id.
            ArgumentInvalid: a value is outside its domain, or the JSON is more than 64 KiB or does not parse.

        """
        with self._turns:
            while True:
                number = self.last_turn + 1 if turn is None else turn
                asked = requests.observe_usage(
                    self.run_id,
                    number,
                    usage,
                    window_reset=window_reset,
                    model=model,
                    context_tokens=context_tokens,
                    dialect=dialect,
                )
                doubted = self._sent(number)
                try:
                    answer = self._client._call(self._client._call.services.runs.ObserveUsage, asked)
                except UllageError as error:
                    if self._refused(number, error, doubted=doubted) and turn is None:
                        continue
                    raise
                self._accepted(number)
                return self._observed(answer)

    def compact(self, exchange: Sequence[Any], *, turn: int | None = None) -> CompactedExchange:
        """Shortens a turn's exchange to the run's budget: call it once a turn, when all its tool results are in.

        If this raises because no answer came, send the same again: the same exchange gets the same answer.

        Args:
            exchange: the turn's messages: the assistant's reply, then those with its tool results, one result for
                each tool use. In the shape of Anthropic's Messages (content blocks, the results in a user's
                message) or OpenAI's Chat Completions (`tool_calls`, a message of the role `tool` for each); as
                dicts, SDK objects or both. They are not changed. What is no text of the reply or of a result stays
                as it is: thinking, tool uses, images, blocks of unknown kinds, keys, order; what stands beside the
                results in a user's message, too.
            turn: the exchange's turn, from 1; None: the one last observed.

        Raises:
            TypeError: it is no list of messages in these shapes.
            ValueError: the messages are no exchange, a text is no Unicode, or there is no turn yet.
            WaveIncomplete: a tool use has not exactly one result, or a result no tool use; the message names them.
            ExchangeAlreadyCompacted: the turn was compacted with another exchange.
            TurnOutOfOrder: the turn lies below the last one that was compacted, and never was itself.
            RunFinished: the run has ended.
            RunNotFound: no run has that id.
            ArgumentInvalid: two tool uses have one id, or the turn is outside its domain.
            MessageTooLarge: the exchange is more than the server takes, 17 MiB.

        """
        held = taken(exchange)
        with self._turns:
            number = self._turn_of_exchange if turn is None else turn
            asked = requests.compact_exchange(self.run_id, number, held.exchange)
            answer = self._client._call(self._client._call.services.runs.CompactExchange, asked)
            if turn is None:
                self._accepted(number)
        return compacted_of(answer, number, held)

    def fork(self, through_turn: int, run_id: str | None = None, **plan: Unpack[StatedPlan]) -> "Run":
        """Starts a branch: a run that begins as this one stood at the end of a turn, and counts on from there.

        This run does not change, and may be finished. The same fork again gets the branch as it stands now
        (`replayed`).

        Args:
            through_turn: the last turn that both have in common, from 0 (none) to this run's last.
            run_id: the branch's id, unique in the whole city, `[A-Za-z0-9._:-]{1,128}`; None: a new UUIDv7.
            **plan: what the branch states beyond what this run stated; see `StatedPlan`. It may not state
                exchange_budget_bytes, which is inherited.

        Raises:
            ForkPastEnd: this run has not come to that turn.
            ForkBeforeOrigin: the turn is an ancestor's that is gone.
            RunAlreadyExists: the id belongs to another start or fork.
            RunNotFound: this run is gone.
            ThresholdOutOfDomain: second_threshold is not 31 to 90.
            ConfigUnreadable: a rung's document does not parse.
            ArgumentInvalid: another value is outside its domain.

        """
        asked = requests.fork_run(self.run_id, through_turn, new_run_id() if run_id is None else run_id, plan)
        answer = self._client._call(self._client._call.services.runs.ForkRun, asked)
        return Run(self._client, answer.run, answer.settled, answer.replayed)

    def status(self) -> RunStatus:
        """How the run stands. Records nothing. Raises as `Client.get_run`."""
        return self._client.get_run(self.run_id)

    def finish(self, outcome: str = "") -> RunStatus:
        """Ends the run. Raises as `Client.finish_run`."""
        return self._client.finish_run(self.run_id, outcome)
