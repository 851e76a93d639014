"""A call's exchange, put together from the lines of a transcript.

Rule: a transcript has a line for each block of a reply, and one for each tool's result. A line told twice is one;
a result belongs to the call that asked for it, wherever it stands.
"""

from typing import Any


class Gathered:
    """The blocks of one reply, and the results that came for its tool uses."""

    def __init__(self) -> None:
        self._reply: list[dict[str, Any]] = []
        self._results: dict[str, dict[str, Any] | None] = {}

    def is_whole(self) -> bool:
        """Whether there is a reply, and each tool use in it has a result."""
        return bool(self._reply) and None not in self._results.values()

    def messages(self) -> list[dict[str, Any]]:
        """The exchange in Anthropic's shape."""
        results = [result for result in self._results.values() if result is not None]
        reply = {"role": "assistant", "content": self._reply}
        return [reply, {"role": "user", "content": results}] if results else [reply]

    def take(self, block: dict[str, Any], asks: str) -> None:
        """Takes a block of the reply, and the id of the call that it asks for (empty: none)."""
        self._reply.append(block)
        if asks:
            self._results[asks] = None

    def answer(self, call: str, result: dict[str, Any]) -> None:
        """Takes the result of a call; the first one stands."""
        if self._results[call] is None:
            self._results[call] = result


class Exchanges:
    """The exchanges of a transcript, as its lines come."""

    def __init__(self) -> None:
        self._of_message: dict[tuple[str, str], Gathered] = {}
        self._asking: dict[str, Gathered] = {}
        self._lines: set[str] = set()

    def reply(self, agent: str, message: dict[str, Any], line: str) -> Gathered:
        """Takes an assistant's line, which has that id (empty: none), and gives the exchange that it is of."""
        name = message.get("id")
        key = (agent, name if isinstance(name, str) else f"line {len(self._of_message)}")
        gathered = self._of_message.setdefault(key, Gathered())
        if line and line in self._lines:
            return gathered
        self._lines.add(line)
        for block in _blocks(message):
            asks = _text(block, "id") if block.get("type") == "tool_use" else ""
            if asks in self._asking:
                continue
            if asks:
                self._asking[asks] = gathered
            gathered.take(block, asks)
        return gathered

    def results(self, message: dict[str, Any]) -> None:
        """Takes a user's line: the results in it, each for the exchange that asked for it."""
        for block in _blocks(message):
            call = _text(block, "tool_use_id")
            if block.get("type") == "tool_result" and call in self._asking:
                self._asking[call].answer(call, block)


def _text(block: dict[str, Any], name: str) -> str:
    value = block.get(name)
    return value if isinstance(value, str) else ""


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
