"""A usage object's text, read within bounds.

Rule: the text has at most 64 KiB in UTF-8, nests at most 32 deep, and is `null` or an object. A key said
twice counts as said last; a key nobody asks for is never looked at; a null is as good as absent. A count is a
whole number from 0 to `MAX_TOKENS`, and 300.0 is one. Anything else ends in a `Refusal` that names the key,
and no text costs more than its length.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .domain import MAX_TOKENS
from .errors import Refusal, invalid

FIELD = "report.provider_usage.json"
MAX_BYTES = 64 * 1024
MAX_DEPTH = 32

# No count comes near it, and what Python itself refuses (4300 digits) is a setting of the process.
_MAX_DIGITS = 400

# Strings go whole, so that a bracket inside one is none. A string that never ends goes with the rest of the
# text: else every quote in it would be tried again, and the time would grow with the square of the length.
_NO_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[^"\[\]{}]++', re.DOTALL)


@dataclass(frozen=True, slots=True)
class UsageObject:
    """An object inside the text, and the path that leads to it (empty for the outermost)."""

    values: Mapping[str, object]
    path: str = ""

    def count(self, key: str) -> int | None:
        """The count under a key, `outer.inner` for one in an object below; None where nothing was said."""
        if "." in key:
            outer, _, inner = key.partition(".")
            below = self.child(outer)
            return None if below is None else below.count(inner)
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_TOKENS:
            raise self._wrong(key, f"must be a whole number from 0 to {MAX_TOKENS}")
        return value

    def child(self, key: str) -> "UsageObject | None":
        """The object under a key; None where nothing was said."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self._wrong(key, "must be an object or null")
        return UsageObject(value, self._below(key))

    def children(self, key: str) -> "list[UsageObject]":
        """The objects in the list under a key, nulls left out; empty where nothing was said."""
        value = self.values.get(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(item is None or isinstance(item, dict) for item in value):
            raise self._wrong(key, "must be a list of objects, or null")
        at = self._below(key)
        return [UsageObject(item, f"{at}[{i}]") for i, item in enumerate(value) if item is not None]

    def _below(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def _wrong(self, key: str, right: str) -> Refusal:
        return invalid(FIELD, f"{self._below(key)} {right}")


def parse(text: str) -> UsageObject | None:
    """The object the text holds; None where it holds `null`."""
    # A character is at least one byte, so the first comparison spares the encoding of a text far too long.
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise invalid(FIELD, f"the JSON text must have at most {MAX_BYTES} bytes")
    if _deeper_than_allowed(text):
        raise invalid(FIELD, f"the JSON text must not nest deeper than {MAX_DEPTH}")
    try:
        value: object = _DECODER.decode(text)
    except (ValueError, RecursionError):
        raise invalid(FIELD, "must be JSON: the usage object as the provider sent it, or null") from None
    if value is None:
        return None
    if not isinstance(value, dict):
        raise invalid(FIELD, "must hold a JSON object or null")
    return UsageObject(value)


def _deeper_than_allowed(text: str) -> bool:
    """Whether brackets nest too deep: asked of the text, so that the parser never recurses that far."""
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return False
    depth = 0
    for bracket in _NO_BRACKET.sub("", text):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


def _integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError
    return int(digits)


def _no_constant(name: str) -> float:
    """NaN and the infinities are Python's addition to JSON."""
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_int=_integer, parse_constant=_no_constant)
