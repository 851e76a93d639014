"""Claude Code transcripts: which of their many lines make a call, and whose it is."""

import pytest

from tests.cli.recorded import BOUNDARY, SUMMARY, assistant, calls, reading, used
from ullage_server.cli.recordings import RecordingError


def test_lines_of_one_message_are_one_call_and_the_last_wins() -> None:
    result = {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result"}]}}
    read_calls = calls(
        assistant({"input_tokens": 3, "output_tokens": 9}, "m1"),
        result,
        assistant({"input_tokens": 3, "output_tokens": 160}, "m1"),
        assistant(used(20), "m2"),
    )
    assert [call.usage for call in read_calls] == [{"input_tokens": 3, "output_tokens": 160}, used(20)]


def test_a_last_line_without_usage_takes_none_away() -> None:
    assert [call.usage for call in calls(assistant(used(3), "m1"), assistant(None, "m1"))] == [used(3)]


def test_lines_without_a_message_id_are_calls_of_their_own() -> None:
    assert len(calls(assistant(used(3)), assistant(used(3)))) == 2


def test_a_reply_without_usage_is_a_call_that_reported_nothing() -> None:
    line = assistant(None, "m1")
    del line["message"]["usage"]
    assert [call.usage for call in calls(line)] == [None]


@pytest.mark.parametrize(
    "mark",
    [
        {"isSidechain": True},
        {"isSidechain": True, "agentId": "a1"},
        {"agentId": "a1"},
        {"parent_tool_use_id": "toolu_1"},
    ],
)
def test_a_subagents_calls_are_not_its_parents(mark: dict[str, object]) -> None:
    recording = reading(
        assistant(used(1), "m1"),
        assistant(used(900), "s1", **mark),
        assistant(used(900), "s1", **mark),
        assistant(used(901), "s2", **mark),
        assistant(used(2), "m2"),
    )
    assert [call.usage for call in recording.runs[0].calls] == [used(1), used(2)]
    assert recording.subagent_calls == 2


def test_a_subagents_own_transcript_is_its_run() -> None:
    (run,) = reading(*(assistant(used(n), f"m{n}", isSidechain=True, agentId="a1") for n in (1, 2))).runs
    assert (run.name, len(run.calls)) == ("a1", 2)


@pytest.mark.parametrize("marks", [[BOUNDARY], [SUMMARY], [BOUNDARY, SUMMARY]])
def test_a_compaction_is_told_with_the_next_call_once(marks: list[dict[str, object]]) -> None:
    read_calls = calls(
        assistant(used(100), "m1"),
        *marks,
        assistant(used(10), "m2"),
        assistant(used(10), "m2"),
        assistant(used(11), "m3"),
    )
    assert [call.window_reset for call in read_calls] == [False, True, False]


def test_a_late_line_of_a_call_before_the_compaction_is_not_the_first_after_it() -> None:
    read_calls = calls(assistant(used(100), "m1"), BOUNDARY, assistant(used(100), "m1"), assistant(used(10), "m2"))
    assert [call.window_reset for call in read_calls] == [False, True]


def test_a_subagents_compaction_is_its_own() -> None:
    side = {"isSidechain": True, "agentId": "a1"}
    read_calls = calls(
        assistant(used(1), "m1"), assistant(used(9), "s1", **side), BOUNDARY | side, assistant(used(2), "m2")
    )
    assert [call.window_reset for call in read_calls] == [False, False]


def test_a_call_that_failed_is_no_turn_and_does_not_take_the_reset() -> None:
    failed = assistant(used(0), "e1", isApiErrorMessage=True)
    synthetic = assistant(used(0), "e2")
    synthetic["message"]["model"] = "<synthetic>"
    recording = reading(assistant(used(100), "m1"), BOUNDARY, failed, synthetic, assistant(used(10), "m2"))
    assert [call.usage for call in recording.runs[0].calls] == [used(100), used(10)]
    assert [call.window_reset for call in recording.runs[0].calls] == [False, True]
    assert recording.failed == 2


def test_a_transcript_of_failures_alone_holds_no_call() -> None:
    with pytest.raises(RecordingError, match="whose reply was kept"):
        reading(assistant(used(0), "e1", isApiErrorMessage=True))


def test_the_model_of_each_call_is_kept() -> None:
    other = assistant(used(2), "m2")
    other["message"]["model"] = "claude-y"
    assert [call.model for call in calls(assistant(used(1), "m1"), other)] == ["claude-x", "claude-y"]
