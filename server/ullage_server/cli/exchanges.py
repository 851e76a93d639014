"""The exchanges that a file holds, each turn's with its number.

Rule: a file holds messages (a history, or one exchange of it: JSON lines or an array) or a Claude Code transcript,
told apart by what stands in it. Turns are counted as they are when the file is replayed.
"""

import io
import json
from dataclasses import dataclass
from typing import Any

from ullage.replays import waves_of

from .recordings import RecordingError, read


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """One turn's messages; `whole` says whether each of its calls has a result."""

    turn: int
    messages: list[Any]
    whole: bool


def read_exchanges(raw: bytes) -> list[RecordedExchange]:
    """The exchanges in a file, in order. Raises RecordingError where there are none, or one is malformed."""
    messages = _messages(raw)
    found = _of_history(messages) if messages else _of_transcript(raw)
    if not found:
        raise RecordingError(
            "there is no exchange in it: it is messages in Anthropic's or OpenAI's shape, as JSON lines or an "
            "array, or a Claude Code transcript"
        )
    return found


def chosen(exchanges: list[RecordedExchange], turn: int | None) -> RecordedExchange:
    """The exchange of that turn; None: the last whole one, or the one there is."""
    if turn is None:
        whole = [each for each in exchanges if each.whole]
        return (whole or exchanges)[-1]
    for each in exchanges:
        if each.turn == turn:
            return each
    raise RecordingError(f"it holds no exchange of turn {turn}; its turns are {_listed(exchanges)}")


def _listed(exchanges: list[RecordedExchange]) -> str:
    first, last = exchanges[0].turn, exchanges[-1].turn
    return f"{first} alone" if first == last else f"{first} to {last}"


def _messages(raw: bytes) -> list[dict[str, Any]]:
    """The messages in a file, which are what has a role; empty for a file of another kind."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RecordingError("it holds bytes that are no UTF-8") from None
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = [_parsed(line) for line in text.split("\n")]
    if isinstance(values, dict):
        values = [values]
    return [value for value in values if _has_role(value)] if isinstance(values, list) else []


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _has_role(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def _of_history(messages: list[dict[str, Any]]) -> list[RecordedExchange]:
    try:
        return [
            RecordedExchange(wave.turn, wave.taken.messages, wave.closed)
            for wave in waves_of(messages)
            if wave.turn  # results before any reply are of a turn that is not in the file
        ]
    except (TypeError, ValueError) as error:
        raise RecordingError(str(error)) from None


def _of_transcript(raw: bytes) -> list[RecordedExchange]:
    try:
        calls = read(io.BytesIO(raw)).runs[0].calls
    except RecordingError:
        return []
    return [
        RecordedExchange(turn, call.exchange.messages(), call.exchange.is_whole())
        for turn, call in enumerate(calls, 1)
        if call.exchange is not None
    ]
