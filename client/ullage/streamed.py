"""What a stream of answers tells, and where it goes on when it breaks.

Rule: each answer says how to ask for what comes behind it, so a stream that breaks is taken up again and nothing
is missed. Of a run's ledger each record is told once; of a watch (see `watching`) a run may be told twice.
"""

from collections.abc import Iterator
from typing import Any, Protocol, TypeVar

from .requests import Asked
from .v1 import ledger_pb2, run_service_pb2

_Event = TypeVar("_Event", covariant=True)


class Streamed(Protocol[_Event]):
    """A stream of events, over as many calls as it takes."""

    asked: Asked[Any]
    """What to ask for next."""

    def heard(self, answer: Any) -> Iterator[_Event]:
        """The events of an answer; notes how to go on behind it."""
        ...


class LedgerReading:
    """A run's records, from a position on."""

    def __init__(self, asked: Asked[run_service_pb2.ReadLedgerRequest]) -> None:
        self.asked = asked

    def heard(self, answer: run_service_pb2.ReadLedgerResponse) -> Iterator[ledger_pb2.LedgerRecord]:
        """The record."""
        self.asked.request.from_position = answer.record.position + 1
        yield answer.record
