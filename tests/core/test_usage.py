"""What each provider's words come down to, and our own, in figures made for it."""

import json
from typing import Any

import pytest

from ullage_server.core.domain import MAX_TOKENS
from ullage_server.core.errors import Refusal
from ullage_server.core.usage import (
    CacheAccounting,
    CountedUsage,
    Dialect,
    count_model_usage,
    count_provider_usage,
)

ANTHROPIC = Dialect.ANTHROPIC_MESSAGES
CHAT = Dialect.OPENAI_CHAT
RESPONSES = Dialect.OPENAI_RESPONSES
BEDROCK = Dialect.BEDROCK_CONVERSE
ANY = Dialect.UNSPECIFIED


def count(dialect: Dialect, usage: object) -> CountedUsage | None:
    return count_provider_usage(dialect, json.dumps(usage))


def figures(dialect: Dialect, usage: object) -> tuple[int, int | None] | None:
    counted = count(dialect, usage)
    return None if counted is None else (counted.prompt_tokens, counted.output_tokens)


# Dialect, object, prompt, output. Each is told from its keys as well, with the same result.
CANONICAL: list[tuple[Dialect, dict[str, Any], int, int | None]] = [
    (ANTHROPIC, {"input_tokens": 7, "output_tokens": 3}, 7, 3),
    (
        ANTHROPIC,
        {
            "input_tokens": 7,
            "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 20,
            "cache_creation": {"ephemeral_5m_input_tokens": 15, "ephemeral_1h_input_tokens": 5},
            "output_tokens": 3,
        },
        127,
        3,
    ),
    (ANTHROPIC, {"input_tokens": 0, "cache_read_input_tokens": 100}, 100, None),
    (CHAT, {"prompt_tokens": 50, "completion_tokens": 6, "total_tokens": 56}, 50, 6),
    (
        CHAT,
        {"prompt_tokens": 50, "prompt_tokens_details": {"cached_tokens": 48}, "completion_tokens": 0},
        50,
        0,
    ),
    (CHAT, {"prompt_tokens": 50, "prompt_cache_hit_tokens": 40, "prompt_cache_miss_tokens": 10}, 50, None),
    (CHAT, {"prompt_tokens": 50, "cached_tokens": 40, "cache_read_input_tokens": 40}, 50, None),
    (
        CHAT,
        {
            "prompt_tokens": 50,
            "completion_tokens": 6,
            "completion_tokens_details": {"reasoning_tokens": 30},
            "total_tokens": 86,
        },
        50,
        36,
    ),
    (
        CHAT,
        {
            "prompt_tokens": 50,
            "completion_tokens": 36,
            "completion_tokens_details": {"reasoning_tokens": 30},
            "total_tokens": 86,
        },
        50,
        36,
    ),
    (
        RESPONSES,
        {"input_tokens": 90, "cached_input_tokens": 80, "output_tokens": 9, "total_tokens": 99},
        90,
        9,
    ),
    (
        RESPONSES,
        {"input_tokens": 90, "input_tokens_details": {"cached_tokens": 80}, "output_tokens": 9},
        90,
        9,
    ),
    (
        Dialect.GEMINI,
        {
            "promptTokenCount": 40,
            "cachedContentTokenCount": 30,
            "toolUsePromptTokenCount": 5,
            "candidatesTokenCount": 2,
            "thoughtsTokenCount": 8,
            "totalTokenCount": 55,
        },
        45,
        10,
    ),
    (Dialect.GEMINI, {"promptTokenCount": 40, "thoughtsTokenCount": 8}, 40, 8),
    (Dialect.GEMINI, {"promptTokenCount": 40, "responseTokenCount": 6}, 40, 6),
    (
        Dialect.GEMINI,
        {"prompt_token_count": 40, "tool_use_prompt_token_count": 5, "candidates_token_count": 2},
        45,
        2,
    ),
    (
        Dialect.GEMINI,
        {
            "total_input_tokens": 40,
            "total_tool_use_tokens": 5,
            "total_cached_tokens": 30,
            "total_output_tokens": 2,
            "total_thought_tokens": 8,
            "total_tokens": 55,
        },
        45,
        10,
    ),
    (BEDROCK, {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10}, 7, 3),
    (BEDROCK, {"inputTokens": 7, "cacheReadInputTokens": 100, "cacheWriteInputTokens": 20}, 127, None),
    (
        BEDROCK,
        {
            "inputTokens": 7,
            "cacheReadInputTokens": 100,
            "cacheReadInputTokenCount": 100,
            "cacheWriteInputTokenCount": 20,
            "outputTokens": 3,
            "totalTokens": 130,
        },
        127,
        3,
    ),
    (
        BEDROCK,
        {"inputTokens": 130, "cacheReadInputTokens": 100, "outputTokens": 3, "totalTokens": 133},
        130,
        3,
    ),
    # A part cannot exceed its whole, so here the total is one that left the cached tokens out.
    (BEDROCK, {"inputTokens": 7, "cacheReadInputTokens": 100, "outputTokens": 3, "totalTokens": 10}, 107, 3),
    (
        Dialect.PI,
        {"input": 7, "output": 3, "cacheRead": 100, "cacheWrite": 20, "cost": {"input": 0.1}},
        127,
        3,
    ),
    (
        Dialect.OPENCODE,
        {"input": 7, "output": 3, "reasoning": 9, "cache": {"read": 100, "write": 20}},
        127,
        3,
    ),
    (
        Dialect.OPENCODE,
        {"input": 7, "output": 3, "reasoning": 9, "cache": {"read": 100, "write": 20}, "total": 139},
        127,
        12,
    ),
    (
        Dialect.OPENCODE,
        {"input": 7, "output": 12, "reasoning": 9, "cache": {"read": 100, "write": 20}, "total": 139},
        127,
        12,
    ),
    (
        Dialect.KIMI_CLI,
        {"inputOther": 7, "output": 3, "inputCacheRead": 100, "inputCacheCreation": 20},
        127,
        3,
    ),
    (
        Dialect.KIMI_CLI,
        {"input_other": 7, "output": 3, "input_cache_read": 100, "input_cache_creation": 20},
        127,
        3,
    ),
    (
        Dialect.GEMINI_CLI,
        {"input": 40, "cached": 30, "tool": 5, "output": 2, "thoughts": 8, "total": 55},
        45,
        10,
    ),
    (Dialect.GEMINI_CLI, {"input": 40, "output": 2, "thoughts": 8}, 40, 10),
    (Dialect.GEMINI_CLI, {"input": 40, "output": 2, "tool": 5}, 45, 2),
    (Dialect.VERCEL_AI, {"inputTokens": 90, "cachedInputTokens": 80, "outputTokens": 9}, 90, 9),
    (
        Dialect.VERCEL_AI,
        {
            "inputTokens": 90,
            "inputTokenDetails": {"cacheReadTokens": 80},
            "outputTokens": 9,
            "totalTokens": 99,
        },
        90,
        9,
    ),
]


