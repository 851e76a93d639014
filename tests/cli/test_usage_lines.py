"""Usage lines: whose call a line is, which window holds, and when a reset is told."""

from typing import Any

import pytest

from tests.cli.recorded import calls, reading, usage_line, used
from tests.shared_data import shared
from ullage_server.cli.recordings import read


def test_subagents_calls_are_counted_and_left_out() -> None:
    recording = reading(
        usage_line(used(1)),
        usage_line(used(900), is_subagent=True, agent="a"),
        usage_line(used(901), is_subagent=True, agent="b"),
        usage_line(used(2), agent="coder"),
    )
    assert [call.usage for call in recording.runs[0].calls] == [used(1), used(2)]
    assert recording.subagent_calls == 2


def test_a_file_of_subagents_alone_is_a_run_for_each() -> None:
    recording = reading(
        usage_line(used(1), is_subagent=True, agent="a"),
        usage_line(used(2), is_subagent=True, agent="b"),
        usage_line(used(3), is_subagent=True, agent="a"),
    )
    assert [(run.name, len(run.calls)) for run in recording.runs] == [("a", 2), ("b", 1)]
    assert recording.subagent_calls == 0


def test_an_event_told_twice_is_one_call() -> None:
    recording = reading(usage_line(used(1)), usage_line(used(1), dup_of_prev=True), usage_line(used(2)))
    assert [call.usage for call in recording.runs[0].calls] == [used(1), used(2)]
    assert recording.repeated == 1


def test_each_sequence_is_a_run_even_where_they_interleave() -> None:
    recording = reading(
        usage_line(used(1), sequence="a"), usage_line(used(2), sequence="b"), usage_line(used(3), sequence="a")
    )
    assert [(run.name, [call.usage for call in run.calls]) for run in recording.runs] == [
        ("a", [used(1), used(3)]),
        ("b", [used(2)]),
    ]


def test_a_stated_window_goes_before_an_assumed_one() -> None:
    (run,) = reading(
        usage_line(used(1), window=None, window_assumed=200_000),
        usage_line(used(2), window=258_400, window_assumed=200_000),
        usage_line(used(3), window=0),
    ).runs
    assert run.window == 258_400
    assert not run.window_assumed
    assert [call.window for call in run.calls] == [0, 258_400, 0]


def test_an_assumed_window_is_said_to_be_assumed() -> None:
    (run,) = reading(usage_line(used(1), window=None, window_assumed=200_000)).runs
    assert (run.window, run.window_assumed) == (200_000, True)


@pytest.mark.parametrize("window", [None, 0, -1, True, "200000", 2e5, 2**53])
def test_what_is_no_window_states_none(window: Any) -> None:
    (run,) = reading(usage_line(used(1), window=window)).runs
    assert (run.window, run.window_assumed) == (0, False)


def test_usage_that_is_no_object_is_none() -> None:
    assert [call.usage for call in calls(usage_line(None), usage_line(7), usage_line([]))] == [None, None, None]


def test_the_synthetic_model_is_no_model() -> None:
    assert calls(usage_line(used(0), model="<synthetic>"))[0].model == ""


NOTHING = {"input": 0, "cost": {"total": 0}}


@pytest.mark.parametrize(
    ("marks", "resets"),
    [
        pytest.param([(used(1), {}), (used(2), {"compacted_before": True}), (used(3), {})], [2], id="once"),
        pytest.param(
            [
                (used(1), {}),
                (NOTHING, {"compacted_before": True}),
                (used(3), {"compacted_before": True}),
                (used(4), {}),
            ],
            [2],
            id="the mark stays on behind an aborted call",
        ),
        pytest.param(
            [(used(1), {"compacted_before": True}), (used(2), {"compacted_before": True})],
            [1, 2],
            id="two in a row",
        ),
        pytest.param(
            [(used(1), {}), (used(1), {"compacted_before": True, "dup_of_prev": True}), (used(2), {})],
            [2],
            id="told with the next call where its line is no call",
        ),
        pytest.param(
            [
                (used(1), {"compacted_before": True}),
                (used(1), {"compacted_before": True, "dup_of_prev": True}),
                (used(2), {}),
            ],
            [1],
            id="a repeated event repeats its mark",
        ),
        pytest.param(
            [
                (used(1), {}),
                (used(9), {"compacted_before": True, "is_subagent": True}),
                (used(2), {}),
            ],
            [],
            id="a subagent's compaction is its own",
        ),
    ],
)
def test_a_reset_is_told_once_a_compaction(marks: list[tuple[Any, dict[str, Any]]], resets: list[int]) -> None:
    read_calls = calls(*(usage_line(usage, **more) for usage, more in marks))
    assert [turn for turn, call in enumerate(read_calls, 1) if call.window_reset] == resets


#: Of each recorded file: its runs, the calls in them, those of subagents, those told twice, and the turns that
#: tell a reset (of the first run).
FILES: dict[str, tuple[int, int, int, int, list[int]]] = {
    "claude-code-2b48f6": (1, 259, 22, 0, [161, 227]),
    "claude-code-64fce2": (1, 47, 32, 0, []),
    "claude-code-6b93f2-2": (1, 42, 26, 0, []),
    "claude-code-730c66": (1, 169, 0, 0, [68, 124]),
    "claude-code-jazzy-drift": (1, 2, 3, 0, [1]),
    "codex-acidic": (1, 40, 0, 39, []),
    "codex-jazzy-drift": (1, 3, 0, 0, [3]),
    "copilot-cli-vibe": (1, 6, 0, 0, []),
    "fixtures-anthropic": (112, 223, 0, 0, []),
    "fixtures-bedrock": (127, 161, 0, 0, []),
    "fixtures-deepseek": (23, 29, 0, 0, []),
    "fixtures-google": (65, 186, 0, 0, []),
    "fixtures-openai": (194, 398, 0, 0, []),
    "gemini-cli-2b9748": (1, 11, 0, 0, []),
    "gemini-cli-vibe": (1, 6, 0, 0, []),
    "kimi-assistant_tools": (1, 23, 0, 0, []),
    "mini-swe-deepseek-sqlfluff-1517": (1, 113, 0, 0, []),
    "opencode-events-footer-suppressed-on-pre-idle-interrupt": (1, 3, 0, 0, []),
    "openhands-sdk-sonnet": (1, 6, 0, 0, []),
    "pi-before-compaction": (1, 484, 0, 0, [174, 304]),
    "swe-agent-llm-20251201_105508": (1, 46, 0, 0, []),
}


@pytest.mark.parametrize("name", FILES)
def test_a_recorded_file_reads_into_its_calls(name: str) -> None:
    path = shared("data/usage") / f"{name}.jsonl"
    with path.open("rb") as stream:
        recording = read(stream)
    calls = sum(len(run.calls) for run in recording.runs)
    resets = [turn for turn, call in enumerate(recording.runs[0].calls, 1) if call.window_reset]
    assert (len(recording.runs), calls, recording.subagent_calls, recording.repeated, resets) == FILES[name]
    assert calls + recording.subagent_calls + recording.repeated == path.read_bytes().count(b"\n")
    assert recording.junk == recording.failed == 0


def test_no_recorded_file_is_passed_over() -> None:
    assert {path.stem for path in shared("data/usage").glob("*.jsonl")} == set(FILES)
