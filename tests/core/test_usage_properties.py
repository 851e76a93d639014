"""What holds for every usage object there can be, and for every text that is none."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ullage_server.core.dialects import SHAPES
from ullage_server.core.domain import MAX_TOKENS
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.usage import (
    CacheAccounting,
    CountedUsage,
    Dialect,
    count_model_usage,
    count_provider_usage,
)

KEYS = sorted(
    {
        spelling.partition(".")[0]
        for shape in SHAPES
        for terms in (shape.prompt, shape.output, shape.total, shape.if_total)
        for term in terms
        for spelling in term
    }
    | {key for shape in SHAPES for key in shape.only}
    | {"type", "read", "write", "reasoning_tokens"}
)

dialects = st.sampled_from(Dialect)
small = st.integers(0, 5000)
counts = st.one_of(small, st.integers(0, MAX_TOKENS))
keys = st.one_of(st.sampled_from(KEYS), st.text(max_size=4))
scalars = st.one_of(
    st.none(), st.booleans(), small, st.integers(), st.floats(), st.text(max_size=8), st.just("message")
)
values = st.recursive(
    scalars, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=6))
)
objects = st.dictionaries(keys, values, max_size=12)
# Mostly sensible ones, which get further in.
plausible = st.dictionaries(st.sampled_from(KEYS), st.one_of(small, small.map(float), st.none()), max_size=10)


def outcome(dialect: Dialect, text: str) -> CountedUsage | str | None:
    """The answer, or the refusal's words; anything else fails the test."""
    try:
        counted = count_provider_usage(dialect, text)
    except Refusal as refusal:
        if refusal.reason is not Reason.ARGUMENT_INVALID or refusal.field != "report.provider_usage.json":
            raise AssertionError from refusal
        return refusal.message
    if counted is not None:
        assert 1 <= counted.prompt_tokens <= MAX_TOKENS
        assert 0 <= counted.prompt_tokens + (counted.output_tokens or 0) <= MAX_TOKENS
        assert counted.counted_as
    return counted


@given(dialects, st.one_of(objects, plausible, values))
def test_any_json_is_counted_or_refused_always_alike(dialect: Dialect, value: object) -> None:
    text = json.dumps(value)
    assert outcome(dialect, text) == outcome(dialect, text)


@given(dialects, st.text())
def test_any_text_is_counted_or_refused(dialect: Dialect, text: str) -> None:
    outcome(dialect, text)


@given(dialects, st.text(alphabet='{}[]":,\\ -0123456789.eEulntrafsi\ud800', max_size=300))
def test_any_text_of_jsons_own_characters(dialect: Dialect, text: str) -> None:
    outcome(dialect, text)


@given(dialects, st.one_of(objects, plausible), st.randoms(use_true_random=False))
def test_the_order_of_keys_is_nothing(dialect: Dialect, usage: dict[str, Any], random: Any) -> None:
    shuffled = list(usage.items())
    random.shuffle(shuffled)
    one, other = outcome(dialect, json.dumps(usage)), outcome(dialect, json.dumps(dict(shuffled)))
    assert one == other


@given(dialects, plausible, st.dictionaries(st.text(min_size=1).map("x-".__add__), values, max_size=4))
def test_unknown_keys_are_nothing(dialect: Dialect, usage: dict[str, Any], more: dict[str, Any]) -> None:
    finite = json.dumps(more).replace("NaN", "0").replace("-Infinity", "0").replace("Infinity", "0")
    assert outcome(dialect, json.dumps(usage)) == outcome(dialect, json.dumps({**json.loads(finite), **usage}))


@given(dialects, plausible)
def test_a_null_is_as_good_as_absent(dialect: Dialect, usage: dict[str, Any]) -> None:
    said = {key: value for key, value in usage.items() if value is not None}
    assert outcome(dialect, json.dumps(usage)) == outcome(dialect, json.dumps(said))


def prompt(dialect: Dialect, usage: dict[str, Any]) -> int:
    counted = count_provider_usage(dialect, json.dumps(usage))
    return 0 if counted is None else counted.prompt_tokens


