"""What `observe` takes for usage, and what of it goes on the wire."""

import copy
import json
import math
from collections import namedtuple
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple, TypedDict
from unittest.mock import Mock

import pytest
from google.protobuf import struct_pb2
from google.rpc import error_details_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.client.sdk_shapes import NumPyInt, Proxy, Pydantic1, Pydantic1OfAnSdk, Pydantic2, ToDict
from ullage import Usage
from ullage.usage import usage_on_the_wire
from ullage.v1 import reading_pb2, usage_pb2


def sent(usage: object, dialect: str | None = None) -> Any:
    """What the server gets: the JSON of a provider's object."""
    wire = usage_on_the_wire(usage, dialect)
    assert isinstance(wire, usage_pb2.ProviderUsage)
    return json.loads(wire.json)


def number(usage: object) -> int:
    wire = usage_on_the_wire(usage, None)
    assert isinstance(wire, usage_pb2.ModelUsage)
    assert wire == usage_pb2.ModelUsage(input_tokens=wire.input_tokens)
    return wire.input_tokens


class TypedUsage(TypedDict):
    prompt_tokens: int


@dataclass
class Details:
    cached_tokens: int | None = None


@dataclass
class DataUsage:
    prompt_tokens: int
    prompt_tokens_details: Details = field(default_factory=Details)


@dataclass(slots=True, frozen=True)
class SlottedUsage:
    prompt_tokens: int


class NamedUsage(NamedTuple):
    prompt_tokens: int


VercelUsage = namedtuple("VercelUsage", ["inputTokens", "totalTokens"])

ANTHROPIC = {"input_tokens": 3, "cache_creation": None, "cache_read_input_tokens": 90, "output_tokens": 5}
CHAT = {"prompt_tokens": 7, "prompt_tokens_details": {"cached_tokens": 4}, "prompt_cache_hit_tokens": 4}


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        (ANTHROPIC, ANTHROPIC),
        (Pydantic2(**ANTHROPIC), ANTHROPIC),
        (Pydantic1OfAnSdk(**ANTHROPIC), ANTHROPIC),
        (Pydantic1(**ANTHROPIC), ANTHROPIC),
        (
            Pydantic2(
                prompt_tokens=7, prompt_tokens_details=Pydantic2(cached_tokens=4), prompt_cache_hit_tokens=4
            ),
            CHAT,
        ),
        (ToDict(**CHAT), CHAT),
        (Proxy(**CHAT), CHAT),
        (MappingProxyType({**CHAT, "prompt_tokens_details": MappingProxyType({"cached_tokens": 4})}), CHAT),
        (SimpleNamespace(**CHAT), CHAT),
        ({**CHAT, "prompt_tokens_details": Pydantic2(cached_tokens=4)}, CHAT),
        (TypedUsage(prompt_tokens=7), {"prompt_tokens": 7}),
        (DataUsage(7), {"prompt_tokens": 7, "prompt_tokens_details": {"cached_tokens": None}}),
        (SlottedUsage(7), {"prompt_tokens": 7}),
        (NamedUsage(7), {"prompt_tokens": 7}),
        (VercelUsage(inputTokens=7, totalTokens=8), {"inputTokens": 7, "totalTokens": 8}),
        (Pydantic2(), {}),
        ({}, {}),
        ({"input_tokens": 5, "cache_accounting": "excluded"}, {"input_tokens": 5, "cache_accounting": "excluded"}),
    ],
)
def test_a_usage_object_goes_as_it_is(usage: object, told: object) -> None:
    assert sent(usage) == told


def test_a_messages_fields_go_under_their_names() -> None:
    message = reading_pb2.ContextReading(used_tokens=2**40, percent=0)
    assert sent(message) == {
        "turn": 0,
        "used_tokens": 2**40,
        "context_tokens": 0,
        "percent": 0,
        "window_exceeded": False,
        "stale": False,
        "counted_as": "",
    }
    assert sent(SimpleNamespace(_pb=message))["used_tokens"] == 2**40  # as proto-plus wraps one
    nested = error_details_pb2.BadRequest(field_violations=[{"field": "a"}])
    assert sent(nested)["field_violations"][0]["field"] == "a"
    assert sent(error_details_pb2.ErrorInfo(metadata={"a": "1"}))["metadata"] == {"a": "1"}
    assert sent(struct_pb2.Struct(fields={"a": struct_pb2.Value(number_value=2)})) == {"a": 2.0}


