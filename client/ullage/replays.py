"""ReplayExchanges: a history of messages, cut into exchanges and sent in batches, and what comes out of each.

Rule (rules.md 9): a reply and the results that follow it are one exchange, whole when as many results as calls are
in. Nothing is recorded, so a batch may be sent again; a batch is one call, with the client's deadline. It ends
only behind a closed wave, so that each exchange is judged as if the history came in one stream. Prompts, and what
else a history holds beside replies and results, are passed over.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .exchanges import TextVerdict, verdicts_of
from .messages import Slot, Taken, role_of
from .v1 import exchange_pb2, run_service_pb2

__all__ = ["DroppedHalfWave", "ReplayedExchange"]

#: A batch is sent when it has more bytes than this: far from what a call has time for, and more than a call costs.
_BATCH_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class ReplayedExchange:
    """A turn's exchange as it comes out of its history.

    Attributes:
        turn: the turn, from 1.
        messages: the reply and the messages with its results, in the shape they came in, all of them new objects,
            with only texts changed.
        verdicts: what was decided on each text that is not empty; none where `wave_incomplete`.
        digest: the SHA-256 of the exchange that came out, as it stands on the wire, 32 bytes.
        wave_incomplete: whether the results did not answer the calls one by one; the exchange is then as it was.
        matches_ledger: whether the run's ledger holds the same for this turn; None where no run was named, or its
            ledger holds nothing for the turn.

    """

    turn: int
    messages: list[Any]
    verdicts: tuple[TextVerdict, ...]
    digest: bytes
    wave_incomplete: bool
    matches_ledger: bool | None


@dataclass(frozen=True, slots=True)
class DroppedHalfWave:
    """A last turn in whose wave the history ends: it is left out.

    Attributes:
        turn: the turn, from 1.

    """

    turn: int


class Wave:
    """A reply and the results that have come for it; results that came out of place have turn 0."""

    def __init__(self, turn: int) -> None:
        self.turn = turn
        self.taken = Taken()
        self._calls = 0

    def reply(self, message: object) -> None:
        """Takes the reply."""
        self.taken.reply(message)
        self._calls = sum(block.WhichOneof("content") == "tool_use" for block in self.taken.exchange.assistant)

    @property
    def closed(self) -> bool:
        """Whether as many results as calls are in."""
        return len(self.taken.exchange.results) >= self._calls

    def records(self) -> Iterator[run_service_pb2.ReplayExchangesRequest]:
        """The wave as the wire has it."""
        exchange = self.taken.exchange
        if self.turn:
            reply = run_service_pb2.ModelReturned(turn=self.turn, blocks=exchange.assistant, calls=self._calls)
            yield run_service_pb2.ReplayExchangesRequest(model_returned=reply)
        for result in exchange.results:
            yield run_service_pb2.ReplayExchangesRequest(tool_result=result)


def waves_of(records: Iterable[object]) -> Iterator[Wave]:
    """The exchanges of a history, each when it is closed, or broken off by the next reply or the end.

    Raises TypeError or ValueError for a record that is none, and ValueError for turns that do not rise.
    """
    wave: Wave | None = None
    turn = 0
    for number, record in enumerate(records):
        stated, message = _numbered(record)
        role = role_of(message, number)
        if role == "assistant":
            if wave is not None:
                yield wave
            if stated is not None and stated <= turn:
                raise ValueError(
                    f"message {number} is turn {stated} after turn {turn}; the turns of a history rise"
                )
            turn = turn + 1 if stated is None else stated
            wave = Wave(turn)
            wave.reply(message)
        elif role in ("tool", "user"):
            into = wave or Wave(0)
            if not into.taken.results(message):
                into.taken.messages.pop()  # a prompt
                continue
            wave = into
        else:
            continue
        if wave.closed:
            yield wave
            wave = None
    if wave is not None:
        yield wave


def batches(
    start: run_service_pb2.ReplayStart, records: Iterable[object]
) -> Iterator[tuple[list[Wave], list[run_service_pb2.ReplayExchangesRequest]]]:
    """The exchanges of a history in batches, each with its requests; at least one."""
    waves: list[Wave] = []
    size, sent = 0, False
    for wave in waves_of(records):
        waves.append(wave)
        size += wave.taken.exchange.ByteSize()
        if size > _BATCH_BYTES and wave.closed:
            yield waves, _requests(start, waves)
            waves, size, sent = [], 0, True
    if waves or not sent:
        yield waves, _requests(start, waves)


def replayed_of(
    waves: Iterable[Wave], answers: Iterable[run_service_pb2.ReplayExchangesResponse]
) -> Iterator[ReplayedExchange | DroppedHalfWave]:
    """What came of each exchange of a batch."""
    for wave, answer in zip(waves, answers, strict=True):
        if answer.HasField("dropped_half_wave"):
            yield DroppedHalfWave(answer.dropped_half_wave.turn)
            continue
        told = answer.exchange
        yield ReplayedExchange(
            turn=told.turn,
            messages=wave.taken.with_texts(_new_texts(wave.taken, told.exchange)),
            verdicts=verdicts_of(told.verdicts, wave.taken),
            digest=told.digest,
            wave_incomplete=told.wave_incomplete,
            matches_ledger=told.matches_ledger if told.HasField("matches_ledger") else None,
        )


def _numbered(record: object) -> tuple[int | None, object]:
    """The turn that a record states, None for none, and its message."""
    if isinstance(record, tuple) and len(record) == 2 and type(record[0]) is int:
        return record
    return None, record


def _requests(
    start: run_service_pb2.ReplayStart, waves: Iterable[Wave]
) -> list[run_service_pb2.ReplayExchangesRequest]:
    first = run_service_pb2.ReplayExchangesRequest(start=start)
    return [first, *(record for wave in waves for record in wave.records())]


def _new_texts(taken: Taken, exchange: exchange_pb2.Exchange) -> dict[Slot, str]:
    """The texts of `exchange` that are not those that were taken."""
    texts = {}
    for slot in taken.texts:
        before, after = _text(taken.exchange, slot), _text(exchange, slot)
        if before != after:
            texts[slot] = after
    return texts


def _text(exchange: exchange_pb2.Exchange, slot: Slot) -> str:
    in_results, block, part = slot
    if in_results:
        return exchange.results[block].tool_result.parts[part].text
    return exchange.assistant[block].text.text
