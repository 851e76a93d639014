"""Exchanges as the conformance vectors write them, in JSON, and what core needs of them."""

import base64
import json
from typing import Any

from ullage_server.core.exchange.compact import Compacted, SourceText
from ullage_server.core.exchange.digest import Digest

#: The fields of each kind in the wire's order; those with a * are bytes.
KINDS = {
    "text": ("T", "text"),
    "thinking": ("K", "text", "signature*"),
    "redacted_thinking": ("X", "data*"),
    "tool_use": ("U", "id", "name", "input_json"),
    "image": ("I", "media_type", "reference", "data*"),
    "opaque": ("O", "type", "json"),
    "attachment": ("A", "media_type", "reference", "data*"),
}


def spelt(value: Any) -> Any:
    """`value` with its repeated and joined texts written out."""
    if isinstance(value, list):
        return [spelt(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "$repeat" in value:
        unit, times = value["$repeat"]
        return unit * times
    if "$concat" in value:
        return "".join(spelt(each) for each in value["$concat"])
    return {key: spelt(each) for key, each in value.items()}


def feed(digest: Digest, kind: str, content: dict[str, Any]) -> None:
    byte, *fields = KINDS[kind]
    digest.kind(byte.encode())
    for field in fields:
        said = content.get(field.rstrip("*"), "")
        digest.field(base64.b64decode(said) if field.endswith("*") else said.encode())


def digest_of(exchange: dict[str, Any]) -> str:
    digest = Digest()
    for side in ("assistant", "results"):
        blocks = exchange.get(side, [])
        digest.number(len(blocks))
        for block in blocks:
            [(kind, content)] = block.items()
            if kind != "tool_result":
                feed(digest, kind, content)
                continue
            parts = content.get("parts", [])
            digest.kind(b"R")
            digest.field(content["tool_use_id"].encode())
            digest.field(bytes([content.get("is_error", False)]))
            digest.number(len(parts))
            for part in parts:
                if "text" in part:
                    feed(digest, "text", part)
                else:
                    feed(digest, "attachment", part["attachment"])
    return base64.b64encode(digest.result()).decode()


def texts_of(exchange: dict[str, Any]) -> list[SourceText]:
    reply = exchange.get("assistant", [])
    last = max(
        (at for at, block in enumerate(reply) if {"thinking", "redacted_thinking"} & block.keys()), default=-1
    )
    found = [
        SourceText(False, at, 0, block["text"]["text"].encode(), at < last)
        for at, block in enumerate(reply)
        if block.get("text", {}).get("text")
    ]
    found += [
        SourceText(True, at, place, part["text"].encode())
        for at, block in enumerate(exchange.get("results", []))
        for place, part in enumerate(block["tool_result"].get("parts", []))
        if part.get("text")
    ]
    return found


def ids_of(exchange: dict[str, Any]) -> tuple[list[str], list[str]]:
    asked = [block["tool_use"]["id"] for block in exchange.get("assistant", []) if "tool_use" in block]
    return asked, [block["tool_result"]["tool_use_id"] for block in exchange.get("results", [])]


def put(exchange: dict[str, Any], texts: list[SourceText], compacted: Compacted) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(json.dumps(exchange))
    for number, text in compacted.cuts.items():
        place = texts[number]
        if place.in_results:
            result["results"][place.block]["tool_result"]["parts"][place.part]["text"] = text.decode()
        else:
            result["assistant"][place.block]["text"]["text"] = text.decode()
    return result


def said(compacted: Compacted) -> list[dict[str, Any]]:
    return [
        {
            "in_results": verdict.in_results,
            "block": verdict.block,
            "part": verdict.part,
            "content": f"CONTENT_CLASS_{verdict.content.name if verdict.content else 'UNSPECIFIED'}",
            "outcome": f"TEXT_OUTCOME_{verdict.outcome.name}",
            "source_bytes": verdict.source_bytes,
            "result_bytes": verdict.result_bytes,
            "dropped_bytes": verdict.dropped_bytes,
        }
        for verdict in compacted.verdicts
    ]
