"""An exchange in the messages that people hold, and its new texts put back into copies of them.

Rule: what is passed in is never changed, and what comes back differs from it in texts alone. Read are the two
shapes that most harnesses keep, told apart message by message: Anthropic's (content blocks, the results in a
user's message) and OpenAI's (`tool_calls`, and a message of the role `tool` for each result). The reply's text and
the texts of the results go to the server as texts; thinking, tool uses and results as what they are; every other
block under a name that stands for it. What stands in a user's message beside results, and a message's or a text's
other keys, stay here.

A block that the wire has no word for goes as JSON that is the same for the same block: keys in order, None left
out, and without the mark that asks a provider to cache. Of what is no text in a result goes its SHA-256 alone:
the server has no use for an image but to know it again.
"""

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, NamedTuple

from .holders import value_of, with_values
from .plain import plain
from .v1 import exchange_pb2

#: The way to a text: the number of its message, then keys and numbers down to it.
Place = tuple[str | int, ...]

#: A text in an exchange on the wire: whether it is a result's, its block, its part.
Slot = tuple[bool, int, int]

#: How messages are written that can be read, as an error says it.
SHAPES = "in the shape of Anthropic's Messages or OpenAI's Chat Completions, as dicts or SDK objects"
_EXCHANGE = f"an exchange is a list of messages: the assistant's, then those with its tool results, {SHAPES}"

#: How blocks are told that other providers write: OpenAI's Responses by their type, Bedrock's Converse by a key.
_RESPONSES = {"input_text", "output_text", "input_image", "input_file", "input_audio"}
_CONVERSE = ("text", "toolUse", "toolResult", "image", "document")


class Held(NamedTuple):
    """A text's place in the messages, and the tool use that its result answers; None for the reply's own."""

    place: Place
    tool_use_id: str | None


class Taken:
    """The messages of one exchange, copied when they were taken, and what of them goes on the wire.

    Attributes:
        messages: the copies; they are not changed either.
        exchange: the exchange.
        texts: where each text of `exchange` stands in `messages`.

    """

    def __init__(self) -> None:
        self.messages: list[object] = []
        self.exchange = exchange_pb2.Exchange()
        self.texts: dict[Slot, Held] = {}

    def reply(self, message: object) -> None:
        """Takes the assistant's message."""
        message, at = self._copied(message)
        for number, (block, place) in enumerate(_reply(message, at)):
            if place is not None:
                self.texts[False, number, 0] = Held(place, None)
            self.exchange.assistant.append(block)

    def results(self, message: object) -> bool:
        """Takes a message that may hold tool results; whether there are any in it."""
        before = len(self.exchange.results)
        message, at = self._copied(message)
        for number, (result, places) in enumerate(_results(message, at), before):
            for part, place in places.items():
                self.texts[True, number, part] = Held(place, result.tool_use_id)
            self.exchange.results.append(exchange_pb2.Block(tool_result=result))
        return len(self.exchange.results) > before

    def with_texts(self, texts: Mapping[Slot, str]) -> list[Any]:
        """The messages with these texts in place of their own."""
        changes: dict[str | int, Any] = {}
        for slot, text in texts.items():
            *way, last = self.texts[slot].place
            branch = changes
            for key in way:
                branch = branch.setdefault(key, {})
            branch[last] = text
        changed: list[Any] = _changed(self.messages, changes)
        return changed

    def _copied(self, message: object) -> tuple[object, Place]:
        message = copy.deepcopy(message)
        self.messages.append(message)
        return message, (len(self.messages) - 1,)


