"""`ullage replay`, end to end: its own server, the example, the forms of output, and what can go wrong."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import SERVER_PARTS, asked, begun, ullage
from tests.cli.recorded import lines, usage_line, used
from tests.shared_data import shared


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_example_shows_a_newcomer_both_thresholds_and_a_call_that_reported_nothing() -> None:
    done = ullage("replay", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    turns = rows(done.stdout)
    assert [row["turn"] for row in turns] == list(range(1, len(turns) + 1))
    sounded = [(row["sounded"], row["percent"]) for row in turns if row["reminder"]]
    assert [name for name, _ in sounded] == ["first", "handover"]
    assert 30 <= sounded[0][1] < 65 <= sounded[1][1]
    # One long prompt: a notice at each twentieth step behind the first.
    assert [one["id"] for row in turns for one in row["insertions"]] == ["21/notice"]
    assert turns[20]["insertions"][0]["text"].startswith("Context window: ")
    silent = [row for row in turns if row["used_tokens"] is None]
    assert len(silent) == 1
    assert silent[0]["percent"] is silent[0]["counted_as"] is None
    assert {row["context_tokens"] for row in turns if row["used_tokens"]} == {200_000}
    assert all(row["counted_as"].count("+") == 2 for row in turns if row["used_tokens"])


def test_to_a_pipe_goes_plain_text_in_columns() -> None:
    done = ullage("replay")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert done.stdout.isascii()
    about, drawn = done.stdout.splitlines()[:2], done.stdout.splitlines()[3:]
    assert all(line.startswith("# ") for line in about)
    assert {line.index("[") for line in drawn} == {24}
    assert {line.index("]") for line in drawn if "[context]" not in line} == {65}
    assert sum("[context]" in line for line in drawn) == 2
    assert sum(line.endswith("no usage") for line in drawn) == 1


def test_on_a_terminal_it_is_in_colours() -> None:
    done = ullage("replay", FORCE_COLOR="1", TERM="xterm-256color", COLUMNS="80")
    assert done.returncode == 0
    assert "\x1b[" in done.stdout
    assert "█" in done.stdout


def test_a_plain_terminal_gets_plain_bars() -> None:
    done = ullage("replay", FORCE_COLOR="1", TERM="xterm", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "#" in done.stdout


@pytest.mark.parametrize(
    "name", ["claude-code-2b48f6", "codex-acidic", "pi-before-compaction", "gemini-cli-2b9748"]
)
def test_a_recorded_run_is_read_as_its_provider_counted_it_and_each_threshold_sounds_once(name: str) -> None:
    done = ullage("replay", str(shared("data/usage") / f"{name}.jsonl"), "--json")
    assert done.returncode == 0
    turns = rows(done.stdout)
    for threshold, sound in ((30, "first"), (65, "handover")):
        over = [row["turn"] for row in turns if row["percent"] is not None and row["percent"] >= threshold]
        sounded = [row["turn"] for row in turns if row["reminder"] and row["sounded"] == sound]
        assert sounded == over[:1]


def test_several_sequences_are_runs_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "two.jsonl"
    file.write_bytes(lines(*(usage_line(used(400), sequence=name, window=1000) for name in "aab")))
    done = ullage("replay", str(file), "--json")
    turns = rows(done.stdout)
    assert [(row["sequence"], row["turn"], bool(row["reminder"])) for row in turns] == [
        ("a", 1, True),
        ("a", 2, False),
        ("b", 1, True),
    ]
    assert len({row["run_id"] for row in turns}) == 2


def test_stdin_options_and_what_is_left_out() -> None:
    given = lines(
        usage_line(used(310), window=9000),
        usage_line(used(500), window=9000, is_subagent=True),
        usage_line(used(310), window=9000, dup_of_prev=True),
        b"junk\n",
        usage_line(used(400), window=9000),
    )
    done = ullage("replay", "-", "--window", "1000", "--threshold", "40", "--json", given=given)
    assert done.returncode == 0
    assert [(row["percent"], row["sounded"]) for row in rows(done.stdout)] == [(31, "first"), (40, "handover")]
    assert done.stderr.splitlines() == [
        "ullage: left out 1 call of subagents, which have windows of their own",
        "ullage: left out 1 call told a second time",
        "ullage: left out 1 line that can't be read: 4",
    ]


def test_the_first_of_many_lines_that_are_left_out_are_named() -> None:
    given = lines(used(1), *[b"junk\n"] * 4, used(2), {"log": "text"}, *[b"junk\n"] * 3)
    done = ullage("replay", "-", "--json", given=given)
    assert done.stderr == "ullage: left out 8 lines that can't be read: 2, 3, 4, 5, 7 and 3 more\n"
    array = ullage("replay", "-", "--json", given=b'[{"prompt_tokens": 1},\n\n{"log": "text"},\n"a", null]')
    assert array.stderr == "ullage: left out 2 entries that can't be read: 2, 3\n"


def test_a_sum_is_told_and_not_played() -> None:
    result = {"type": "result", "num_turns": 9, "usage": used(900), "total_cost_usd": 1.5}
    done = ullage("replay", "-", "--json", given=lines(used(1), result))
    assert [row["used_tokens"] for row in rows(done.stdout)] == [1]
    assert done.stderr == "ullage: left out 1 sum over a session's calls (a `result` of Claude Code)\n"


@pytest.mark.timeout(60)
def test_what_is_piped_in_unasked_is_told_and_holds_nothing_up() -> None:
    done = begun("replay", "--json", stdin=subprocess.PIPE, stdout=-1, stderr=-1)
    assert done.stdin is not None
    assert done.stdout is not None
    assert done.stderr is not None
    out, err = done.stdout.read(), done.stderr.read().decode()  # the pipe is open all the while, and empty
    assert done.wait(30) == 0
    for stream in (done.stdin, done.stdout, done.stderr):
        stream.close()
    assert len(rows(out.decode())) > 20
    assert err.splitlines() == [
        "ullage: what is piped in is not read; this is the bundled example",
        "        name it with - to have it read",
    ]


def test_without_a_window_there_is_no_percent_and_it_says_so() -> None:
    done = ullage("replay", "-", given=lines(used(5)))
    assert done.returncode == 0
    assert "window unknown" in done.stdout
    assert "--window" in done.stdout
    assert "          5     - [" in done.stdout


def test_a_model_is_looked_up() -> None:
    (row,) = rows(ullage("replay", "-", "--model", "claude-sonnet-4-5", "--json", given=lines(used(5))).stdout)
    assert row["context_tokens"]
    assert row["context_tokens"] >= 200_000


def test_a_refused_report_is_shown_and_ends_in_1() -> None:
    given = lines({"prompt_tokens": 5}, {"prompt_tokens": -5}, {"prompt_tokens": 6})
    done = ullage("replay", "-", "--json", given=given)
    assert done.returncode == 1
    assert [row["used_tokens"] for row in rows(done.stdout)] == [5, None, 6]
    assert "prompt_tokens must be" in rows(done.stdout)[1]["refused"]
    assert "1 report or exchange was refused" in done.stderr


def test_against_a_server_the_run_is_kept_there_and_finished(target: str) -> None:
    done = asked("replay", "--target", target, "--json")
    assert done.returncode == 0
    turns = rows(done.stdout)
    kept = json.loads(asked("run", turns[0]["run_id"], "--json", ULLAGE_TARGET=target).stdout)
    assert kept["state"] == "finished"
    assert kept["last_turn"] == len(turns)
    assert kept["sounded"] == "handover"
    assert kept["plan"]["labels"] == {"replay": "example"}


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        (["/nowhere/x.jsonl"], b"", "/nowhere/x.jsonl can't be read: No such file"),
        (["/"], b"", "/ can't be read: Is a directory"),
        (["-"], b"", "stdin can't be played: it is empty"),
        (["-"], b"\xff\xfe\n", "line 1 holds bytes that are no UTF-8"),
        (["-"], b"no json\n", "there is no call in it"),
        (["--target", "unix:/nowhere/ullage.sock"], b"", "no Ullage server answers at unix:/nowhere/ullage.sock"),
    ],
)
def test_what_goes_wrong_is_said_on_stderr_with_1(arguments: list[str], given: bytes, said: str) -> None:
    done = asked("replay", *arguments, "--json", given=given)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert done.stderr.startswith("ullage: ")
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_what_the_service_refuses_is_said_on_stderr_with_1() -> None:
    done = ullage("replay", "--threshold", "95")
    assert (done.returncode, done.stdout) == (1, "")
    assert "31 to 90" in done.stderr
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize(
    "arguments", [["--window", "-1"], ["--window", "wide"], ["--threshold", "9" * 30], ["a", "b"]]
)
def test_what_is_asked_wrongly_ends_in_2(arguments: list[str]) -> None:
    done = asked("replay", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage: ullage replay" in done.stderr


def test_a_reader_that_goes_away_is_no_fault() -> None:
    process = begun(
        "replay", str(shared("data/usage") / "pi-before-compaction.jsonl"), "--json", stdout=-1, stderr=-1
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith(b'{"run_id"')
    process.stdout.close()
    assert process.wait(30) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


def test_ctrl_c_ends_it_at_once_without_a_word() -> None:
    process = begun("replay", "-", stdin=subprocess.PIPE, stdout=-1, stderr=-1)
    assert process.stdin is not None
    # More than a pipe holds: once it is written, the command is reading.
    process.stdin.write(lines(used(1)) * 10_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_without_the_servers_parts_it_says_what_to_install() -> None:
    done = ullage("replay", without=SERVER_PARTS)
    assert (done.returncode, done.stdout) == (1, "")
    assert "pip install '.[server]' in the checkout" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_the_servers_parts_it_still_plays_against_a_server(target: str) -> None:
    done = ullage("replay", "--target", target, "--json", without=SERVER_PARTS)
    assert done.returncode == 0
    assert len(rows(done.stdout)) > 20
