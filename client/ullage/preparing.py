"""PrepareCall: what a run remembers between its calls, so that each durable insertion comes to stand once.

Rule (rules.md 3): what was given stands in the history that the next call is made from, or it came to stand
nowhere, and then that call names it and it is given again. A reminder of the gauge is placed by the next call.
While a turn is prepared again, what was given for it is placed as before. Of the texts that tell how things stand
now, the session context and the notice, an older one is worth no place beside a newer one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .answers import Insertion, insertion_of
from .histories import History
from .v1 import insertion_pb2, run_service_pb2

__all__ = ["PreparedCall"]


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A request as it shall be sent, and the history to go on from.

    Attributes:
        turn: the turn the call will make, from 1.
        step: the call's number within its prompt, from 1.
        request: the messages to send: the caller's, with all insertions in place. For this request alone.
        history: the messages to keep: the caller's, with the durable insertions in place. The reply goes behind
            them. A provider's cache breakpoint belongs on its last message but one, or before: what follows may
            hold what `request` alone has.
        insertions: what was placed, in order.
        dropped: the ids of the registered reminders that had a text for this call and were left out, because all
            texts together exceed the run's `reminders.budget_chars`: those of the lowest priorities.

    """

    turn: int
    step: int
    request: list[Any]
    history: list[Any]
    insertions: tuple[Insertion, ...]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Given:
    """A durable insertion that no history was seen to hold yet: for which turn, and behind how many messages."""

    insertion: Insertion
    turn: int
    since: int


class Given:
    """The durable insertions of a run that are on their way into its history."""

    def __init__(self) -> None:
        self._given: dict[str, _Given] = {}

    def sounded(self, reminder: Insertion) -> None:
        """Notes a reminder of the gauge: turn 0, for no call was given it yet."""
        self._given.setdefault(reminder.id, _Given(reminder, 0, 0))

    def unplaced(self, history: History, turn: int) -> list[str]:
        """The ids of those that came to stand nowhere before `turn`; those that stand are forgotten."""
        for id, one in list(self._given.items()):
            if one.turn != turn and history.holds(one.insertion.text, one.since):
                del self._given[id]
        return [id for id, one in self._given.items() if 0 < one.turn < turn]

    def prepared(
        self,
        history: History,
        turn: int,
        step: int,
        candidates: Iterable[insertion_pb2.Candidate],
        answer: run_service_pb2.PrepareCallResponse,
    ) -> PreparedCall:
        """The call with what was answered to its `candidates`, and with the gauge's reminders, in place."""
        given = {one.id: one for one in map(insertion_of, answer.insertions)}
        waiting = [one.insertion for one in self._given.values() if one.turn in (0, turn)]
        given |= {one.id: one for one in waiting if one.id not in given}
        for id in _overtaken(given.values()):
            del given[id]
            self._given.pop(id, None)
        since = history.tail_at or 0
        for one in given.values():
            if one.lifetime == "durable":
                self._given[one.id] = _Given(one, turn, since)
        placed = list(_in_place(given.values(), history, since))
        lasting = [one for one in placed if one.lifetime == "durable"]
        return PreparedCall(
            turn=turn,
            step=step,
            request=history.with_insertions(placed),
            history=history.with_insertions(lasting),
            insertions=tuple(placed),
            dropped=tuple(_dropped(candidates, answer)),
        )


def _overtaken(given: Iterable[Insertion]) -> list[str]:
    """The ids of those behind which, the oldest first, a newer one tells the same."""
    telling = [one for one in given if one.kind in ("session_context", "notice")]
    newest = {one.kind: one.id for one in telling}
    return [one.id for one in telling if newest[one.kind] != one.id]


def _dropped(
    candidates: Iterable[insertion_pb2.Candidate], answer: run_service_pb2.PrepareCallResponse
) -> Iterator[str]:
    """The ids of those that were asked with a text for this call alone, and are not in the answer."""
    said = {key for one in answer.insertions for key in one.keys}
    for one in candidates:
        speaks = one.lifetime == insertion_pb2.LIFETIME_TRANSIENT and one.text.strip()
        if speaks and f"registered/{one.id}" not in said:
            yield one.id


def _in_place(given: Iterable[Insertion], history: History, since: int) -> Iterator[Insertion]:
    """Those that do not stand there yet, in order: the gauge's first behind the tail, what passes last."""

    def place(one: Insertion) -> int:
        if one.placement == "before_tail":
            return 0
        return 1 if one.kind in ("usage", "handover") else 2

    for one in sorted(given, key=place):
        if one.lifetime != "durable" or not history.holds(one.text, since):
            yield one