def taken(messages: Sequence[object]) -> Taken:
    """The exchange that `messages` hold. Raises TypeError or ValueError where they hold none."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        raise TypeError(f"{_EXCHANGE}; not {type(messages).__name__}")
    try:
        return _taken(messages)
    except RecursionError:
        raise TypeError(f"{_EXCHANGE}; not an object that nests without end") from None


def _taken(messages: Sequence[object]) -> Taken:
    found = Taken()
    for number, message in enumerate(messages):
        role = role_of(message, number)
        if (role == "assistant") is not (number == 0):
            raise ValueError(
                f"message {number} is of the role {role!r}; {_EXCHANGE}: one reply, and it comes first"
            )
        if role == "assistant":
            found.reply(message)
        elif role in ("user", "tool"):
            found.results(message)
        else:
            raise ValueError(f"message {number} is of the role {role!r}, which no exchange holds; {_EXCHANGE}")
    return found


def role_of(message: object, number: int, takes: str = _EXCHANGE) -> str:
    """The role of a message, which is number `number` of the list (from 0).

    Raises TypeError, with what the caller `takes`, where it has none or is in the shape of another provider's.
    """
    role = value_of(message, "role")
    if not isinstance(role, str):
        raise TypeError(f"message {number} ({type(message).__name__}) has no role; {takes}")
    if whose := _foreign(message):
        raise TypeError(f"message {number} is in the shape of {whose}; {takes}")
    return role


def _foreign(message: object) -> str | None:
    """Whose shape a message is in that is not read here; None where it may be read."""
    content = value_of(message, "content")
    if content is None and value_of(message, "parts") is not None:
        return "Gemini's contents (`parts`)"
    for block in content if isinstance(content, Sequence) and not isinstance(content, str | bytes) else ():
        kind = value_of(block, "type")
        if kind in _RESPONSES:
            return f"OpenAI's Responses (`{kind}`)"
        if kind is None and any(value_of(block, key) is not None for key in _CONVERSE):
            return "Bedrock's Converse (blocks without a `type`)"
    return None


def _reply(message: object, at: Place) -> Iterator[tuple[exchange_pb2.Block, Place | None]]:
    """The blocks of an assistant's message, and the place of each that is a text."""
    content, there = value_of(message, "content"), (*at, "content")
    if isinstance(content, str):
        yield _text(content, there), there
    else:
        for number, block in enumerate(_items(content, there)):
            kind, place = value_of(block, "type"), (*there, number)
            if kind == "text" and isinstance(value_of(block, "text"), str):
                yield _text(value_of(block, "text"), (*place, "text")), (*place, "text")
            else:
                yield _untouched(kind, block, place), None
    calls = (*at, "tool_calls")
    for number, call in enumerate(_items(value_of(message, "tool_calls"), calls)):
        yield exchange_pb2.Block(tool_use=_tool_call(call, (*calls, number))), None


def _text(text: object, place: Place) -> exchange_pb2.Block:
    return exchange_pb2.Block(text=exchange_pb2.Text(text=_string(text, place)))


def _untouched(kind: object, block: object, place: Place) -> exchange_pb2.Block:
    """A block of a reply that is no text."""
    if kind == "tool_use":
        use = exchange_pb2.ToolUse(
            id=_named(block, "id", place),
            name=_named(block, "name", place),
            input_json=_json(plain(value_of(block, "input"))),
        )
        return exchange_pb2.Block(tool_use=use)
    if kind == "redacted_thinking":
        data = _named(block, "data", place).encode()
        return exchange_pb2.Block(redacted_thinking=exchange_pb2.RedactedThinking(data=data))
    if kind in ("thinking", "reasoning"):
        # What stands before it is bound to it, however a provider writes the rest of it.
        thought = value_of(block, "thinking")
        return exchange_pb2.Block(
            thinking=exchange_pb2.Thinking(
                text=_string(thought, (*place, "thinking")) if isinstance(thought, str) else _canonical(block),
                signature=_named(block, "signature", place).encode(),
            )
        )
    if kind == "image":
        return exchange_pb2.Block(image=_attachment(block))
    name = kind if isinstance(kind, str) else ""
    return exchange_pb2.Block(opaque=exchange_pb2.Opaque(type=_string(name, place), json=_canonical(block)))


