"""Readings and insertions."""

from typing import cast

from ullage.v1 import insertion_pb2, reading_pb2, run_pb2

from ..core.domain import MAX_INT32
from ..core.gauge import Reading, Sounded
from ..core.insertion import Insertion


def reading_to(reading: Reading) -> reading_pb2.ContextReading:
    """A reading as the wire shows it; the percent is capped at what an int32 holds."""
    percent = reading.percent
    return reading_pb2.ContextReading(
        turn=reading.turn,
        used_tokens=reading.used_tokens,
        context_tokens=reading.context_tokens,
        percent=None if percent is None else min(percent, MAX_INT32),
        remaining_tokens=reading.remaining_tokens,
        projected_tokens=reading.projected_tokens,
        window_exceeded=reading.window_exceeded,
        stale=reading.stale,
        counted_as=reading.counted_as,
    )


def insertion_to(insertion: Insertion) -> insertion_pb2.Insertion:
    """An insertion as the wire shows it."""
    return insertion_pb2.Insertion(
        id=insertion.id,
        keys=insertion.keys,
        kind=cast("insertion_pb2.InsertionKind.ValueType", insertion.kind.value),
        placement=cast("insertion_pb2.Placement.ValueType", insertion.placement.value),
        lifetime=cast("insertion_pb2.Lifetime.ValueType", insertion.lifetime.value),
        text=insertion.text,
        estimated_tokens=insertion.estimated_tokens,
    )


def sounded_to(sounded: Sounded) -> run_pb2.Sounded.ValueType:
    """What has sounded as the wire shows it."""
    return cast("run_pb2.Sounded.ValueType", sounded)