@given(small, small, small, small)
def test_disjoint_counts_add_up_with_and_without_a_name(first: int, read: int, write: int, output: int) -> None:
    for dialect, usage in (
        (
            Dialect.ANTHROPIC_MESSAGES,
            {
                "input_tokens": first,
                "cache_read_input_tokens": read,
                "cache_creation_input_tokens": write,
                "cache_creation": {"ephemeral_5m_input_tokens": write},
                "output_tokens": output,
            },
        ),
        (
            Dialect.BEDROCK_CONVERSE,
            {
                "inputTokens": first,
                "cacheReadInputTokens": read,
                "cacheWriteInputTokens": write,
                "outputTokens": output,
                "totalTokens": first + read + write + output,
            },
        ),
        (Dialect.PI, {"input": first, "cacheRead": read, "cacheWrite": write, "output": output}),
        (
            Dialect.OPENCODE,
            {"input": first, "cache": {"read": read, "write": write}, "reasoning": 0, "output": output},
        ),
        (
            Dialect.KIMI_CLI,
            {"inputOther": first, "inputCacheRead": read, "inputCacheCreation": write, "output": output},
        ),
    ):
        assert prompt(dialect, usage) == first + read + write
        assert prompt(Dialect.UNSPECIFIED, usage) == first + read + write


@given(small, small, small)
def test_counts_inside_are_never_added(cached: int, fresh: int, output: int) -> None:
    whole = cached + fresh
    for dialect, usage in (
        (
            Dialect.OPENAI_CHAT,
            {
                "prompt_tokens": whole,
                "prompt_tokens_details": {"cached_tokens": cached},
                "completion_tokens": output,
                "total_tokens": whole + output,
            },
        ),
        (
            Dialect.OPENAI_RESPONSES,
            {
                "input_tokens": whole,
                "input_tokens_details": {"cached_tokens": cached},
                "output_tokens": output,
                "total_tokens": whole + output,
            },
        ),
        (
            Dialect.BEDROCK_CONVERSE,
            {
                "inputTokens": whole,
                "cacheReadInputTokens": cached,
                "outputTokens": output,
                "totalTokens": whole + output,
            },
        ),
        (Dialect.GEMINI, {"promptTokenCount": whole, "cachedContentTokenCount": cached}),
        (Dialect.GEMINI_CLI, {"input": whole, "cached": cached, "tool": 0, "output": output}),
        (Dialect.VERCEL_AI, {"inputTokens": whole, "cachedInputTokens": cached, "outputTokens": output}),
    ):
        assert prompt(dialect, usage) == whole
        assert prompt(Dialect.UNSPECIFIED, usage) == whole


@given(small, small, small, st.one_of(st.none(), small), st.one_of(st.none(), st.integers(0, 20000)))
def test_a_part_never_exceeds_its_whole(
    first: int, read: int, write: int, output: int | None, total: int | None
) -> None:
    """Whatever total comes with them, the cached tokens fit into what is counted, and are in it once."""
    anthropic = {
        "input_tokens": first,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
        "output_tokens": output,
        "total_tokens": total,
    }
    bedrock = {
        "inputTokens": first,
        "cacheReadInputTokens": read,
        "cacheWriteInputTokens": write,
        "outputTokens": output,
        "totalTokens": total,
    }
    for dialect, usage in (
        (Dialect.UNSPECIFIED, anthropic),
        (Dialect.UNSPECIFIED, bedrock),
        (Dialect.BEDROCK_CONVERSE, bedrock),
    ):
        assert read + write <= prompt(dialect, usage)
        assert prompt(dialect, usage) in (first, first + read + write)


@given(counts, st.one_of(st.none(), counts), counts, counts, st.sampled_from(CacheAccounting))
def test_model_usage_is_counted_or_refused(
    given_: int, output: int | None, read: int, creation: int, accounting: CacheAccounting
) -> None:
    try:
        counted = count_model_usage(
            input_tokens=given_,
            output_tokens=output,
            cache_read_input_tokens=read,
            cache_creation_input_tokens=creation,
            cache_accounting=accounting,
        )
    except Refusal:
        assert given_ + read + creation + (output or 0) > MAX_TOKENS
        return
    used = 0 if counted is None else counted.prompt_tokens
    assert used in (given_, given_ + read + creation)
    assert counted is None or counted.output_tokens == output
    if accounting is not CacheAccounting.INCLUDED:
        assert read + creation <= used
