"""CompactExchange: a turn's exchange as asked about, and what the service says of it.

Rule: asked for are the edits alone, for the texts are here already; what comes back are copies of the caller's
messages in which the cut texts stand in the places of their sources. Unknown is not 0: a text about which nothing
had to be decided has no class.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .answers import enum_word
from .messages import Slot, Taken
from .v1 import exchange_pb2, run_service_pb2

__all__ = ["CompactedExchange", "TextVerdict"]


@dataclass(frozen=True, slots=True)
class TextVerdict:
    """What was decided on one text of an exchange.

    Attributes:
        place: where the text stands in the messages: the number of its message, from 0, then the keys and numbers
            down to it, as `(1, "content", 0, "content", 2, "text")`.
        tool_use_id: the tool use whose result it is of; None for a text of the reply.
        content: what the text was found to be: "prose", "code", "diff", "log", "structured", "table", "markup" or
            "unknown"; None where nothing had to be decided, for it was within its share.
        outcome: "kept" (as it was), "cut", "must_offload" (beyond its share and left whole, because half of it
            would be worse than none: store it elsewhere), or "bound" (beyond its share and left whole, because a
            later thinking block of the reply is bound to it).
        source_bytes: its length before, in bytes of UTF-8, above 0.
        result_bytes: its length after, markers included, never more than before.
        dropped_bytes: the bytes that were taken out of it.

    """

    place: tuple[str | int, ...]
    tool_use_id: str | None
    content: str | None
    outcome: str
    source_bytes: int
    result_bytes: int
    dropped_bytes: int


@dataclass(frozen=True, slots=True)
class CompactedExchange:
    """A turn's exchange as it shall stand in the history.

    Attributes:
        turn: the turn, from 1.
        messages: the messages in the shape they came in, all of them new objects, with only texts changed.
        verdicts: what was decided on each text that is not empty: the reply's in order, then the results'.
        source_bytes: the length of all texts before, in bytes of UTF-8.
        result_bytes: the length of all texts after.
        over_budget: whether that is still more than the run's budget; then see `must_offload`.
        digest: the SHA-256 of the exchange that came out, as it stands on the wire, 32 bytes.
        replayed: whether this exchange had been compacted before; the answer is the same.

    """

    turn: int
    messages: list[Any]
    verdicts: tuple[TextVerdict, ...]
    source_bytes: int
    result_bytes: int
    over_budget: bool
    digest: bytes
    replayed: bool

    @property
    def dropped_bytes(self) -> int:
        """The bytes that were taken out of all texts."""
        return sum(verdict.dropped_bytes for verdict in self.verdicts)

    @property
    def must_offload(self) -> tuple[TextVerdict, ...]:
        """The texts beyond their share that were left whole and should be stored elsewhere."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome == "must_offload")


def compacted_of(answer: run_service_pb2.CompactExchangeResponse, turn: int, taken: Taken) -> CompactedExchange:
    """The answer to the exchange that was taken."""
    return CompactedExchange(
        turn=turn,
        messages=taken.with_texts({_slot(edit): edit.text for edit in answer.edits}),
        verdicts=verdicts_of(answer.verdicts, taken),
        source_bytes=answer.source_bytes,
        result_bytes=answer.result_bytes,
        over_budget=answer.over_budget,
        digest=answer.digest,
        replayed=answer.replayed,
    )


def verdicts_of(verdicts: Iterable[exchange_pb2.TextVerdict], taken: Taken) -> tuple[TextVerdict, ...]:
    """What was decided on the texts that were taken."""
    return tuple(
        TextVerdict(
            place=taken.texts[_slot(verdict)].place,
            tool_use_id=taken.texts[_slot(verdict)].tool_use_id,
            content=enum_word(exchange_pb2.ContentClass.DESCRIPTOR, verdict.content) if verdict.content else None,
            outcome=enum_word(exchange_pb2.TextOutcome.DESCRIPTOR, verdict.outcome),
            source_bytes=verdict.source_bytes,
            result_bytes=verdict.result_bytes,
            dropped_bytes=verdict.dropped_bytes,
        )
        for verdict in verdicts
    )


def _slot(named: exchange_pb2.Edit | exchange_pb2.TextVerdict) -> Slot:
    return named.in_results, named.block, named.part
