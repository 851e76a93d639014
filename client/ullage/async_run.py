"""A run as a asynchronous caller holds it: reports, calls to be prepared, exchanges, branches.

Rule: what is asked and answered is the same as in `run`; how turns are counted stands in `handle`.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Unpack

from . import requests
from .answers import Observation
from .errors import TurnOutOfOrder, UllageError
from .exchanges import CompactedExchange, compacted_of
from .handle import RunHandle
from .histories import History
from .messages import taken
from .preparing import PreparedCall
from .reminders import asked_and_awaited
from .requests import StatedPlan
from .run_ids import new_run_id
from .standing import RunStatus
from .v1 import plan_pb2, run_pb2

if TYPE_CHECKING:
    from .async_client import AsyncClient


class AsyncRun(RunHandle):
    """A run, and the count of its turns, made by `start_run`, `resume_run` or `fork`. Reports are sent one at a
    time, each under a number of its own, however many tasks make them.
    """

    def __init__(
        self,
        client: "AsyncClient",
        run: run_pb2.Run,
        settled: Sequence[plan_pb2.Settled] = (),
        replayed: bool = False,
    ) -> None:
        super().__init__(run, settled, replayed)
        self._client = client
        # A report takes its number when the one before has its answer.
        self._turns = asyncio.Lock()

    async def prepare(
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
        async with self._turns:
            while True:
                number = self.last_turn + 1 if turn is None else turn
                place = min(history.step, number) if step is None else step
                candidates = await asked_and_awaited(
                    self.reminders, self.run_id, number, place, history.edges, messages
                )
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
                    answer = await self._client._call(self._client._call.services.runs.PrepareCall, asked)
                except TurnOutOfOrder:
                    if turn is None and self._in_doubt == number:
                        self._accepted(number)
                        continue
                    raise
                return self._given.prepared(history, number, place, candidates, answer)

    async def observe(
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
        async with self._turns:
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
                    answer = await self._client._call(self._client._call.services.runs.ObserveUsage, asked)
                except UllageError as error:
                    if self._refused(number, error, doubted=doubted) and turn is None:
                        continue
                    raise
                self._accepted(number)
                return self._observed(answer)

    async def compact(self, exchange: Sequence[Any], *, turn: int | None = None) -> CompactedExchange:
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
        async with self._turns:
            number = self._turn_of_exchange if turn is None else turn
            asked = requests.compact_exchange(self.run_id, number, held.exchange)
            answer = await self._client._call(self._client._call.services.runs.CompactExchange, asked)
            if turn is None:
                self._accepted(number)
        return compacted_of(answer, number, held)

    async def fork(self, through_turn: int, run_id: str | None = None, **plan: Unpack[StatedPlan]) -> "AsyncRun":
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
        answer = await self._client._call(self._client._call.services.runs.ForkRun, asked)
        return AsyncRun(self._client, answer.run, answer.settled, answer.replayed)

    async def status(self) -> RunStatus:
        """How the run stands. Records nothing. Raises as `AsyncClient.get_run`."""
        return await self._client.get_run(self.run_id)

    async def finish(self, outcome: str = "") -> RunStatus:
        """Ends the run. Raises as `AsyncClient.finish_run`."""
        return await self._client.finish_run(self.run_id, outcome)
