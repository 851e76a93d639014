"""A rung's document: its text read into a rung, and the refusal that says where a text is wrong.

Rule (wire.md, Errors): a document that cannot be read is refused with CONFIG_UNREADABLE, which names the rung,
the line, the column, what is wrong and what is right; of the text itself it tells the key at most.
"""

import hashlib
import re
import tomllib
from collections.abc import Callable, Collection
from typing import Any

from ..core.errors import Reason, Refusal
from ..core.rung import MODELS, Rung, read_rung
from .places import chains, place_of, position
from .strange import strange_keys, tell

#: A document that is larger is refused, read or written: room for two thousand models.
MAX_DOCUMENT_BYTES = 64 * 1024

#: A key or header of more parts is refused: the parser's work grows with their square.
MAX_KEY_PARTS = 32

_MAX_KEY_CHARS = 128
_PLACE = re.compile(r"at line (\d+), column (\d+)")
#: What the parser refuses without saying where: a number too long to convert, a nesting too deep to follow.
_PLACELESS = re.compile(r"(?<![0-9_])[0-9_]{4000,}|(?:[\[{][ \t]*){50}")


def subject(address: str) -> str:
    """How a refusal names the rung at `address`."""
    return f"building {address}" if address else "the city"


def etag(text: str | None) -> str:
    """What changes whenever the text does; `absent` where there is no document."""
    return "absent" if text is None else hashlib.sha256(text.encode()).hexdigest()[:32]


def unreadable(address: str, fault: str, recovery: str) -> Refusal:
    """The refusal of the document of the rung at `address`: `fault` says what is wrong with it, and where."""
    return Refusal(
        Reason.CONFIG_UNREADABLE,
        f"the document of {subject(address)} {fault}",
        subject=subject(address),
        recovery=recovery,
    )


def parse(address: str, text: str, zones: Collection[str]) -> Rung:
    """The rung that `text`, the document at `address`, states; refused where a part of it is wrong."""
    document = load(address, text)
    try:
        rung = read_rung(address, document, zones)
    except Refusal as refusal:
        raise wrong_value(address, text, refusal.field, refusal.message) from None
    if strange := strange_keys(document):
        tell(subject(address), etag(text), strange)
    return rung


def load(address: str, text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The tables of `text`, the document at `address`; refused where it is no TOML, or a key is too long."""
    if long := next((chain for chain in chains(text) if chain.parts > MAX_KEY_PARTS), None):
        rest = text[long.start :]
        line, column = position(text, long.start + len(rest) - len(rest.lstrip(" \t")))
        raise unreadable(
            address,
            f"has a key of more than {MAX_KEY_PARTS} parts at line {line}, column {column}; a key is a few names "
            "with dots between them",
            f"correct line {line}, or take it out; the next request reads the document anew",
        )
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except (ValueError, RecursionError) as error:
        line, column = _fault(text, str(error))
    raise unreadable(
        address,
        f"is no TOML at line {line}, column {column}; a statement is `[table]`, `key = value` or `# comment`, "
        "and each table and key stands once",
        f"correct the document at line {line}; the next request reads it anew",
    )


def wrong_value(address: str, text: str, key: str, fault: str) -> Refusal:
    """The refusal of what stands under `key` in `text`, the document at `address`; `fault` may name the key."""
    table, dot, name = key.partition(".")
    path = (table, name) if dot else (table,)
    line, column = place_of(text, path)
    # A model's name in a document may be anything; the refusal travels in a header.
    shown = key if key.isprintable() and len(key) <= _MAX_KEY_CHARS and name + dot != "." else f"a name in {table}"
    said = fault.replace(key, shown)
    named = said if shown in said else f"{shown}: {said}"
    hint = "; a name that holds a dot stands in quotes" if table == MODELS and dot else ""
    return unreadable(
        address,
        f"has a wrong value at line {line}, column {column}: {named}{hint}",
        f"correct {shown} there, or take it out; the next request reads the document anew",
    )


def _fault(text: str, said: str) -> tuple[int, int]:
    if place := _PLACE.search(said):
        return int(place[1]), int(place[2])
    if "end of document" in said:
        return position(text, len(text))
    placeless = _PLACELESS.search(text)
    return position(text, placeless.start() if placeless else 0)