@pytest.mark.parametrize(("dialect", "usage", "prompt", "output"), CANONICAL)
def test_a_named_dialect(dialect: Dialect, usage: dict[str, Any], prompt: int, output: int | None) -> None:
    assert figures(dialect, usage) == (prompt, output)


@pytest.mark.parametrize(("dialect", "usage", "prompt", "output"), CANONICAL)
def test_told_from_the_keys_it_is_the_same(
    dialect: Dialect, usage: dict[str, Any], prompt: int, output: int | None
) -> None:
    assert figures(ANY, usage) == (prompt, output), dialect


@pytest.mark.parametrize(
    ("dialect", "usage", "formula"),
    [
        (
            ANTHROPIC,
            {"input_tokens": 1},
            "input_tokens + cache_read_input_tokens + cache_creation_input_tokens",
        ),
        (
            ANTHROPIC,
            {"iterations": [{"type": "compaction", "input_tokens": 9}, {"input_tokens": 1}]},
            "input_tokens + cache_read_input_tokens + cache_creation_input_tokens of iterations[1]",
        ),
        (
            RESPONSES,
            {"info": {"last_token_usage": {"input_tokens": 1}}},
            "input_tokens of info.last_token_usage",
        ),
        (
            Dialect.GEMINI,
            {"prompt_token_count": 1, "tool_use_prompt_token_count": 1},
            "prompt_token_count + tool_use_prompt_token_count",
        ),
        (BEDROCK, {"inputTokens": 9, "cacheReadInputTokens": 8, "totalTokens": 9}, "inputTokens"),
        (
            BEDROCK,
            {"inputTokens": 9, "cacheReadInputTokenCount": 8, "totalTokens": 17},
            "inputTokens + cacheReadInputTokenCount + cacheWriteInputTokens",
        ),
        (Dialect.OPENCODE, {"input": 1}, "input + cache.read + cache.write"),
        (ANY, {"input_tokens": 1, "output_tokens": 1}, "input_tokens"),
    ],
)
def test_the_formula_is_in_the_providers_words(dialect: Dialect, usage: object, formula: str) -> None:
    counted = count(dialect, usage)
    assert counted is not None
    assert counted.counted_as == formula


