"""What one model call used, as the caller has it, and what of it goes on the wire.

Rule: plain numbers go as a `ModelUsage`; a provider's own object goes as it is, as JSON, for the server to read:
it alone knows each provider's words. None is a call that reported nothing. Nothing passed in is changed, and
what is no usage is a TypeError rather than a guess.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Literal

from .arguments import made, shown
from .plain import mapping_of, plain
from .v1 import usage_pb2

__all__ = ["Usage"]

_ACCEPTED = (
    "usage is None, ullage.Usage, a whole number (the prompt's tokens), the provider's usage object (from its "
    "SDK, as a mapping, dataclass or protobuf message, or as JSON text), or a response that holds one as "
    "`usage`, `usage_metadata` or `usageMetadata`"
)
#: Where responses keep their usage object.
_HELD_AS = ("usage", "usage_metadata", "usageMetadata")
#: A count under one of these names makes an object a usage object itself.
_COUNTS = (
    "input_tokens",
    "inputTokens",
    "prompt_tokens",
    "promptTokens",
    "promptTokenCount",
    "prompt_token_count",
)
_ABSENT = object()
_ACCOUNTING = {
    None: usage_pb2.CACHE_ACCOUNTING_UNSPECIFIED,
    "included": usage_pb2.CACHE_ACCOUNTING_INCLUDED,
    "excluded": usage_pb2.CACHE_ACCOUNTING_EXCLUDED,
}
_DIALECTS = {name.removeprefix("DIALECT_").lower(): number for name, number in usage_pb2.Dialect.items() if number}


@dataclass(frozen=True, slots=True)
class Usage:
    """What one model call used, in plain numbers as the provider counted them, each 0 to 2^53 - 1.

    Attributes:
        input_tokens: the prompt's tokens; `cache_accounting` says whether cached ones are among them. Where
            the prompt comes to 0 in all, the server takes it as no usage.
        output_tokens: the tokens the model wrote; None where unknown, which is not 0.
        cache_read_input_tokens: the prompt's tokens read from the provider's cache.
        cache_creation_input_tokens: the prompt's tokens written to it.
        cache_accounting: "included" (input_tokens holds the cached ones, as with OpenAI), "excluded" (they
            stand beside it and are added, as with Anthropic), or None: included, unless they exceed it.

    """

    input_tokens: int
    output_tokens: int | None = None
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_accounting: Literal["included", "excluded"] | None = None


def usage_on_the_wire(usage: object, dialect: str | None) -> usage_pb2.ModelUsage | usage_pb2.ProviderUsage | None:
    """What of `usage` a report holds: plain numbers, a provider's object in `dialect`'s words, or nothing.

    Raises TypeError for what is no usage, ValueError for an unknown dialect or cache accounting, and for a
    number that no int64 holds.
    """
    words = _dialect(dialect)
    if usage is None:
        return None
    if isinstance(usage, Usage):
        return _numbers(usage)
    if isinstance(usage, usage_pb2.ModelUsage | usage_pb2.ProviderUsage):
        return usage
    if isinstance(usage, str | bytes | bytearray | memoryview):
        return usage_pb2.ProviderUsage(dialect=words, json=_text(usage))
    tokens = _whole_number(usage)
    if tokens is not None:
        if tokens.bit_length() >= 64:
            raise ValueError(f"usage is a number of tokens, 0 to 2^53 - 1; not {shown(tokens)}")
        return usage_pb2.ModelUsage(input_tokens=tokens)
    usage = _held(usage)
    if usage is None:
        return None
    mapping = mapping_of(usage)
    if mapping is None:
        raise TypeError(f"{_ACCEPTED}; not {type(usage).__name__}")
    return usage_pb2.ProviderUsage(dialect=words, json=_dumped(mapping))


def _dialect(name: str | None) -> usage_pb2.Dialect.ValueType:
    if name is None:
        return usage_pb2.DIALECT_UNSPECIFIED
    try:
        return _DIALECTS[name.lower()]
    except (KeyError, AttributeError):
        raise ValueError(f"dialect is one of {', '.join(_DIALECTS)}, or None; not {shown(name)}") from None


def _numbers(usage: Usage) -> usage_pb2.ModelUsage:
    if usage.cache_accounting not in _ACCOUNTING:
        raise ValueError(f"cache_accounting is 'included', 'excluded' or None; not {usage.cache_accounting!r}")
    return made(
        usage_pb2.ModelUsage,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_input_tokens=usage.cache_read_input_tokens,
        cache_creation_input_tokens=usage.cache_creation_input_tokens,
        cache_accounting=_ACCOUNTING[usage.cache_accounting],
    )


def _whole_number(usage: object) -> int | None:
    """`usage` where it is a whole number (NumPy's too); a bool is none, nor is anything with a length."""
    if isinstance(usage, bool) or not isinstance(usage, Integral):
        return None
    return int(usage)


def _text(text: str | bytes | bytearray | memoryview) -> str:
    """JSON text as it is; of a whole response's text, the usage object alone."""
    try:
        if not isinstance(text, str):
            raw = bytes(text)
            text = raw.decode(json.detect_encoding(raw))
        text.encode()
    except UnicodeError:
        raise TypeError(f"{_ACCEPTED}; not bytes or text that are no UTF") from None
    if not any(f'"{name}"' in text for name in _HELD_AS):
        return text
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    held = _held(value) if isinstance(value, dict) else value
    return text if held is value else _dumped(held)


def _held(usage: object) -> object:
    """The usage object that a whole response holds; anything else as it is. None where it holds an empty one."""

    def get(name: str) -> object:
        if isinstance(usage, Mapping):
            return usage[name] if name in usage else _ABSENT  # noqa: SIM401  # not every mapping has get
        return getattr(usage, name, _ABSENT)

    if any(_whole_number(get(name)) is not None for name in _COUNTS):
        return usage
    there = [(name, held) for name in _HELD_AS if (held := get(name)) is not _ABSENT]
    objects = [(name, held) for name, held in there if held is not None and mapping_of(held) is not None]
    if len(objects) > 1:
        names = " and ".join(f"`{name}`" for name, _ in objects)
        raise TypeError(f"{type(usage).__name__} holds {names}; pass the one that is the call's usage")
    if objects:
        return objects[0][1]
    return None if any(held is None for _, held in there) else usage


def _dumped(usage: object) -> str:
    try:
        return json.dumps(plain(usage), separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise TypeError(f"{_ACCEPTED}; not an object that nests without end") from None
