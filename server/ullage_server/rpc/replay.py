"""ReplayExchanges: a history streamed back gives the exchanges that CompactExchange answered live.

Rule (rules.md 9): a wave is whole when as many answers as calls are in, and is compacted there. A result that
answers none of its calls, or one twice, makes it incomplete, and so does a reply that comes while it is open:
then it is put out as it is, without verdicts. A result after a closed wave is refused. A wave that the history
ends in is dropped whole, and reported.
"""

from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple

from ullage.v1.exchange_pb2 import Block, Exchange
from ullage.v1.run_service_pb2 import (
    DroppedHalfWave,
    ModelReturned,
    ReplayedExchange,
    ReplayExchangesRequest,
    ReplayExchangesResponse,
    ReplayStart,
)

from ..convert.exchange import RAW_VERDICT, Fields, verdicts_to
from ..convert.raw import raw
from ..core.domain import check_count, check_tokens, check_turn
from ..core.errors import Reason, Refusal, invalid
from ..core.exchange.compact import RULES
from ..core.exchange.turn import check_rules
from ..core.exchange.wave import is_whole
from ..core.names import check_name
from ..core.plan import EXCHANGE_RULES
from ..core.records import ExchangeCompacted
from ..core.run import present
from ..core.settings import KEYS
from ..store.ledger import Ledger
from .exchange_work import Worker
from .parsing import MAX_EXCHANGE_BYTES

_RESPONSE, _REPLAYED = raw(ReplayExchangesResponse), raw(ReplayedExchange)
_DROPPED, _EXCHANGE = raw(DroppedHalfWave), raw(Exchange)
_FIELDS = Fields("model_returned.blocks", "tool_result")


class Terms(NamedTuple):
    """By what a history is replayed: budget, rules, and the result's digest of each turn in the run's ledger."""

    budget: int
    rules: int
    recorded: Mapping[int, bytes]


class Replays:
    """Replays histories."""

    def __init__(self, ledger: Ledger, worker: Worker) -> None:
        self._ledger = ledger
        self._worker = worker

    async def replay_exchanges(
        self, requests: AsyncIterator[ReplayExchangesRequest]
    ) -> AsyncIterator[ReplayExchangesResponse]:
        """The exchanges of a history, in its order."""
        terms: Terms | None = None
        last_turn = 0
        wave: _Wave | None = None  # the open one
        async for request in requests:
            item = request.WhichOneof("item")
            if (terms is None) != (item == "start"):
                raise invalid("start", "start is out of its place; it comes once, and before anything else")
            if terms is None:
                terms = await self._terms(request.start)
            elif item == "model_returned":
                if wave is not None:
                    yield await self._closed(wave, terms, whole=False)
                reply = request.model_returned
                if check_turn("model_returned.turn", reply.turn) <= last_turn:
                    raise invalid(
                        "model_returned.turn",
                        f"model_returned.turn is {reply.turn} after {last_turn}; the turns of a history rise",
                    )
                last_turn = reply.turn
                wave = _Wave(reply)
            elif item == "tool_result":
                if wave is None:
                    raise invalid(
                        "tool_result", "tool_result comes when no wave is open; each reply has its own results"
                    )
                wave.add(request.tool_result)
            else:
                raise invalid("item", "item is of no kind that this server knows")
            if wave is not None and terms is not None and wave.is_closed():
                yield await self._closed(wave, terms, whole=True)
                wave = None
        if terms is None:
            raise invalid("start", "start is missing; it comes once, and before anything else")
        if wave is not None:
            yield _RESPONSE(dropped_half_wave=_DROPPED(turn=wave.turn))

    async def _closed(self, wave: "_Wave", terms: Terms, *, whole: bool) -> ReplayExchangesResponse:
        worked = await self._worker.work(
            wave.exchange,
            _FIELDS,
            lambda source: (
                (terms.budget, terms.rules) if whole and is_whole(source.asked, source.answered) else None
            ),
        )
        recorded = terms.recorded.get(wave.turn)
        return _RESPONSE(
            exchange=_REPLAYED(
                turn=wave.turn,
                exchange=wave.exchange,
                verdicts=() if worked.compacted is None else verdicts_to(worked.compacted.verdicts, RAW_VERDICT),
                digest=worked.digest,
                wave_incomplete=worked.compacted is None,
                matches_ledger=None if recorded is None else recorded == worked.digest,
            )
        )

    async def _terms(self, start: ReplayStart) -> Terms:
        if not start.run_id:
            budget = KEYS["exchange.budget_bytes"].default
            if start.HasField("exchange_budget_bytes"):
                budget = check_tokens("start.exchange_budget_bytes", start.exchange_budget_bytes)
            rules = start.exchange_rules or EXCHANGE_RULES
            if rules not in RULES:
                raise invalid("start.exchange_rules", f"start.exchange_rules is {rules}, no version of the rules")
            return Terms(int(budget), rules, {})
        for field, stated in (
            ("exchange_budget_bytes", start.HasField("exchange_budget_bytes")),
            ("exchange_rules", bool(start.exchange_rules)),
        ):
            if stated:
                raise invalid(
                    f"start.{field}", f"start.{field} is stated beside start.run_id, whose run has its own"
                )
        run_id = check_name("start.run_id", start.run_id)
        run = present(await self._ledger.state(run_id), run_id, "start.run_id")
        check_rules(run)
        recorded = {
            record.turn: record.result_digest
            async for record in self._ledger.records(run_id)
            if isinstance(record, ExchangeCompacted)
        }
        return Terms(run.plan.settings.exchange_budget_bytes, run.plan.exchange_rules, recorded)


class _Wave:
    """A reply and the results that came for it so far."""

    def __init__(self, reply: ModelReturned) -> None:
        self.turn = reply.turn
        self.exchange = _EXCHANGE(assistant=reply.blocks)
        self._calls = check_count("model_returned.calls", reply.calls)
        self._size = reply.ByteSize()

    def add(self, result: Block) -> None:
        if result.WhichOneof("content") != "tool_result":
            raise invalid("tool_result", "tool_result holds another kind of block than a tool's result")
        self._size += result.ByteSize()
        if self._size > MAX_EXCHANGE_BYTES:
            raise Refusal(
                Reason.MESSAGE_TOO_LARGE,
                f"the exchange of turn {self.turn} has more than {MAX_EXCHANGE_BYTES} bytes, the most one has",
                subject=f"turn {self.turn} of the history",
                recovery="leave that turn out of the replay; no exchange of that size was compacted",
            )
        self.exchange.results.append(result)

    def is_closed(self) -> bool:
        """Whether as many results as calls are in."""
        return len(self.exchange.results) == self._calls
