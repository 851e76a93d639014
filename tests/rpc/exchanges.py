"""Exchanges as tests send them, and what must hold of every answer to one."""

import hashlib
from collections.abc import Iterable, Iterator

from google.protobuf.message import Message

from ullage.v1.exchange_pb2 import Block, Edit, Exchange, Part, Text, TextOutcome, TextVerdict, ToolResult, ToolUse
from ullage.v1.run_service_pb2 import (
    CompactExchangeRequest,
    CompactExchangeResponse,
    ModelReturned,
    ReplayExchangesRequest,
)


def text(words: str) -> Block:
    return Block(text=Text(text=words))


def use(name: str) -> Block:
    return Block(tool_use=ToolUse(id=name, name="read", input_json="{}"))


def result(name: str, *texts: str) -> Block:
    return Block(tool_result=ToolResult(tool_use_id=name, parts=[Part(text=words) for words in texts]))


def history(turn: int, exchange: Exchange) -> Iterator[ReplayExchangesRequest]:
    """An exchange as a harness that replays its history streams it."""
    calls = sum(block.WhichOneof("content") == "tool_use" for block in exchange.assistant)
    reply = ModelReturned(turn=turn, blocks=exchange.assistant, calls=calls)
    yield ReplayExchangesRequest(model_returned=reply)
    for block in exchange.results:
        yield ReplayExchangesRequest(tool_result=block)


def untouched(exchange: Exchange) -> list[bytes]:
    """All of an exchange but its texts."""
    blocks = []
    for block in [*exchange.assistant, *exchange.results]:
        rest = Block()
        rest.CopyFrom(block)
        if rest.WhichOneof("content") == "text":
            rest.text.text = ""
        for part in rest.tool_result.parts if rest.WhichOneof("content") == "tool_result" else ():
            if part.WhichOneof("content") == "text":
                part.text = ""
        blocks.append(rest.SerializeToString())
    return blocks


def texts_of(exchange: Exchange) -> list[tuple[bool, int, int, str]]:
    """Every text that is not empty, with its place, as verdicts name it, in their order."""
    found = [(False, number, 0, block.text.text) for number, block in enumerate(exchange.assistant)]
    for number, block in enumerate(exchange.results):
        found += [(True, number, place, part.text) for place, part in enumerate(block.tool_result.parts)]
    return [each for each in found if each[3]]


def edited(exchange: Exchange, edits: Iterable[Edit]) -> Exchange:
    """A copy of `exchange` with the edits' texts in their places."""
    copy = Exchange()
    copy.CopyFrom(exchange)
    for edit in edits:
        if edit.in_results:
            copy.results[edit.block].tool_result.parts[edit.part].text = edit.text
        else:
            copy.assistant[edit.block].text.text = edit.text
    return copy


def exchange_not_as_sent(request: CompactExchangeRequest, answer: CompactExchangeResponse) -> list[str]:
    """What in an answer, full or with edits only, does not go with the exchange that was sent; empty: nothing."""
    sent = request.exchange
    wrong = []
    if answer.HasField("exchange") == request.edits_only or (answer.edits and not request.edits_only):
        wrong.append("an exchange and edits, or neither")
    came = edited(sent, answer.edits) if request.edits_only else answer.exchange
    if untouched(came) != untouched(sent):
        wrong.append("more than texts has changed")
    if answer.digest != digest(came):
        wrong.append("the digest is another exchange's")
    before, after = texts_of(sent), texts_of(came)
    places = [(verdict.in_results, verdict.block, verdict.part) for verdict in answer.verdicts]
    if places != [each[:3] for each in before] or places != [each[:3] for each in after]:
        return [*wrong, f"verdicts of {places[:9]}"]
    for verdict, (*_, old), (*_, new) in zip(answer.verdicts, before, after, strict=True):
        wrong += _verdict_not_of(verdict, old.encode(), new.encode())
    sums = (sum(one.source_bytes for one in answer.verdicts), sum(one.result_bytes for one in answer.verdicts))
    if sums != (answer.source_bytes, answer.result_bytes):
        wrong.append(f"{answer.source_bytes} and {answer.result_bytes} bytes, by its verdicts {sums}")
    return wrong


def _verdict_not_of(verdict: TextVerdict, old: bytes, new: bytes) -> list[str]:
    cut = verdict.outcome == TextOutcome.TEXT_OUTCOME_CUT
    if (verdict.source_bytes, verdict.result_bytes) != (len(old), len(new)):
        return [f"{verdict} of a text of {len(old)} bytes, now {len(new)}"]
    if cut != (old != new) or cut != (verdict.dropped_bytes > 0) or not verdict.outcome:
        return [f"{verdict} of a text that is {'the same' if old == new else 'another'}"]
    return []


_KINDS = {
    "text": b"T",
    "thinking": b"K",
    "redacted_thinking": b"X",
    "tool_use": b"U",
    "tool_result": b"R",
    "image": b"I",
    "opaque": b"O",
    "attachment": b"A",
}


def digest(exchange: Exchange) -> bytes:
    """The digest as anyone computes it from the wire's words, without the server's code."""
    told = bytearray(b"ullage.exchange.1")
    for side in (exchange.assistant, exchange.results):
        told += _number(len(side))
        for block in side:
            kind = block.WhichOneof("content") or ""
            told += _KINDS[kind] + b"".join(_fields(getattr(block, kind)))
    return hashlib.sha256(told).digest()


def _fields(content: Message) -> Iterator[bytes]:
    for field in content.DESCRIPTOR.fields:
        value = getattr(content, field.name)
        if field.is_repeated:
            yield _number(len(value))
            for part in value:
                kind = part.WhichOneof("content")
                inner = part.text if kind == "text" else part.attachment
                yield _KINDS[kind] + (_field(inner) if kind == "text" else b"".join(_fields(inner)))
        else:
            yield _field(value)


def _field(value: str | bytes | bool) -> bytes:
    if isinstance(value, bool):
        value = bytes([value])
    data = value.encode() if isinstance(value, str) else value
    return _number(len(data)) + data


def _number(number: int) -> bytes:
    return number.to_bytes(8, "big")