class Tier(Enum):
    FLEX = "flex"


class Level(IntEnum):
    LOW = 1


def test_values_json_has_no_word_for_break_nothing() -> None:
    holds_itself: list[object] = []
    usage = {
        "prompt_tokens": NumPyInt(12),
        "cost": Decimal("0.0012"),
        "ratio": Fraction(1, 3),
        "at": datetime(2026, 1, 2, tzinfo=UTC),
        "tier": Tier.FLEX,
        "level": Level.LOW,
        "nothing": math.nan,
        "everything": -math.inf,
        "raw": b"\xff",
        "some": (1, 2),
        "once": {3},
        1: "one",
        None: "none",
        "lone": "\ud800",
        "unset": object,
        "empty": holds_itself,
    }
    told = sent(usage)
    assert told["prompt_tokens"] == 12
    assert told["cost"] == "0.0012"
    assert told["ratio"] == "1/3"
    assert told["at"] == "2026-01-02 00:00:00+00:00"
    assert (told["nothing"], told["everything"]) == (None, None)
    assert (told["some"], told["once"], told["level"]) == ([1, 2], [3], 1)
    assert (told["1"], told["None"]) == ("one", "none")
    assert told["lone"] == "\ud800"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda below: st.lists(below) | st.dictionaries(st.text(max_size=6), below),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.text(max_size=6), JSON))
def test_any_json_object_goes_unchanged_and_is_left_unchanged(usage: dict[str, object]) -> None:
    before = copy.deepcopy(usage)
    whole = {"prompt_tokens": 1, **usage}
    assert sent(whole) == whole
    assert usage == before


@pytest.mark.parametrize("text", ["null", '{"prompt_tokens": 7 }', "", "{", '{"usage": ', "[1]", '"usage"', "ü{"])
def test_text_goes_as_it_is(text: str) -> None:
    for given_as in (text, text.encode(), bytearray(text.encode()), memoryview(text.encode())):
        wire = usage_on_the_wire(given_as, None)
        assert wire == usage_pb2.ProviderUsage(json=text)


def test_bytes_in_another_encoding_of_json_are_read() -> None:
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        assert sent('{"prompt_tokens": 7}'.encode(encoding)) == {"prompt_tokens": 7}


@pytest.mark.parametrize("held_as", ["usage", "usage_metadata", "usageMetadata"])
def test_of_a_whole_response_only_the_usage_goes(held_as: str) -> None:
    content = {"id": "msg", "content": ["the user's own words"], "total": 8}
    for usage in (CHAT, Pydantic2(**CHAT), MappingProxyType(CHAT)):
        for response in ({**content, held_as: usage}, SimpleNamespace(**content, **{held_as: usage})):
            assert sent(response) == CHAT
    assert sent(Pydantic2(**content, **{held_as: Pydantic2(**CHAT)})) == CHAT
    text = json.dumps({**content, held_as: CHAT})
    assert sent(text) == sent(text.encode()) == CHAT


@pytest.mark.parametrize("held_as", ["usage", "usage_metadata", "usageMetadata"])
def test_a_response_without_its_usage_is_no_usage_and_stays_here(held_as: str) -> None:
    assert usage_on_the_wire({held_as: None, "content": "words"}, None) is None
    assert usage_on_the_wire(SimpleNamespace(**{held_as: None}), None) is None
    assert usage_on_the_wire(Pydantic2(content="words", **{held_as: None}), None) is None
    assert sent(json.dumps({held_as: None, "content": "words"})) is None


def test_a_usage_object_that_holds_another_one_is_taken_itself() -> None:
    usage = {"input_tokens": 5, "usage": {"prompt_tokens": 9}}
    assert sent(usage) == sent(json.dumps(usage)) == sent(SimpleNamespace(**usage)) == usage
    assert sent({"input_tokens": None, "usage": {"prompt_tokens": 9}}) == {"prompt_tokens": 9}
    assert sent({"usage": "high", "input": 3}) == {"usage": "high", "input": 3}
    assert sent({"usage": {"usage": {"prompt_tokens": 9}}}) == {"usage": {"prompt_tokens": 9}}  # looked at once


