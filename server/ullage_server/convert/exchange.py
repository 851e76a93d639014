"""Exchanges: what core needs of one, and what it decided.

A message's text is taken as the bytes it is on the wire, where they are UTF-8 already: to decode and encode a long
text costs more than to cut it.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, cast

from ullage.v1 import exchange_pb2

from ..core.errors import Reason, Refusal, invalid
from ..core.exchange.compact import Compacted, SourceText
from ..core.exchange.digest import Digest
from ..core.exchange.verdict import TextVerdict

_LENGTH_BITS = 7

#: How many blocks, and parts of results, an exchange has at most. Real ones have some hundreds; sixteen mebibytes
#: hold millions, and each costs work and a verdict in the ledger.
MAX_PIECES = 65_536


class Source(NamedTuple):
    """What core needs of an exchange: its texts, the ids of its tool uses and of their results, and its digest."""

    texts: list[SourceText]
    asked: list[str]
    answered: list[str]
    digest: bytes


class Fields(NamedTuple):
    """The request's fields that an exchange came in: its reply's blocks and its results."""

    assistant: str
    results: str


def source_from(exchange: exchange_pb2.Exchange, fields: Fields) -> Source:
    """What core needs of `exchange`; refused, naming one of `fields`, where a block is out of its place."""
    _check_pieces(exchange)
    digest = Digest()
    asked = [block.tool_use.id for block in exchange.assistant if block.WhichOneof("content") == "tool_use"]
    answered = []
    texts: list[SourceText] = []
    last_thinking = max(
        (number for number, block in enumerate(exchange.assistant) if block.WhichOneof("content") in _THINKING),
        default=-1,
    )
    digest.number(len(exchange.assistant))
    for number, block in enumerate(exchange.assistant):
        kind = _kind(block, fields.assistant, number)
        if kind == "tool_result":
            raise invalid(
                fields.assistant, f"{fields.assistant}[{number}] is a tool result, which the results hold"
            )
        text = _feed(digest, block, kind)
        if text:
            texts.append(SourceText(False, number, 0, text, bound=number < last_thinking))
    digest.number(len(exchange.results))
    for number, block in enumerate(exchange.results):
        if _kind(block, fields.results, number) != "tool_result":
            raise invalid(
                fields.results, f"{fields.results}[{number}] is no tool result; the results hold no others"
            )
        answered.append(block.tool_result.tool_use_id)
        for part, text in _feed_result(digest, block.tool_result, fields.results, number):
            texts.append(SourceText(True, number, part, text))
    return Source(texts, asked, answered, digest.result())


def _check_pieces(exchange: exchange_pb2.Exchange) -> None:
    pieces = len(exchange.assistant) + len(exchange.results)
    if pieces <= MAX_PIECES:
        pieces += sum(len(block.tool_result.parts) for block in exchange.results)
    if pieces > MAX_PIECES:
        raise Refusal(
            Reason.MESSAGE_TOO_LARGE,
            f"the exchange has more than {MAX_PIECES} blocks and parts of results, the most one has",
            subject="the exchange",
            recovery="join texts that belong together, or leave that turn's exchange as it is",
        )


def put_cuts(exchange: exchange_pb2.Exchange, texts: list[SourceText], compacted: Compacted) -> None:
    """Puts the cut texts into their places in `exchange`."""
    for number, text in compacted.cuts.items():
        place = texts[number]
        if place.in_results:
            exchange.results[place.block].tool_result.parts[place.part].text = text.decode()
        else:
            exchange.assistant[place.block].text.text = text.decode()


def edits_to(texts: list[SourceText], compacted: Compacted) -> list[exchange_pb2.Edit]:
    """The cut texts with their places."""
    return [
        exchange_pb2.Edit(
            in_results=texts[number].in_results,
            block=texts[number].block,
            part=texts[number].part,
            text=text.decode(),
        )
        for number, text in compacted.cuts.items()
    ]


def verdicts_to(verdicts: Iterable[TextVerdict]) -> list[exchange_pb2.TextVerdict]:
    """What was decided, as the wire shows it."""
    return [
        exchange_pb2.TextVerdict(
            in_results=verdict.in_results,
            block=verdict.block,
            part=verdict.part,
            content=cast(
                "exchange_pb2.ContentClass.ValueType", 0 if verdict.content is None else verdict.content.value
            ),
            outcome=cast("exchange_pb2.TextOutcome.ValueType", verdict.outcome.value),
            source_bytes=verdict.source_bytes,
            result_bytes=verdict.result_bytes,
            dropped_bytes=verdict.dropped_bytes,
        )
        for verdict in verdicts
    ]


_THINKING = {"thinking", "redacted_thinking"}


def _kind(block: exchange_pb2.Block, field: str, number: int) -> str:
    kind = block.WhichOneof("content")
    if kind is None:
        raise invalid(field, f"{field}[{number}] holds no content of a kind that this server knows")
    return kind


def _feed(digest: Digest, block: exchange_pb2.Block, kind: str) -> bytes:
    """Feeds a block of the reply to `digest`; gives its text where it is one."""
    if kind == "text":
        text = text_bytes(block.text)
        digest.kind(b"T")
        digest.field(text)
        return text
    digest.kind(_KIND_BYTES[kind])
    content = getattr(block, kind)
    for field in _FIELDS[kind]:
        value = getattr(content, field)
        digest.field(value if isinstance(value, bytes) else value.encode())
    return b""


def _feed_result(
    digest: Digest, result: exchange_pb2.ToolResult, field: str, number: int
) -> Iterator[tuple[int, bytes]]:
    """Feeds a tool result to `digest`; gives its texts that are not empty, each with the number of its part."""
    digest.kind(b"R")
    digest.field(result.tool_use_id.encode())
    digest.field(b"\x01" if result.is_error else b"\x00")
    digest.number(len(result.parts))
    for place, part in enumerate(result.parts):
        kind = part.WhichOneof("content")
        if kind == "text":
            text = text_bytes(part)
            digest.kind(b"T")
            digest.field(text)
            if text:
                yield place, text
        elif kind == "attachment":
            digest.kind(b"A")
            for name in _FIELDS["image"]:
                value = getattr(part.attachment, name)
                digest.field(value if isinstance(value, bytes) else value.encode())
        else:
            raise invalid(field, f"{field}[{number}].parts[{place}] holds neither a text nor an attachment")


def text_bytes(message: exchange_pb2.Text | exchange_pb2.Part) -> bytes:
    """The text of `message`, its field 1, in UTF-8; the same as encoding it, without decoding it first."""
    wire = message.SerializeToString()
    if wire[:1] != _TEXT_TAG:
        return b""
    length = shift = 0
    at = 1
    while True:
        byte = wire[at]
        at += 1
        length |= (byte & 0x7F) << shift
        shift += _LENGTH_BITS
        if byte < 0x80:
            return wire[at : at + length]


#: Field 1, with a length.
_TEXT_TAG = b"\x0a"

_KIND_BYTES = {
    "thinking": b"K",
    "redacted_thinking": b"X",
    "tool_use": b"U",
    "image": b"I",
    "opaque": b"O",
}
_FIELDS = {
    "thinking": ("text", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name", "input_json"),
    "image": ("media_type", "reference", "data"),
    "opaque": ("type", "json"),
}