@pytest.mark.parametrize(
    ("dialect", "usage"),
    [
        (ANTHROPIC, None),
        (ANY, None),
        (ANTHROPIC, {}),
        (ANTHROPIC, {"output_tokens": 12}),
        (ANTHROPIC, {"input_tokens": None, "cache_read_input_tokens": 100}),
        (ANTHROPIC, {"input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 4}),
        (ANTHROPIC, {"prompt_tokens": 12}),
        (CHAT, {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}),
        (CHAT, {"promt_tokens": 12}),
        (RESPONSES, {"info": None}),
        (RESPONSES, {"type": "token_count", "info": None, "rate_limits": {"primary": None}}),
        (RESPONSES, {"total_token_usage": {"input_tokens": 500}}),
        (RESPONSES, {"info": {"total_token_usage": {"input_tokens": 500}, "last_token_usage": None}}),
        (Dialect.GEMINI, {"totalTokenCount": 300}),
        (Dialect.GEMINI, {"toolUsePromptTokenCount": 300}),
        (Dialect.KIMI_CLI, {"inputCacheRead": 300, "output": 4}),
        (Dialect.VERCEL_AI, {"outputTokens": 4}),
        (Dialect.PI, {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0}),
    ],
)
def test_no_prompt_count_is_no_usage(dialect: Dialect, usage: object) -> None:
    assert count(dialect, usage) is None
    assert count(ANY, usage) is None or dialect is ANTHROPIC  # where another dialect's key stands in it


def test_a_dialect_is_not_guessed_where_it_is_named() -> None:
    assert count(CHAT, {"input_tokens": 5}) is None
    assert count(ANY, {"prompt_tokens": 5}) == CountedUsage(5, None, "prompt_tokens")


# --- Anthropic's passes, Codex's wrappers ---------------------------------------------------------


def passes(*kinds: tuple[str | None, int, int]) -> dict[str, Any]:
    listed = [{"type": k, "input_tokens": i, "output_tokens": o} for k, i, o in kinds]
    return {"input_tokens": 9000, "output_tokens": 900, "iterations": listed}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (passes(), (9000, 900)),
        (passes(("message", 10, 1), ("message", 20, 2)), (20, 2)),
        (passes(("compaction", 500, 50), ("message", 20, 2)), (20, 2)),
        (passes(("message", 20, 2), ("compaction", 500, 50)), (20, 2)),
        (passes(("message", 10, 1), ("advisor_message", 300, 30), ("message", 20, 2)), (20, 2)),
        (passes(("message", 20, 2), ("advisor_message", 300, 30)), (20, 2)),
        (passes(("message", 10, 0), ("fallback_message", 20, 2)), (20, 2)),
        (passes((None, 10, 1), (None, 20, 2)), (20, 2)),
        (passes(("message", 20, 2), ("never_heard_of", 70, 7)), (20, 2)),
        (passes(("compaction", 500, 50), ("never_heard_of", 70, 7)), (70, 7)),
        (passes(("compaction", 500, 50)), None),
        (passes(("advisor_message", 300, 30)), None),
        (passes(("message", 10, 1), ("message", 0, 0)), None),
        ({"input_tokens": 8, "iterations": None}, (8, None)),
        ({"input_tokens": 8, "iterations": [None]}, (8, None)),
        ({"iterations": [{"type": "message", "input_tokens": 8, "cache_read_input_tokens": 90}]}, (98, None)),
        ({"input_tokens": 8, "iterations": [{"type": ["message"], "input_tokens": 9}]}, (9, None)),
    ],
)
def test_the_last_message_among_the_passes(usage: dict[str, Any], expected: tuple[int, int | None] | None) -> None:
    assert figures(ANTHROPIC, usage) == expected
    assert figures(ANY, usage) == expected