def test_two_usages_in_one_response_are_no_answer() -> None:
    with pytest.raises(TypeError, match="holds `usage` and `usage_metadata`"):
        usage_on_the_wire({"usage": CHAT, "usage_metadata": CHAT}, None)


@pytest.mark.parametrize("whole", [0, 1, 2**53 - 1, NumPyInt(77), Level.LOW])
def test_a_whole_number_is_the_prompt(whole: Any) -> None:
    assert number(whole) == whole.__index__()


def test_a_number_the_wire_cannot_hold_is_refused_here() -> None:
    for tokens in (2**63, -(2**63) - 1, 10**5000):
        with pytest.raises(ValueError, match=r"^usage is a number of tokens, 0 to 2\^53 - 1; not "):
            usage_on_the_wire(tokens, None)
        with pytest.raises(ValueError, match=r"^output_tokens takes a whole number of 64 bits; not "):
            usage_on_the_wire(Usage(5, tokens), None)
    with pytest.raises(TypeError, match=r"^input_tokens takes a whole number of 64 bits; not '5'"):
        usage_on_the_wire(Usage("5"), None)  # type: ignore[arg-type]
    assert number(-1) == -1  # the server says what is wrong with it


def test_plain_numbers_go_as_they_are() -> None:
    assert usage_on_the_wire(Usage(5), None) == usage_pb2.ModelUsage(input_tokens=5)
    wire = usage_on_the_wire(Usage(5, 0, 3, 2, "excluded"), "openai_chat")
    assert isinstance(wire, usage_pb2.ModelUsage)
    assert wire == usage_pb2.ModelUsage(
        input_tokens=5,
        output_tokens=0,
        cache_read_input_tokens=3,
        cache_creation_input_tokens=2,
        cache_accounting=usage_pb2.CACHE_ACCOUNTING_EXCLUDED,
    )
    assert wire.HasField("output_tokens")
    with pytest.raises(ValueError, match="'included', 'excluded' or None"):
        usage_on_the_wire(Usage(5, cache_accounting="beside"), None)  # type: ignore[arg-type]


def test_the_wires_own_messages_go_as_they_are() -> None:
    for message in (
        usage_pb2.ModelUsage(input_tokens=5),
        usage_pb2.ProviderUsage(json="{}", dialect=usage_pb2.DIALECT_PI),
    ):
        assert usage_on_the_wire(message, None) == message


def test_nothing_is_nothing() -> None:
    assert usage_on_the_wire(None, "gemini") is None


def test_a_dialect_is_named_in_lower_case() -> None:
    for name, dialect in usage_pb2.Dialect.items():
        if dialect:
            wire = usage_on_the_wire({}, name.removeprefix("DIALECT_").lower())
            assert wire == usage_pb2.ProviderUsage(json="{}", dialect=dialect)
    for wrong in ("openai", "unspecified", ""):
        with pytest.raises(ValueError, match="anthropic_messages, openai_chat"):
            usage_on_the_wire(None, wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        True,
        False,
        1.5,
        700.0,
        object(),
        [CHAT],
        (1, 2),
        [],
        {1, 2},
        Decimal(5),
        dict,
        Usage,
        Pydantic2,
        ToDict,
        Mock(),
        len,
        b"\xff\xfe\xfd",
        "\ud800",
        (n for n in "ab"),
    ],
    ids=repr,
)
def test_what_is_no_usage_is_refused_with_what_is(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"usage|holds"):
        usage_on_the_wire(wrong, None)


def test_an_object_that_holds_itself_is_refused() -> None:
    usage: dict[str, object] = {"prompt_tokens": 1}
    usage["again"] = usage
    with pytest.raises(TypeError, match="nests without end"):
        usage_on_the_wire(usage, None)


def test_what_fails_in_the_callers_own_object_is_the_callers() -> None:
    class Broken:
        def to_dict(self) -> dict[str, object]:
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        usage_on_the_wire(Broken(), None)
