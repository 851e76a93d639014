"""Which texts hold no usage object, and which counts are none: all refused, and by name."""

import json

import pytest

from ullage_server.core.domain import MAX_TOKENS
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.usage import CountedUsage, Dialect, count_provider_usage

ANTHROPIC = Dialect.ANTHROPIC_MESSAGES
CHAT = Dialect.OPENAI_CHAT
RESPONSES = Dialect.OPENAI_RESPONSES
ANY = Dialect.UNSPECIFIED


def refusal(dialect: Dialect, text: str) -> Refusal:
    with pytest.raises(Refusal) as caught:
        count_provider_usage(dialect, text)
    assert caught.value.reason is Reason.ARGUMENT_INVALID
    assert caught.value.field == "report.provider_usage.json"
    return caught.value


@pytest.mark.parametrize(
    "bad",
    ["-1", "1.5", "true", "false", '"300"', "[]", "{}", "1e999", str(MAX_TOKENS + 1), "9" * 300, "1e300"],
)
@pytest.mark.parametrize(
    ("dialect", "text", "named"),
    [
        (ANTHROPIC, '{"input_tokens": %s}', "input_tokens"),
        (ANY, '{"input_tokens": %s}', "input_tokens"),
        (ANTHROPIC, '{"input_tokens": 1, "cache_read_input_tokens": %s}', "cache_read_input_tokens"),
        (ANTHROPIC, '{"input_tokens": 1, "output_tokens": %s}', "output_tokens"),
        (ANTHROPIC, '{"output_tokens": %s}', "output_tokens"),
        (ANTHROPIC, '{"iterations": [{"input_tokens": %s}]}', "iterations[0].input_tokens"),
        (Dialect.OPENCODE, '{"input": 1, "cache": {"read": %s}}', "cache.read"),
        (Dialect.GEMINI, '{"promptTokenCount": 1, "thoughtsTokenCount": %s}', "thoughtsTokenCount"),
        (
            RESPONSES,
            '{"info": {"last_token_usage": {"input_tokens": %s}}}',
            "info.last_token_usage.input_tokens",
        ),
    ],
)
def test_a_count_that_is_none_is_refused_by_name(dialect: Dialect, text: str, named: str, bad: str) -> None:
    assert named in refusal(dialect, text % bad).message


@pytest.mark.parametrize(("text", "value"), [("300.0", 300), ("3e2", 300), ("9007199254740991", MAX_TOKENS)])
def test_a_whole_number_however_written(text: str, value: int) -> None:
    counted = count_provider_usage(CHAT, f'{{"prompt_tokens": {text}, "completion_tokens": null}}')
    assert counted == CountedUsage(value, None, "prompt_tokens")


@pytest.mark.parametrize(
    ("dialect", "usage", "named"),
    [
        (ANTHROPIC, {"input_tokens": 1, "iterations": {}}, "iterations"),
        (ANTHROPIC, {"input_tokens": 1, "iterations": [1]}, "iterations"),
        (RESPONSES, {"info": 5}, "info"),
        (RESPONSES, {"info": {"last_token_usage": []}}, "info.last_token_usage"),
        (Dialect.OPENCODE, {"input": 1, "cache": 5}, "cache"),
        (CHAT, {"prompt_tokens": 1, "completion_tokens": 1, "completion_tokens_details": "none"}, "details"),
    ],
)
def test_a_part_of_another_type_is_refused_by_name(dialect: Dialect, usage: object, named: str) -> None:
    assert named in refusal(dialect, json.dumps(usage)).message


@pytest.mark.parametrize("dialect", [CHAT, ANY])
@pytest.mark.parametrize("details", [None, {}, {"reasoning_tokens": None}])
def test_null_details_are_none(dialect: Dialect, details: object) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "completion_tokens_details": details}
    assert count_provider_usage(dialect, json.dumps(usage)) == CountedUsage(5, 2, "prompt_tokens")


def test_what_is_not_read_may_be_anything() -> None:
    usage = '{"prompt_tokens": 5, "prompt_tokens_details": "odd", "x": 1e999, "y": %s, "\\ud800": -1}' % (
        "7" * 200
    )
    assert count_provider_usage(CHAT, usage) == CountedUsage(5, None, "prompt_tokens")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        '{"input_tokens": 5',
        "[1, 2]",
        '"800"',
        "800",
        "true",
        "nul",
        "{'input_tokens': 5}",
        '{"input_tokens": 5} x',
        '{"x": NaN, "input_tokens": 5}',
        '{"x": Infinity}',
        '{"x": -Infinity}',
        '{"x": %s}' % ("9" * 401),
        '{"x": %s}' % ("9" * 5000),
        '{"input_tokens": -%s}' % ("9" * 5000),
        "\ufeff{}",
        "\ud800",
        '{"x": "\x00"}',
    ],
)
def test_text_that_is_no_object(text: str) -> None:
    refusal(ANY, text)


def test_the_last_of_a_key_said_twice() -> None:
    assert count_provider_usage(CHAT, '{"prompt_tokens": "x", "prompt_tokens": 5}') == CountedUsage(
        5, None, "prompt_tokens"
    )


def test_64_kib_of_utf8_and_no_byte_more() -> None:
    def text(size: int, filler: str) -> str:
        head, tail = '{"prompt_tokens": 5, "x": "', '"}'
        room = size - len(head) - len(tail)
        width = len(filler.encode())
        return head + filler * (room // width) + "." * (room % width) + tail

    for filler in (".", "é", "漢", "😀"):
        assert count_provider_usage(CHAT, text(65536, filler)) is not None
        assert "65536" in refusal(CHAT, text(65537, filler)).message
    assert "65536" in refusal(CHAT, "\ud800" * 30000).message


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"x":', "}")])
def test_32_deep_and_no_deeper(opening: str, closing: str) -> None:
    def text(depth: int) -> str:
        inner = opening * (depth - 1) + "1" + closing * (depth - 1)
        return f'{{"prompt_tokens": 5, "beside": [[]], "x": {inner}}}'

    assert count_provider_usage(CHAT, text(32)) is not None
    assert "32" in refusal(CHAT, text(33)).message
    assert "32" in refusal(CHAT, text(9000)).message
    assert "32" in refusal(CHAT, opening * 9000).message


def test_brackets_in_strings_and_beside_each_other_are_not_deep() -> None:
    usage = {"prompt_tokens": 5, "x": "[{" * 500, 'y"\\': '\\"[[' * 500, "z": [[]] * 500}
    assert count_provider_usage(CHAT, json.dumps(usage)) is not None


@pytest.mark.timeout(5)
@pytest.mark.parametrize("unit", ['\\"', "\\", '"', '["', '"\\', '{"[\\"'])
def test_no_text_costs_more_than_its_length(unit: str) -> None:
    for start in ('"', '[["', ""):
        refusal(ANY, "[{" * 20 + start + unit * (65000 // len(unit)))
