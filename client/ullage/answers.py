"""What the service answers, as values to read: frozen, typed, with None for what is unknown.

Rule: unknown is not 0. What may be absent on the wire is None here; enum values are their lower-case names
without the prefix.
"""

from dataclasses import dataclass
from enum import StrEnum

from google.protobuf.descriptor import EnumDescriptor

from .v1 import insertion_pb2, reading_pb2, run_pb2, run_service_pb2


class Sounded(StrEnum):
    """The highest threshold that has sounded in a run. It never goes back, except at a window reset in a run
    that rearms "per_window".
    """

    NOTHING = "nothing"  #: no threshold has sounded
    FIRST = "first"  #: the first one, 30 percent
    HANDOVER = "handover"  #: the second one, 65 percent where the ladder does not move it


@dataclass(frozen=True, slots=True)
class Reading:
    """How full a run's window was at its last call that reported usage.

    Attributes:
        turn: the turn whose report was read, from 1.
        used_tokens: the tokens of that call's whole prompt as the provider counted them, cached ones
            included, 1 to 2^53 - 1. Never an estimate.
        context_tokens: the window's width in tokens, up to 2^53 - 1; 0 where it is unknown.
        percent: used_tokens in whole percent of context_tokens, rounded down, at most 2^31 - 1; None where the
            window is unknown.
        remaining_tokens: what is left of the window in tokens, never below 0; None where it is unknown.
        projected_tokens: the prompt to expect of the next call in tokens: used_tokens and what the model
            wrote; None where the output is unknown.
        window_exceeded: whether used_tokens is more than a known window.
        stale: whether the window was reset since, so that the reading no longer tells how full it is.
        counted_as: the formula behind used_tokens in the provider's words.

    """

    turn: int
    used_tokens: int
    context_tokens: int
    percent: int | None
    remaining_tokens: int | None
    projected_tokens: int | None
    window_exceeded: bool
    stale: bool
    counted_as: str


@dataclass(frozen=True, slots=True)
class Insertion:
    """A text to put into the request that goes to the model. Place an id once.

    Attributes:
        id: TURN/KEY, unique in the run; the same id again is the same insertion.
        keys: what speaks here, as `context/first` or `context/handover`.
        kind: "usage" (the first threshold), "handover" (the second), "notice", "time_budget",
            "session_context" or "registered".
        placement: "before_tail" or "after_tail"; the tail is the last message that is no insertion.
        lifetime: "durable" (it stays in the history) or "transient" (for one request alone).
        text: the text, never empty.
        estimated_tokens: a rough count of its tokens. The gauge never uses it.

    """

    id: str
    keys: tuple[str, ...]
    kind: str
    placement: str
    lifetime: str
    text: str
    estimated_tokens: int


@dataclass(frozen=True, slots=True)
class Observation:
    """What the service says to a report.

    Attributes:
        reminder: a threshold's reminder, to be placed after the turn's tool results, or before the next user
            message where there are none; it stays in the history. None where there is nothing to say.
        reading: how full the window is; None while nothing has been read.
        sounded: the highest threshold that has sounded.
        replayed: whether this report had been recorded before; then the rest is the answer given at that time.

    """

    reminder: Insertion | None
    reading: Reading | None
    sounded: Sounded
    replayed: bool


_SOUNDED = {
    run_pb2.SOUNDED_FIRST: Sounded.FIRST,
    run_pb2.SOUNDED_HANDOVER: Sounded.HANDOVER,
}


def observation_of(answer: run_service_pb2.ObserveUsageResponse) -> Observation:
    """The answer to a report."""
    return Observation(
        reminder=insertion_of(answer.reminder) if answer.HasField("reminder") else None,
        reading=reading_of(answer.reading) if answer.HasField("reading") else None,
        sounded=sounded_of(answer.sounded),
        replayed=answer.replayed,
    )


def sounded_of(sounded: run_pb2.Sounded.ValueType) -> Sounded:
    """What has sounded."""
    return _SOUNDED.get(sounded, Sounded.NOTHING)


def reading_of(reading: reading_pb2.ContextReading) -> Reading:
    """A reading."""
    return Reading(
        turn=reading.turn,
        used_tokens=reading.used_tokens,
        context_tokens=reading.context_tokens,
        percent=reading.percent if reading.HasField("percent") else None,
        remaining_tokens=reading.remaining_tokens if reading.HasField("remaining_tokens") else None,
        projected_tokens=reading.projected_tokens if reading.HasField("projected_tokens") else None,
        window_exceeded=reading.window_exceeded,
        stale=reading.stale,
        counted_as=reading.counted_as,
    )


def insertion_of(insertion: insertion_pb2.Insertion) -> Insertion:
    """An insertion."""
    return Insertion(
        id=insertion.id,
        keys=tuple(insertion.keys),
        kind=enum_word(insertion_pb2.InsertionKind.DESCRIPTOR, insertion.kind),
        placement=enum_word(insertion_pb2.Placement.DESCRIPTOR, insertion.placement),
        lifetime=enum_word(insertion_pb2.Lifetime.DESCRIPTOR, insertion.lifetime),
        text=insertion.text,
        estimated_tokens=insertion.estimated_tokens,
    )


def enum_word(words: EnumDescriptor, number: int) -> str:
    """An enum value's name in lower case without its prefix; a value of a newer server is its number."""
    value = words.values_by_number.get(number)
    if value is None:
        return str(number)
    prefix = words.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return str(value.name.removeprefix(prefix).lower())
