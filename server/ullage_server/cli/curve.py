"""A run's curve, from the records of its ledger: how full its window was at each turn, and what happened there.

Rule: what is shown is what the ledger holds. A turn without usage has no point; a window that nobody stated gives
no percent, and then the curve is one of tokens.
"""

from collections.abc import AsyncIterable
from dataclasses import dataclass, field

from ullage.v1.insertion_pb2 import INSERTION_KIND_HANDOVER
from ullage.v1.ledger_pb2 import LedgerRecord, UsageObserved
from ullage.v1.plan_pb2 import RunPlan


@dataclass(frozen=True, slots=True)
class Point:
    """A turn whose usage was read: the tokens used, and the window's width then, 0 where it was unknown."""

    turn: int
    used_tokens: int
    context_tokens: int

    @property
    def percent(self) -> float:
        """How full the window was, unrounded; 0 where its width was unknown."""
        return self.used_tokens * 100 / self.context_tokens if self.context_tokens else 0.0


@dataclass(slots=True)
class Curve:
    """A run over its turns.

    Attributes:
        plan: the run's plan.
        points: the turns whose usage was read, in order.
        sounded: the turns at which a reminder of the gauge sounded; True where it was the handover.
        resets: the turns whose call was the first one from a new history.
        cuts: the bytes that were cut out of a turn's exchange.

    """

    plan: RunPlan = field(default_factory=RunPlan)
    points: list[Point] = field(default_factory=list)
    sounded: dict[int, bool] = field(default_factory=dict)
    resets: set[int] = field(default_factory=set)
    cuts: dict[int, int] = field(default_factory=dict)

    @property
    def in_percent(self) -> bool:
        """Whether the window was known at every point."""
        return bool(self.points) and all(point.context_tokens for point in self.points)

    def take(self, record: LedgerRecord) -> None:
        """Takes the run's next record."""
        kind = record.WhichOneof("happened")
        if kind == "run_started":
            self.plan = record.run_started.plan
        elif kind == "run_forked":
            self.plan = record.run_forked.plan
        elif kind == "usage_observed":
            self._observed(record.usage_observed)
        elif kind == "call_prepared":
            self._reset(record.call_prepared.turn, record.call_prepared.window_reset)
        elif kind == "window_reset":
            self._reset(record.window_reset.turn, not record.window_reset.taken_back)
        elif kind == "exchange_compacted":
            dropped = sum(verdict.dropped_bytes for verdict in record.exchange_compacted.verdicts)
            if dropped:
                self.cuts[record.exchange_compacted.turn] = dropped

    def _observed(self, observed: UsageObserved) -> None:
        if observed.HasField("usage"):
            reading = observed.reading
            self.points.append(Point(observed.turn, reading.used_tokens, reading.context_tokens))
        if observed.HasField("reminder"):
            self.sounded[observed.turn] = observed.reminder.kind == INSERTION_KIND_HANDOVER
        if observed.opens_window:
            self.resets.add(observed.turn)

    def _reset(self, turn: int, told: bool) -> None:
        (self.resets.add if told else self.resets.discard)(turn)


async def curve_of(records: AsyncIterable[LedgerRecord]) -> Curve:
    """The curve of a run with these records."""
    curve = Curve()
    async for record in records:
        curve.take(record)
    return curve
