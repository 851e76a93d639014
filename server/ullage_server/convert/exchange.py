"""Exchanges: what core needs of one, and what it decided. Their messages are those of `raw`: texts are bytes."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, cast

from google.protobuf.message import Message

from ullage.v1 import exchange_pb2

from ..core.errors import Reason, Refusal, invalid
from ..core.exchange.compact import Compacted, SourceText
from ..core.exchange.digest import Digest
from ..core.exchange.verdict import TextVerdict
from .raw import LONG_TEXTS, raw, utf8

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
            exchange.results[place.block].tool_result.parts[place.part].text = text  # type: ignore[assignment]  # raw
        else:
            exchange.assistant[place.block].text.text = text  # type: ignore[assignment]  # raw


def edits_to(texts: list[SourceText], compacted: Compacted) -> list[exchange_pb2.Edit]:
    """The cut texts with their places."""
    return [
        _EDIT(
            in_results=texts[number].in_results,
            block=texts[number].block,
            part=texts[number].part,
            text=text,  # type: ignore[arg-type]  # raw
        )
        for number, text in compacted.cuts.items()
    ]


def verdicts_to(
    verdicts: Iterable[TextVerdict], kind: type[exchange_pb2.TextVerdict] = exchange_pb2.TextVerdict
) -> list[exchange_pb2.TextVerdict]:
    """What was decided, as the wire shows it, in messages of the class `kind`."""
    return [
        kind(
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


_EDIT, RAW_VERDICT = raw(exchange_pb2.Edit), raw(exchange_pb2.TextVerdict)
_THINKING = {"thinking", "redacted_thinking"}


def _kind(block: exchange_pb2.Block, field: str, number: int) -> str:
    kind = block.WhichOneof("content")
    if kind is None:
        raise invalid(field, f"{field}[{number}] holds no content of a kind that this server knows")
    return kind


def _feed(digest: Digest, block: exchange_pb2.Block, kind: str) -> bytes:
    """Feeds a block of the reply to `digest`; gives its text where it is one."""
    if kind == "text":
        text = utf8(block.text.text)
        digest.kind(b"T")
        digest.field(text)
        return text
    digest.kind(_KIND_BYTES[kind])
    content = getattr(block, kind)
    for field in _FIELDS[kind]:
        digest.field(_bytes(content, field))
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
            text = utf8(part.text)
            digest.kind(b"T")
            digest.field(text)
            if text:
                yield place, text
        elif kind == "attachment":
            digest.kind(b"A")
            for name in _FIELDS["image"]:
                digest.field(_bytes(part.attachment, name))
        else:
            raise invalid(field, f"{field}[{number}].parts[{place}] holds neither a text nor an attachment")


def _bytes(message: Message, field: str) -> bytes:
    value = getattr(message, field)
    if isinstance(value, str):
        return value.encode()
    return utf8(value) if field in LONG_TEXTS else cast("bytes", value)


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
