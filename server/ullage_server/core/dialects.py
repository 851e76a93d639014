"""The words in which each provider tells what a call took.

Rule: which counts of a usage object add up to the prompt, with the cached tokens in it exactly once, and
which to the output. `SHAPES` says it for every form; no other module knows a provider's key.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from .provider_json import UsageObject

# A sum of counts; each count is its spellings, of which the first that says something is taken.
Sum = tuple[tuple[str, ...], ...]


class Dialect(Enum):
    """The values of `ullage.v1.Dialect`, without their prefix."""

    UNSPECIFIED = 0
    ANTHROPIC_MESSAGES = 1
    OPENAI_CHAT = 2
    OPENAI_RESPONSES = 3
    GEMINI = 4
    BEDROCK_CONVERSE = 5
    PI = 6
    OPENCODE = 7
    KIMI_CLI = 8
    GEMINI_CLI = 9
    VERCEL_AI = 10


def _whole(usage: UsageObject) -> UsageObject:
    return usage


def _answering_pass(usage: UsageObject) -> UsageObject | None:
    """Anthropic: where `iterations` lists the passes of one call, the outer counts are sums over them.

    The last message is what the window holds now. It may be a fallback's, which answered in place of a model
    that did not. A compaction's prompt is what was there before, and an adviser is another model beside the
    run: passes of these kinds never count, and where there are no others nothing was said of the prompt. A
    kind unknown to us counts only where no message is listed.
    """
    passes = usage.children("iterations")
    if not passes:
        return usage
    messages = [p for p in passes if p.values.get("type") in (None, "message", "fallback_message")]
    others = [p for p in passes if p.values.get("type") not in ("compaction", "advisor_message")]
    return next(reversed(messages or others), None)


def _last_call(usage: UsageObject) -> UsageObject:
    """Codex: a `token_count` event wraps the last call's counts, and beside them the session's total."""
    for wrapper in ("info", "last_token_usage"):
        usage = usage.child(wrapper) or usage
    return usage


def _sum(formula: str) -> Sum:
    """Take a sum apart: `a|b + c.d` is the count a (also spelt b) plus the count d in the object c."""
    return tuple(tuple(term.split("|")) for term in formula.split(" + "))


@dataclass(frozen=True, slots=True)
class Shape:
    """One form of usage object: which keys make the prompt, which the output, and what betrays the form.

    Without the first term of `prompt` there is no prompt count; other absent terms count 0. `if_total` is
    output that stands beside `output` only where `total` proves it. With `inside_if_total` all terms of the
    prompt but the first are inside the first where first + output = `total`. `only` are the keys that no
    other form with the same prompt key has; with `needs_only` the prompt key alone does not betray the form.
    `deeper` are the keys below which the counts may stand, and `where` finds the place.
    """

    dialect: Dialect
    prompt: Sum
    output: Sum
    only: tuple[str, ...]
    total: Sum = ()
    if_total: Sum = ()
    inside_if_total: bool = False
    needs_only: bool = False
    deeper: tuple[str, ...] = ()
    where: Callable[[UsageObject], UsageObject | None] = _whole


SHAPES = (
    Shape(
        Dialect.ANTHROPIC_MESSAGES,
        prompt=_sum("input_tokens + cache_read_input_tokens + cache_creation_input_tokens"),
        output=_sum("output_tokens"),
        total=_sum("total_tokens"),  # never Anthropic's own, but proxies add it
        only=(
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "cache_creation",
            "iterations",
            "server_tool_use",
            "inference_geo",
        ),
        deeper=("iterations",),
        where=_answering_pass,
    ),
    Shape(  # and all who speak like it: the cached tokens, under whatever key, are inside
        Dialect.OPENAI_CHAT,
        prompt=_sum("prompt_tokens"),
        output=_sum("completion_tokens"),
        if_total=_sum("completion_tokens_details.reasoning_tokens"),  # xAI's completion leaves them out
        total=_sum("total_tokens"),
        only=("prompt_tokens",),
    ),
    Shape(
        Dialect.OPENAI_RESPONSES,
        prompt=_sum("input_tokens"),
        output=_sum("output_tokens"),
        total=_sum("total_tokens"),
        only=(
            "input_tokens_details",
            "total_tokens",
            "cached_input_tokens",
            "reasoning_output_tokens",
            "info",
            "last_token_usage",
            "total_token_usage",
        ),
        deeper=("info", "last_token_usage"),
        where=_last_call,
    ),
    Shape(  # the REST spelling, the Python client's, and the Live API's word for candidates
        Dialect.GEMINI,
        prompt=_sum("promptTokenCount|prompt_token_count + toolUsePromptTokenCount|tool_use_prompt_token_count"),
        output=_sum(
            "candidatesTokenCount|candidates_token_count|responseTokenCount|response_token_count"
            " + thoughtsTokenCount|thoughts_token_count"
        ),
        total=_sum("totalTokenCount|total_token_count"),
        only=("promptTokenCount", "prompt_token_count"),
    ),
    Shape(  # the Interactions API; harnesses give a session's totals under the same first key
        Dialect.GEMINI,
        prompt=_sum("total_input_tokens + total_tool_use_tokens"),
        output=_sum("total_output_tokens + total_thought_tokens"),
        total=_sum("total_tokens"),
        only=("total_tool_use_tokens", "total_thought_tokens", "input_tokens_by_modality"),
        needs_only=True,
    ),
    Shape(  # for some model families the cached tokens are inside after all, and the total shows it
        Dialect.BEDROCK_CONVERSE,
        prompt=_sum(
            "inputTokens + cacheReadInputTokens|cacheReadInputTokenCount"
            " + cacheWriteInputTokens|cacheWriteInputTokenCount"
        ),
        output=_sum("outputTokens"),
        total=_sum("totalTokens"),
        inside_if_total=True,
        only=(
            "cacheReadInputTokens",
            "cacheReadInputTokenCount",
            "cacheWriteInputTokens",
            "cacheWriteInputTokenCount",
            "cacheDetails",
            "serverToolUsage",
        ),
    ),
    Shape(
        Dialect.PI,
        prompt=_sum("input + cacheRead + cacheWrite"),
        output=_sum("output"),
        total=_sum("totalTokens"),
        only=("cacheRead", "cacheWrite", "totalTokens"),
    ),
    Shape(
        Dialect.OPENCODE,
        prompt=_sum("input + cache.read + cache.write"),
        output=_sum("output"),
        if_total=_sum("reasoning"),
        total=_sum("total"),
        only=("cache", "reasoning"),
    ),
    Shape(
        Dialect.KIMI_CLI,
        prompt=_sum(
            "inputOther|input_other + inputCacheRead|input_cache_read + inputCacheCreation|input_cache_creation"
        ),
        output=_sum("output"),
        only=("inputOther", "input_other"),
    ),
    Shape(
        Dialect.GEMINI_CLI,
        prompt=_sum("input + tool"),
        output=_sum("output + thoughts"),
        total=_sum("total"),
        only=("cached", "thoughts", "tool"),
    ),
    Shape(
        Dialect.VERCEL_AI,
        prompt=_sum("inputTokens"),
        output=_sum("outputTokens"),
        total=_sum("totalTokens"),
        only=("cachedInputTokens", "reasoningTokens", "inputTokenDetails", "outputTokenDetails"),
    ),
)
