"""The reminders that a harness registers in a run: texts of its own, asked for anew at every call they go with.

Rule (rules.md 7): an edge says when a reminder fires; SESSION_START is said once in a run and stays in the
history, the others are for one request alone. A callback that raises, or has no text to give, is left out of that
call and never breaks it; what it raised is logged once.
"""

import inspect
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .v1 import insertion_pb2

_log = logging.getLogger(__name__)

_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_LABEL = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class Edge(StrEnum):
    """When a reminder fires, by the last message of the request that is no insertion."""

    SESSION_START = "session_start"  #: a user message, before the model or a tool has said anything; once in a run
    PROMPT_START = "prompt_start"  #: a user message
    EVERY_CALL = "every_call"  #: any message
    TOOL_ERROR = "tool_error"  #: a tool's result that is marked as an error


@dataclass(frozen=True, slots=True)
class Moment:
    """The call that a reminder is asked for.

    Attributes:
        run_id: the run's id.
        turn: the turn the call will make, from 1.
        step: the call's number within its prompt, from 1.
        edge: the edge the reminder was registered for.
        messages: the caller's messages, not to be changed.

    """

    run_id: str
    turn: int
    step: int
    edge: Edge
    messages: Sequence[Any]


#: What gives a reminder's text for a call: None or nothing but white space says nothing. An AsyncRun awaits it.
Content = Callable[[Moment], str | Awaitable[str | None] | None]


@dataclass(frozen=True, slots=True)
class _Registered:
    label: str
    edge: Edge
    content: Content
    priority: int


class Reminders:
    """A run's registry of reminders."""

    def __init__(self) -> None:
        self._registered: dict[str, _Registered] = {}
        self._logged: set[str] = set()

    def register(
        self, *, id: str, on: Edge | str, content: Content | str, label: str | None = None, priority: int = 50
    ) -> None:
        """Registers a reminder; one of the same id is replaced.

        Args:
            id: names it within the run, `[A-Za-z0-9._:-]{1,128}`.
            on: the edge at which it fires.
            content: its text, or what gives it for each call, anew: a function of a `Moment`.
            label: the type its tag shows, `[A-Za-z0-9_.-]{1,64}`; None: the id.
            priority: orders those that fire together, highest first; the lowest are dropped where their texts
                exceed the run's budget of characters. A whole number of 32 bits.

        Raises:
            ValueError: `on` is no edge, or `id`, `label` or `priority` is outside of its domain.
            TypeError: `content` is neither a text nor a function.

        """
        label = id if label is None else label
        if not _ID.fullmatch(id):
            raise ValueError(f"the reminder's id is {id!r:.80}; it takes 1 to 128 of A-Z, a-z, 0-9, . _ : and -")
        if not _LABEL.fullmatch(label):
            raise ValueError(
                f"the label of reminder {id} is {label!r:.80}; it takes 1 to 64 of A-Z, a-z, 0-9, _ . and -, and "
                "is the id where none is given"
            )
        if not -(2**31) <= priority < 2**31:
            raise ValueError(f"the priority of reminder {id} is {priority}; it is a whole number of 32 bits")
        if not isinstance(content, str) and not callable(content):
            raise TypeError(f"content is a text, or a function that gives one; not {type(content).__name__}")
        text = content
        give: Content = (lambda moment: text) if isinstance(text, str) else text
        self._registered[id] = _Registered(label, Edge(on), give, priority)

    def remove(self, id: str) -> None:
        """Takes a reminder out; nothing where there is none of that id."""
        self._registered.pop(id, None)

    def firing(
        self, run_id: str, turn: int, step: int, edges: Sequence[Edge], messages: Sequence[Any]
    ) -> Iterator[tuple[insertion_pb2.Candidate, Content, Moment]]:
        """The reminders that fire on `edges`: each as a candidate without a text, and what gives the text."""
        for id, one in list(self._registered.items()):
            if one.edge in edges:
                yield _candidate(id, one), one.content, Moment(run_id, turn, step, one.edge, messages)

    def failed(self, id: str, error: Exception) -> None:
        """Notes that a reminder's content raised; it is logged once."""
        if id not in self._logged:
            self._logged.add(id)
            _log.warning("the reminder %s gave no text and is left out of the call", id, exc_info=error)


def asked(
    reminders: Reminders, run_id: str, turn: int, step: int, edges: Sequence[Edge], messages: Sequence[Any]
) -> list[insertion_pb2.Candidate]:
    """The candidates of a call, each with its text."""
    given = []
    for candidate, content, moment in reminders.firing(run_id, turn, step, edges, messages):
        try:
            text = content(moment)
            if inspect.isawaitable(text):
                raise TypeError("its content is to be awaited, which an AsyncRun does")
            given += _with_text(candidate, text)
        except Exception as error:  # a callback's fault is none of the request's
            reminders.failed(candidate.id, error)
    return given


async def asked_and_awaited(
    reminders: Reminders, run_id: str, turn: int, step: int, edges: Sequence[Edge], messages: Sequence[Any]
) -> list[insertion_pb2.Candidate]:
    """As `asked`; what is to be awaited is."""
    given = []
    for candidate, content, moment in reminders.firing(run_id, turn, step, edges, messages):
        try:
            text = content(moment)
            given += _with_text(candidate, await text if inspect.isawaitable(text) else text)
        except Exception as error:  # as above
            reminders.failed(candidate.id, error)
    return given


def _candidate(id: str, one: _Registered) -> insertion_pb2.Candidate:
    lasting = one.edge is Edge.SESSION_START
    return insertion_pb2.Candidate(
        id=id,
        label=one.label,
        edge=insertion_pb2.Edge.Value(f"EDGE_{one.edge.name}"),
        lifetime=insertion_pb2.LIFETIME_DURABLE if lasting else insertion_pb2.LIFETIME_TRANSIENT,
        priority=one.priority,
    )


def _with_text(candidate: insertion_pb2.Candidate, text: object) -> list[insertion_pb2.Candidate]:
    """The candidate with its text; nothing where there is none. TypeError where it is no text."""
    if text is None:
        return []
    if not isinstance(text, str):
        raise TypeError(f"its content gave {type(text).__name__}, and not a text")
    candidate.text = text
    return [candidate]
