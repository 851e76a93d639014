"""`ullage compact`, end to end, and what `ullage replay` says of a transcript's exchanges."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import SERVER_PARTS, asked, ullage
from tests.cli.recorded import lines
from tests.shared_data import shared

LOG = "".join(f"2024-03-01 10:00:{n % 60:02} INFO  worker {n} finished\n" for n in range(900))
DATA = json.dumps([{"row": n, "name": f"row {n}"} for n in range(1500)])
OFFLOAD = "half of it would be worse than none: store it elsewhere"
USE = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
OTHER = {"type": "tool_use", "id": "t2", "name": "Read", "input": {}}


def result(name: str, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": content}


EXCHANGE = [
    {"role": "assistant", "content": [{"type": "text", "text": "I look."}, USE, OTHER]},
    {"role": "user", "content": [result("t1", LOG), result("t2", [{"type": "text", "text": DATA}])]},
]
OPENAI = [
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": LOG},
]


def reply(message: str, *blocks: dict[str, Any], uuid: str = "") -> dict[str, Any]:
    usage = {"input_tokens": 50_000, "output_tokens": 5}
    said = {"id": message, "role": "assistant", "model": "m", "content": list(blocks), "usage": usage}
    return {"type": "assistant", "uuid": uuid, "message": said}


def landed(*results: dict[str, Any]) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": list(results)}}


#: Three turns: the first is told in lines of one block each, some of them twice; the last one has no result yet.
TRANSCRIPT = [
    {"type": "user", "message": {"role": "user", "content": "go on"}},
    reply("m1", {"type": "thinking", "thinking": "so", "signature": "sig"}, uuid="1"),
    reply("m1", {"type": "text", "text": "I look."}, uuid="2"),
    reply("m1", {"type": "text", "text": "I look."}, uuid="2"),
    reply("m1", USE, uuid="3"),
    landed(result("t1", LOG)),
    reply("m1", OTHER, uuid="4"),
    landed(result("t1", "told again"), result("t2", [{"type": "text", "text": DATA}])),
    reply("m2", {"type": "text", "text": "Done."}, uuid="5"),
    reply("m3", {**USE, "id": "t3"}, uuid="6"),
]


def file_of(tmp_path: Path, *values: Any) -> str:
    file = tmp_path / "f.jsonl"
    file.write_bytes(lines(*values))
    return str(file)


def answer_of(*arguments: str, **more: Any) -> dict[str, Any]:
    done = asked("compact", "--json", *arguments, **more)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    answer: dict[str, Any] = json.loads(line)
    return answer


def test_it_says_what_was_cut_and_why(tmp_path: Path) -> None:
    done = ullage("compact", file_of(tmp_path, *EXCHANGE))
    assert (done.returncode, done.stderr) == (0, "")
    about, summary, _, *table = done.stdout.splitlines()
    assert about.startswith("# f.jsonl, turn 1, run ")
    cut = int(table[1].split()[5])
    assert summary == (
        f"# budget 32768 bytes, {7 + len(LOG) + len(DATA)} of text, {cut} dropped, "
        f"{7 + 10922 + len(DATA)} left: still over budget"
    )
    assert [line.split(None, 6) for line in table] == [
        ["reply", "-", "kept", "7", "7", "0", "within its share, or all within the budget"],
        ["t1", "log", "cut", str(len(LOG)), "10922", str(cut), "the news is at the end: its tail is kept"],
        ["t2", "structured", "must_offload", str(len(DATA)), str(len(DATA)), "0", OFFLOAD],
    ]


def test_it_shows_a_diff_of_what_was_cut_alone(tmp_path: Path) -> None:
    done = ullage("compact", file_of(tmp_path, *EXCHANGE), "--diff", "--budget", "3000")
    diff = done.stdout.partition("--- t1\n+++ t1, cut\n@@ ")[2].splitlines()[1:]
    taken, put = ([line[1:] for line in diff if line.startswith(sign)] for sign in "-+")
    assert taken == LOG.splitlines()[: len(taken)]
    assert put[0].startswith("[truncated: ")
    assert done.stdout.count("\n--- ") == 1


def test_a_program_gets_the_messages_too(tmp_path: Path, target: str) -> None:
    answer = answer_of(file_of(tmp_path, *EXCHANGE), "--target", target, "--budget", "3000")
    assert answer["budget_bytes"] == 3000
    assert [(text["tool_use_id"], text["class"], text["outcome"]) for text in answer["texts"]] == [
        (None, None, "kept"),
        ("t1", "log", "cut"),
        ("t2", "structured", "must_offload"),
    ]
    assert answer["texts"][1]["place"] == [1, "content", 0, "content"]
    cut = answer["messages"][1]["content"][0].pop("content")
    assert (
        len(cut)
        == answer["texts"][1]["result_bytes"]
        == len(LOG) - answer["dropped_bytes"] + len(cut.split("]")[0]) + 1
    )
    assert answer["messages"] == [
        EXCHANGE[0],
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1"}, EXCHANGE[1]["content"][1]]},
    ]
    kept = json.loads(asked("run", answer["run_id"], "--json", "--target", target).stdout)
    assert (kept["state"], kept["dropped_bytes"]) == ("finished", answer["dropped_bytes"])


@pytest.mark.parametrize(
    "raw",
    [
        json.dumps(OPENAI).encode(),
        json.dumps(
            [{"role": "system", "content": "s"}, *OPENAI, {"role": "user", "content": "u"}], indent=1
        ).encode(),
        b"\xef\xbb\xbf" + lines(*OPENAI),
    ],
)
def test_openais_messages_and_histories_are_read(target: str, raw: bytes) -> None:
    answer = answer_of("-", "--target", target, given=raw)
    assert (answer["turn"], answer["messages"][0]) == (1, OPENAI[0])
    assert answer["messages"][1]["content"].startswith("[truncated: ")


def test_a_turn_of_a_history_is_chosen(tmp_path: Path, target: str) -> None:
    file = file_of(tmp_path, *EXCHANGE, *OPENAI, EXCHANGE[0])
    assert answer_of(file, "--target", target)["texts"][0]["tool_use_id"] == "c1"
    assert answer_of(file, "--turn", "1", "--target", target)["turn"] == 1
    half = asked("compact", file, "--turn", "3", "--target", target)
    assert half.returncode == 1
    assert 'no result for "t1", "t2"' in half.stderr
    beyond = asked("compact", file, "--turn", "4", "--target", target)
    assert beyond.returncode == 1
    assert "it holds no exchange of turn 4; its turns are 1 to 3" in beyond.stderr


def test_a_transcripts_turn_is_put_together_from_its_lines(tmp_path: Path, target: str) -> None:
    file = file_of(tmp_path, *TRANSCRIPT)
    last = answer_of(file, "--target", target)
    assert (last["turn"], last["messages"]) == (
        2,
        [{"role": "assistant", "content": [{"type": "text", "text": "Done."}]}],
    )
    first = answer_of(file, "--turn", "1", "--budget", "900000", "--target", target)
    thinking = TRANSCRIPT[1]["message"]["content"]
    assert first["messages"][0] == {"role": "assistant", "content": thinking + EXCHANGE[0]["content"]}
    assert first["messages"][1] == EXCHANGE[1]


def test_a_replay_shows_the_bytes_dropped_of_each_turn(tmp_path: Path, target: str) -> None:
    file = file_of(tmp_path, *TRANSCRIPT)
    dropped = answer_of(file, "--turn", "1", "--target", target)["dropped_bytes"]
    rows = [json.loads(row) for row in asked("replay", file, "--json", "--target", target).stdout.splitlines()]
    assert [row["dropped_bytes"] for row in rows] == [dropped, 0, None]
    drawn = asked("replay", file, "--target", target).stdout.splitlines()
    assert [line.endswith(f"dropped {dropped} bytes") for line in drawn[3:]] == [True, False, False]
    usage = [json.loads(row) for row in asked("replay", "--json", "--target", target).stdout.splitlines()]
    assert {row["dropped_bytes"] for row in usage} == {None}


def test_a_replay_goes_on_behind_an_exchange_that_is_refused(tmp_path: Path, target: str) -> None:
    broken = reply("m1", {"type": "text", "text": "half of a character: \ud800"}, uuid="1")
    done = asked("replay", file_of(tmp_path, broken, TRANSCRIPT[8]), "--json", "--target", target)
    rows = [json.loads(row) for row in done.stdout.splitlines()]
    assert done.returncode == 1
    assert "1 report or exchange was refused" in done.stderr
    assert [(row["used_tokens"], row["dropped_bytes"]) for row in rows] == [(50_000, None), (50_000, 0)]
    assert "its exchange: message 0.content[0].text holds half of a character" in rows[0]["refused"]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "there is no exchange in it"),
        (b"hm", "there is no exchange in it"),
        (b'{"raw_usage": {"input_tokens": 5}}', "there is no exchange in it"),
        (b"[7]", "there is no exchange in it"),
        (b"\xff", "bytes that are no UTF-8"),
        (b'{"role": "assistant", "content": 7}', "message 0.content is int"),
        (b'{"role": "assistant", "content": "\\ud800"}', "half of a character"),
        (b'{"role": "user", "content": "hi"}', "there is no exchange in it"),
    ],
)
def test_a_file_without_an_exchange_is_told_as_such(target: str, raw: bytes, says: str) -> None:
    done = asked("compact", "-", "--target", target, given=raw)
    assert done.returncode == 1
    assert says in done.stderr
    assert "stdin can't be compacted" in done.stderr


def test_what_cannot_be_opened_or_asked_is_told(tmp_path: Path, target: str) -> None:
    missing = asked("compact", str(tmp_path / "none"), "--target", target)
    assert (missing.returncode, "can't be read: No such file" in missing.stderr) == (1, True)
    assert asked("compact", "x", "--turn", "0").returncode == 2
    assert asked("compact", "x", "--budget", "-1").returncode == 2
    assert asked("compact").returncode == 2


def test_a_named_server_is_asked_without_the_servers_own_parts(tmp_path: Path, target: str) -> None:
    file = file_of(tmp_path, *EXCHANGE)
    assert ullage("compact", file, "--target", target, without=SERVER_PARTS).returncode == 0
    alone = ullage("compact", file, without=SERVER_PARTS)
    assert alone.returncode == 1
    assert "'.[server]'" in alone.stderr


def test_recorded_exchanges_are_shown(target: str, tmp_path: Path) -> None:
    shown = 0
    with (shared("data/exchanges") / "claude-code-64fce2.jsonl").open(encoding="utf-8") as file:
        for line in map(json.loads, file):
            said = {"role": "assistant", "content": line["assistant"]}
            gave = [result(each["tool_use_id"], each["text"]) for each in line["results"]]
            done = asked(
                "compact", file_of(tmp_path, said, {"role": "user", "content": gave}), "--diff", "--target", target
            )
            assert done.returncode == 0, done.stderr
            shown += done.stdout.count("\n--- ")
    assert shown