LAST = {"input_tokens": 40, "cached_input_tokens": 30, "output_tokens": 4, "total_tokens": 44}
LIFETIME = {"input_tokens": 4000, "cached_input_tokens": 3000, "output_tokens": 400, "total_tokens": 4400}


@pytest.mark.parametrize(
    "usage",
    [
        LAST,
        {"total_token_usage": LIFETIME, "last_token_usage": LAST, "model_context_window": 258400},
        {"info": {"total_token_usage": LIFETIME, "last_token_usage": LAST}},
        {"type": "token_count", "info": {"last_token_usage": LAST}, "rate_limits": None},
        {**LAST, "total_token_usage": LIFETIME},
        {**LAST, "info": None, "last_token_usage": None},
    ],
)
def test_codex_the_last_call_and_never_the_lifetime(usage: dict[str, Any]) -> None:
    assert figures(RESPONSES, usage) == (40, 4)
    assert figures(ANY, usage) == (40, 4)


# --- told from the keys, where two forms fit ------------------------------------------------------


@pytest.mark.parametrize(
    ("usage", "prompt"),
    [
        # Both forms' keys; the total proves one, either way.
        ({"input_tokens": 50, "cache_read_input_tokens": 40, "output_tokens": 5, "total_tokens": 55}, 50),
        ({"input_tokens": 50, "cache_read_input_tokens": 40, "output_tokens": 5, "total_tokens": 95}, 90),
        # The cached ones are more than the input: they are not inside, whatever the total says.
        ({"input_tokens": 3, "cache_read_input_tokens": 40, "output_tokens": 5, "total_tokens": 8}, 43),
        ({"inputTokens": 3, "cachedInputTokens": 40, "cacheReadInputTokens": 40}, 43),
        # Nothing proves either: the smaller.
        ({"input_tokens": 50, "cache_read_input_tokens": 40, "output_tokens": 5, "total_tokens": 70}, 50),
        (
            {
                "input_tokens": 50,
                "cache_read_input_tokens": 40,
                "input_tokens_details": {"cached_tokens": 40},
            },
            50,
        ),
        # A null betrays no form.
        ({"input_tokens": 50, "cache_read_input_tokens": 40, "input_tokens_details": None}, 90),
        ({"input_tokens": 50, "cache_read_input_tokens": None, "total_tokens": 50}, 50),
        # A key only one form has decides over keys that two have.
        ({"prompt_tokens": 70, "completion_tokens": 2, "input_tokens": 50, "output_tokens": 2}, 70),
        # A reading of 0 is none.
        ({"prompt_tokens": 0, "completion_tokens": 0, "input_tokens": 50, "output_tokens": 2}, 50),
        # The three that say `input`.
        ({"input": 5, "output": 2}, 5),
        ({"input": 5, "output": 2, "total": 7}, 5),
        ({"input": 5, "output": 2, "cost": 0.25, "cache": {"read": 3, "write": 0}}, 8),
        ({"input": 5, "cacheRead": 3, "tool": 1, "output": 2, "totalTokens": 10, "total": 10}, 8),
        # A key of a form whose prompt key is not there betrays nothing.
        ({"prompt_tokens": 50, "cache_read_input_tokens": 40, "cache": 3, "tool": "x"}, 50),
        # Totals of a session, as harnesses keep them.
        ({"total_input_tokens": 15234, "total_output_tokens": 4521, "context_window_size": 200000}, None),
    ],
)
def test_where_two_forms_fit(usage: dict[str, Any], prompt: int | None) -> None:
    counted = count(ANY, usage)
    assert (None if counted is None else counted.prompt_tokens) == prompt