def _tool_call(call: object, place: Place) -> exchange_pb2.ToolUse:
    """One of OpenAI's tool calls: of a function, or of a tool with an input of its own kind."""
    called = value_of(call, "function") or value_of(call, "custom")
    given = value_of(called, "arguments" if value_of(call, "function") else "input")
    return exchange_pb2.ToolUse(
        id=_named(call, "id", place),
        name=_named(called, "name", place),
        input_json=_string(given, place) if isinstance(given, str) else _json(plain(given)),
    )


def _results(message: object, at: Place) -> Iterator[tuple[exchange_pb2.ToolResult, dict[int, Place]]]:
    """The tool results of a message, each with the places of its texts by the number of their part."""
    if value_of(message, "role") == "tool":
        yield _result(message, "tool_call_id", at)
        return
    content, there = value_of(message, "content"), (*at, "content")
    if isinstance(content, str):
        return
    for number, block in enumerate(_items(content, there)):
        if value_of(block, "type") == "tool_result":
            yield _result(block, "tool_use_id", (*there, number))


def _result(holder: object, named: str, at: Place) -> tuple[exchange_pb2.ToolResult, dict[int, Place]]:
    result = exchange_pb2.ToolResult(
        tool_use_id=_named(holder, named, at), is_error=value_of(holder, "is_error") is True
    )
    content, there = value_of(holder, "content"), (*at, "content")
    if isinstance(content, str):
        result.parts.append(exchange_pb2.Part(text=_string(content, there)))
        return result, {0: there}
    places = {}
    for number, part in enumerate(_items(content, there)):
        text, place = value_of(part, "text"), (*there, number, "text")
        if value_of(part, "type") == "text" and isinstance(text, str):
            places[number] = place
            result.parts.append(exchange_pb2.Part(text=_string(text, place)))
        else:
            result.parts.append(exchange_pb2.Part(attachment=_attachment(part)))
    return result, places


def _attachment(part: object) -> exchange_pb2.Attachment:
    media_type = value_of(value_of(part, "source"), "media_type")
    digest = hashlib.sha256(_canonical(part).encode()).hexdigest()
    return exchange_pb2.Attachment(
        media_type=media_type if isinstance(media_type, str) and media_type.isascii() else "",
        reference=f"sha256:{digest}",
    )


def _items(value: object, place: Place) -> Sequence[object]:
    if value is None:
        return ()
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        raise TypeError(f"{_shown(place)} is {type(value).__name__}; it is a text or a list of blocks")
    return value


def _named(holder: object, name: str, place: Place) -> str:
    value = value_of(holder, name)
    return "" if value is None else _string(value, (*place, name))


def _string(value: object, place: Place) -> str:
    """`value`, which can be sent; TypeError where it is no text, ValueError where no UTF-8 holds it."""
    if not isinstance(value, str):
        raise TypeError(f"{_shown(place)} is {type(value).__name__}; it is a text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{_shown(place)} holds half of a character (a lone surrogate, \\u{ord(value[error.start]):04x}), "
            "which no UTF-8 holds: replace it where the text is made"
        ) from None
    return value


def _shown(place: Place) -> str:
    return f"message {place[0]}" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place[1:])


def _canonical(block: object) -> str:
    """A block as JSON, the same for the same block, from whichever SDK or file it comes."""
    return _json(_without_marks(plain(block)))


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _without_marks(value: object) -> object:
    if isinstance(value, dict):
        return {
            key: _without_marks(held) for key, held in value.items() if held is not None and key != "cache_control"
        }
    return [_without_marks(held) for held in value] if isinstance(value, list) else value


def _changed(value: Any, changes: Any) -> Any:
    """A copy of `value` with what `changes` says of its parts; those that it does not name are shared."""
    if isinstance(changes, str):
        return changes
    if isinstance(value, tuple):
        parts = [_changed(part, changes[key]) if key in changes else part for key, part in enumerate(value)]
        return tuple(parts)
    if isinstance(value, MutableMapping | MutableSequence):
        changed = copy.copy(value)
        for key, change in changes.items():
            changed[key] = _changed(changed[key], change)
        return changed
    return with_values(value, {name: _changed(getattr(value, name), change) for name, change in changes.items()})
