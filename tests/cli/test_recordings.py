"""Reading a recording: its form is told from its content, and what can't be read costs only its own line."""

import io
import json

import pytest

from tests.cli.recorded import assistant, calls, lines, reading, usage_line, used
from ullage_server.cli.recordings import RecordingError, read


def test_bare_usage_objects_are_calls_in_order_and_null_is_one_that_reported_nothing() -> None:
    read_calls = calls(used(1), None, {"prompt_tokens": 3})
    assert [call.usage for call in read_calls] == [used(1), None, {"prompt_tokens": 3}]


def test_whole_responses_are_calls_with_their_model() -> None:
    (call,) = calls({"id": "resp_1", "model": "gpt-x", "usage": {"prompt_tokens": 3}})
    assert call.model == "gpt-x"
    assert call.usage == {"id": "resp_1", "model": "gpt-x", "usage": {"prompt_tokens": 3}}


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_is_read_as_its_elements(indent: int | None) -> None:
    text = json.dumps([used(1), None, used(2)], indent=indent)
    (run,) = read(io.BytesIO(text.encode())).runs
    assert [call.usage for call in run.calls] == [used(1), None, used(2)]


def test_lines_that_begin_like_an_array_are_still_lines() -> None:
    recording = reading(b"[debug] starting\n", used(1), used(2))
    assert [call.usage for call in recording.runs[0].calls] == [used(1), used(2)]
    assert (recording.junk, recording.junk_at) == (1, (1,))


def test_byte_order_mark_crlf_and_blank_lines_are_no_calls() -> None:
    recording = reading(b"\xef\xbb\xbf\r\n", lines(used(1)).replace(b"\n", b"\r\n"), b"\r\n   \n", used(2))
    assert len(recording.runs[0].calls) == 2
    assert recording.junk == 0
    assert [call.usage for call in calls(b"\xef\xbb\xbf", used(1))] == [used(1)]


def test_the_last_line_needs_no_line_end() -> None:
    assert len(calls(lines(used(1), used(2)).rstrip(b"\n"))) == 2


def test_junk_is_counted_and_passed_over() -> None:
    deep = b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"\n"
    digits = b'{"input_tokens": ' + b"9" * 5000 + b"}\n"
    recording = reading(b"Traceback\n", b'{"input_tok\n', deep, digits, "a string", 7, {"log": "text"}, used(1))
    assert [call.usage for call in recording.runs[0].calls] == [used(1)]
    assert (recording.junk, recording.junk_at, recording.unit) == (7, (1, 2, 3, 4, 5), "line")


def test_a_deep_usage_object_is_read_or_junk_but_never_fatal() -> None:
    for depth in (100, 300, 700, 950):
        deep = b'{"raw_usage": ' + b'{"a":' * depth + b"1" + b"}" * depth + b"}\n"
        assert len(reading(deep, usage_line(used(1))).runs) == 1


def test_a_huge_line_is_read() -> None:
    blocks = [{"type": "text", "text": "x" * 20_000_000}]
    line = assistant(used(5), "m1")
    line["message"]["content"] = blocks
    assert [call.usage for call in calls(line, assistant(used(6), "m2"))] == [used(5), used(6)]


@pytest.mark.parametrize("nothing", [b"", b"\n\r\n  \n", b"\xef\xbb\xbf", b"[]\n"])
def test_an_empty_file_is_refused_as_empty(nothing: bytes) -> None:
    with pytest.raises(RecordingError, match="empty"):
        reading(nothing)


@pytest.mark.parametrize("values", [(b"no json\n",), ({"log": "text"},), ([1, 2],)])
def test_a_file_without_calls_is_refused_with_what_a_recording_is(values: tuple[object, ...]) -> None:
    with pytest.raises(RecordingError, match=r"no call in it.*session file of Claude Code, Codex or pi"):
        reading(*values)


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ((b"\xff\xfe{\x00",), 1),
        ((used(1), b'{"input_tokens": 1, "x": "\xe9"}\n'), 2),
        ((b"\n[\n", b'{"a": "\xe9"}\n]'), 3),
    ],
)
def test_bytes_that_are_no_utf8_are_refused_by_line(values: tuple[object, ...], line: int) -> None:
    with pytest.raises(RecordingError, match=f"line {line} holds bytes that are no UTF-8"):
        reading(*values)


def test_usage_lines_go_before_bare_objects_and_leave_them_as_junk() -> None:
    recording = reading(used(9), usage_line(used(1)), {"total": 3})
    assert [call.usage for call in recording.runs[0].calls] == [used(1)]
    assert (recording.junk, recording.junk_at) == (2, (1, 3))


def test_a_transcript_holds_much_that_is_no_call_and_no_junk() -> None:
    recording = reading(
        {"type": "summary", "summary": "…"},
        {"type": "user", "message": {"role": "user", "content": "hello"}},
        assistant(used(1), "m1"),
        {"type": "result", "usage": used(999_999), "total_cost_usd": 1.5},
        {"type": "progress", "data": {"message": {"message": {"usage": used(7)}}}},
        b"half a li\n",
    )
    assert [call.usage for call in recording.runs[0].calls] == [used(1)]
    assert (recording.junk, recording.junk_at, recording.sums) == (1, (6,), 0)


RESULT = {"type": "result", "subtype": "success", "num_turns": 9, "usage": used(999_999), "total_cost_usd": 1.5}


def test_what_claude_code_prints_at_its_end_is_a_sum_and_no_call() -> None:
    recording = reading(used(1), RESULT, RESULT, used(2))
    assert [call.usage for call in recording.runs[0].calls] == [used(1), used(2)]
    assert (recording.sums, recording.junk) == (2, 0)
    with pytest.raises(RecordingError, match=r"the sum over a session's calls \(a `result` of Claude Code\)"):
        reading(RESULT)


def test_the_lines_that_are_left_out_are_counted_from_the_files_first() -> None:
    recording = reading(b"\n\n", used(1), b"\nnope\n", {"log": "text"})
    assert (recording.junk_at, recording.unit) == ((5, 6), "line")
    array = reading(b'\n[{"prompt_tokens": 1},\n"x",\n {"log": "text"}]\n')
    assert (array.junk_at, array.unit) == ((2, 3), "entry")
    lines_after_all = reading(b"\n[debug]\n", used(1), b"nope\n")
    assert (lines_after_all.junk_at, lines_after_all.unit) == ((2, 4), "line")


def test_a_name_that_could_steer_a_terminal_is_no_name() -> None:
    (call,) = calls(usage_line(used(1), model="a\x1b[31mb"))
    assert call.model == ""