# --- in our own words -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accounting", "figures", "expected"),
    [
        (CacheAccounting.UNSPECIFIED, (50, 30, 20), CountedUsage(50, 4, "input")),
        (
            CacheAccounting.UNSPECIFIED,
            (50, 30, 21),
            CountedUsage(101, 4, "input + cache_read + cache_creation"),
        ),
        (CacheAccounting.INCLUDED, (50, 30, 20), CountedUsage(50, 4, "input")),
        (CacheAccounting.INCLUDED, (50, 300, 20), CountedUsage(50, 4, "input")),
        (CacheAccounting.EXCLUDED, (50, 30, 20), CountedUsage(100, 4, "input + cache_read + cache_creation")),
        (CacheAccounting.EXCLUDED, (0, 0, 0), None),
        (CacheAccounting.INCLUDED, (0, 30, 20), None),
        (CacheAccounting.UNSPECIFIED, (0, 0, 0), None),
        (CacheAccounting.UNSPECIFIED, (0, 7, 0), CountedUsage(7, 4, "input + cache_read + cache_creation")),
    ],
)
def test_model_usage(
    accounting: CacheAccounting, figures: tuple[int, int, int], expected: CountedUsage | None
) -> None:
    given, read, creation = figures
    counted = count_model_usage(
        input_tokens=given,
        output_tokens=4,
        cache_read_input_tokens=read,
        cache_creation_input_tokens=creation,
        cache_accounting=accounting,
    )
    assert counted == expected


@pytest.mark.parametrize("value", [-1, MAX_TOKENS + 1])
@pytest.mark.parametrize(
    "name", ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]
)
def test_model_usage_outside_the_domain_names_the_field(name: str, value: int) -> None:
    counts = {
        "input_tokens": 1,
        "output_tokens": 1,
        "cache_read_input_tokens": 1,
        "cache_creation_input_tokens": 1,
        name: value,
    }
    with pytest.raises(Refusal) as caught:
        count_model_usage(**counts, cache_accounting=CacheAccounting.INCLUDED)
    assert caught.value.field == f"report.usage.{name}"


def test_sums_beyond_the_domain_are_refused() -> None:
    half = 2**52
    for dialect, usage in (
        (ANTHROPIC, {"input_tokens": half, "cache_read_input_tokens": half}),
        (CHAT, {"prompt_tokens": half, "completion_tokens": half}),
    ):
        with pytest.raises(Refusal, match=str(MAX_TOKENS)):
            count(dialect, usage)
    assert figures(CHAT, {"prompt_tokens": half, "completion_tokens": half - 1}) == (half, half - 1)
    for field, output, read in (("input_tokens", 0, half), ("output_tokens", half, 0)):
        with pytest.raises(Refusal) as caught:
            count_model_usage(
                input_tokens=half,
                output_tokens=output,
                cache_read_input_tokens=read,
                cache_creation_input_tokens=0,
                cache_accounting=CacheAccounting.EXCLUDED,
            )
        assert caught.value.field == f"report.usage.{field}"


def test_the_numbers_are_the_wires() -> None:
    assert [d.value for d in Dialect] == list(range(11))
    assert (Dialect.UNSPECIFIED.value, Dialect.VERCEL_AI.value) == (0, 10)
    assert [a.name for a in CacheAccounting] == ["UNSPECIFIED", "INCLUDED", "EXCLUDED"]
    assert [a.value for a in CacheAccounting] == [0, 1, 2]
