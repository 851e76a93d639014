"""CompactExchange: what of a turn's exchange stays in the window, at its boundary."""

from collections.abc import Callable

from ullage.v1.run_service_pb2 import CompactExchangeRequest, CompactExchangeResponse

from ..convert.exchange import RAW_VERDICT, Fields, Source, edits_to, verdicts_to
from ..convert.raw import raw
from ..core.domain import check_turn
from ..core.exchange.turn import check_rules, compact_turn
from ..core.exchange.wave import check_wave
from ..core.names import check_name
from ..core.records import ExchangeCompacted
from ..core.run import present, subject
from ..core.state import State
from ..store.ledger import Ledger
from .exchange_work import Worker

_RESPONSE = raw(CompactExchangeResponse)
_FIELDS = Fields("exchange.assistant", "exchange.results")


class ExchangeService:
    """The exchanges of the city's runs."""

    def __init__(self, ledger: Ledger, worker: Worker, now: Callable[[], int]) -> None:
        self._ledger = ledger
        self._worker = worker
        self._now = now

    async def compact_exchange(self, request: CompactExchangeRequest) -> CompactExchangeResponse:
        """Shortens a turn's exchange, once a turn."""
        run_id = check_name("run_id", request.run_id)
        turn = check_turn("turn", request.turn)
        now = present(await self._ledger.state(run_id), run_id)
        check_rules(now)
        plan = now.plan

        def terms(source: Source) -> tuple[int, int]:
            check_wave(f"{subject(run_id)}, turn {turn}", source.asked, source.answered)
            return plan.settings.exchange_budget_bytes, plan.exchange_rules

        exchange = request.exchange
        source, compacted, digest = await self._worker.work(exchange, _FIELDS, terms)
        assert compacted is not None  # noqa: S101  # `terms` never leaves an exchange as it is

        async def decide(state: State | None) -> ExchangeCompacted:
            run = present(state, run_id)
            recorded = None
            if turn <= run.last_compacted:
                recorded = await self._ledger.recorded(run_id, ExchangeCompacted, turn)
            return compact_turn(run, turn, (source.digest, digest), compacted, recorded, self._now())

        outcome = await self._ledger.command(run_id, decide)
        return _RESPONSE(
            exchange=None if request.edits_only else exchange,
            edits=edits_to(source.texts, compacted) if request.edits_only else (),
            verdicts=verdicts_to(compacted.verdicts, RAW_VERDICT),
            source_bytes=compacted.source_bytes,
            result_bytes=compacted.result_bytes,
            over_budget=compacted.over_budget,
            digest=digest,
            replayed=outcome.replayed,
        )
