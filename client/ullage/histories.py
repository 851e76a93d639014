"""A history of messages before a call: what stands last in it, and where insertions go.

Rule (rules.md 7): the tail is the last message that is no insertion. What goes before it goes before a user's
words, what goes after it after a wave of tool results, so that a call and its results stay together. An insertion
joins the user's message as a text of its own, for some providers refuse two user messages in a row; behind
OpenAI's tool messages, and behind an assistant's, it is a user's message. What is passed in is never changed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .answers import Insertion
from .holders import value_of, with_values
from .messages import SHAPES, role_of
from .reminders import Edge
from .v1 import insertion_pb2

#: What an insertion's text is, whole: so it is known again in a history that another process wrote.
_INSERTED = re.compile(
    r"\[context\] \d+% of the window used \(\d+ of \d+ input tokens\)\.[^\n]*"
    r"|Context window: \S+ / \S+ tokens used \(\d+%\)"
    r"|\[time\] [^\n]{1,40} left"
    r"|<agent-context>\n.*\n</agent-context>"
    r"|<system_reminder>\n.*\n</system_reminder>",
    re.DOTALL,
)
_SESSION = "\nsession: "
_TAKES = f"messages is a list of messages {SHAPES}"


class History:
    """The messages before a call.

    Attributes:
        messages: the caller's messages.
        tail_at: the number of the tail, from 0; None where there is none.
        tail: the tail as the wire tells of it.
        step: the call's number within its prompt, from 1.

    """

    def __init__(self, messages: Sequence[Any]) -> None:
        """Raises TypeError where they are no messages, or another provider's."""
        if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
            raise TypeError(f"{_TAKES}; not {type(messages).__name__}")
        self.messages = messages
        self._roles = [_part(message, number) for number, message in enumerate(messages)]
        said = [number for number, role in enumerate(self._roles) if role in ("user", "assistant", "tool")]
        self.tail_at = said[-1] if said else None
        self.tail = insertion_pb2.Tail(
            history_has_model_output=any(r in ("assistant", "tool") for r in self._roles)
        )
        if self.tail_at is not None:
            role = self._roles[self.tail_at]
            self.tail.role = _TAILS[role]
            self.tail.is_error = role == "tool" and _is_error(messages[self.tail_at])
        prompts = [number for number in said if self._roles[number] == "user"]
        since = prompts[-1] if prompts else 0
        self.step = 1 + self._roles[since : self.tail_at].count("assistant")

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges that a call with this tail is on."""
        if self.tail_at is None:
            return ()
        if self.tail.role == insertion_pb2.TAIL_ROLE_TOOL_RESULT and self.tail.is_error:
            return Edge.EVERY_CALL, Edge.TOOL_ERROR
        if self.tail.role != insertion_pb2.TAIL_ROLE_USER:
            return (Edge.EVERY_CALL,)
        if self.tail.history_has_model_output:
            return Edge.EVERY_CALL, Edge.PROMPT_START
        return Edge.EVERY_CALL, Edge.PROMPT_START, Edge.SESSION_START

    def holds(self, text: str, since: int = 0) -> bool:
        """Whether an insertion's `text` stands in a message from number `since` on."""
        return any(text in held for message in self.messages[since:] for held in _texts(message))

    def holds_session(self, session_id: str) -> bool:
        """Whether a session context with that id stands behind the last summary."""
        summaries = [number for number, message in enumerate(self.messages) if _is_summary(message)]
        since = summaries[-1] + 1 if summaries else 0
        named = f"{_SESSION}{session_id}\n"
        return any(
            _INSERTED.fullmatch(text) and named in text
            for message in self.messages[since:]
            for text in _texts(message)
        )

    def with_insertions(self, insertions: Iterable[Insertion]) -> list[Any]:
        """The messages with these insertions in place, in their order."""
        placed = list(self.messages)
        given = list(insertions)
        before = [one.text for one in given if one.placement == "before_tail"]
        after = [one.text for one in given if one.placement != "before_tail"]
        at = self.tail_at
        if not given:
            return placed
        if at is not None and value_of(placed[at], "role") == "user":
            if self._roles[at] == "tool":
                before, after = [], before + after
            placed[at] = _joined(placed[at], before, after)
        elif at is not None and at + 1 < len(placed) and self._roles[at + 1] == "insertion":
            placed[-1] = _joined(placed[-1], [], before + after)
        else:
            placed.append(_user_message(before + after))
        return placed


_TAILS: dict[str, insertion_pb2.TailRole.ValueType] = {
    "user": insertion_pb2.TAIL_ROLE_USER,
    "assistant": insertion_pb2.TAIL_ROLE_ASSISTANT,
    "tool": insertion_pb2.TAIL_ROLE_TOOL_RESULT,
}


def _part(message: object, number: int) -> str:
    """What a message is here: "user", "assistant", "tool", "insertion", or "" for what no model or user said."""
    role = role_of(message, number, _TAKES)
    if role in ("tool", "function"):
        return "tool"
    if role != "user":
        return "assistant" if role == "assistant" else ""
    blocks = _blocks(message)
    if any(value_of(block, "type") == "tool_result" for block in blocks):
        return "tool"
    content = value_of(message, "content")
    texts = [content] if isinstance(content, str) else [value_of(block, "text") for block in blocks]
    ours = bool(texts) and all(isinstance(text, str) and _INSERTED.fullmatch(text) for text in texts)
    return "insertion" if ours else "user"


def _is_error(message: object) -> bool:
    holders = [message, *_blocks(message)]
    return any(value_of(holder, "is_error") is True for holder in holders)


def _is_summary(message: object) -> bool:
    """Whether a message stands for the history before it, in the words of those harnesses that keep both."""
    if value_of(message, "role") in ("summary", "compactionSummary"):
        return True
    return any(value_of(message, name) is True for name in ("isCompactSummary", "is_compact_summary"))


def _blocks(message: object) -> Sequence[object]:
    content = value_of(message, "content")
    return content if isinstance(content, Sequence) and not isinstance(content, str | bytes) else ()


def _texts(message: object) -> Iterator[str]:
    """The texts of a message that are its own, and no tool's."""
    content = value_of(message, "content")
    if isinstance(content, str):
        yield content
    for block in _blocks(message):
        text = value_of(block, "text")
        if isinstance(text, str):
            yield text


def _joined(message: object, before: Iterable[str], after: Iterable[str]) -> Any:
    """A copy of a user's message with these texts around what it holds."""
    content = value_of(message, "content")
    own = list(_blocks(message)) if not isinstance(content, str) else [_text(content)] if content else []
    return with_values(message, {"content": [*map(_text, before), *own, *map(_text, after)]})


def _user_message(texts: Sequence[str]) -> dict[str, Any]:
    return {"role": "user", "content": texts[0] if len(texts) == 1 else list(map(_text, texts))}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
