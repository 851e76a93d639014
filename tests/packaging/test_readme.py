"""The README is true: what it shows is run, and what it lists is complete."""

import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ullage
from tests.interop.test_node import node_folder as node_folder  # a fixture: the packages that the snippet needs
from tests.servers import environment
from ullage.v1 import error_reason_pb2, usage_pb2

REPOSITORY = Path(__file__).resolve().parent.parent.parent
README = (REPOSITORY / "README.md").read_text()
#: Where `make run` listens.
SHOWN_TARGET = "127.0.0.1:50151"


def block(language: str, holding: str) -> str:
    """The README's one block in that language that holds that text."""
    found = [text for text in re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S) if holding in text]
    assert len(found) == 1, f"{len(found)} blocks of {language} hold {holding!r}"
    return found[0]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server as `make run` starts it, on a free port."""
    data = tmp_path_factory.mktemp("readme") / "data"
    command = [sys.executable, "-m", "ullage_server", "serve", "--listen", "127.0.0.1:0", "--data", str(data)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment()) as server:
        assert server.stderr is not None
        yield json.loads(server.stderr.readline())["listen"]
        server.terminate()


def run(target: str, *command: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """Runs a command of the README's in the checkout, as a user would who has exported the server's address."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = environment() | {"ULLAGE_TARGET": target, "PATH": path} | more
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, env=env, cwd=REPOSITORY, check=False
    )


def shell(target: str, script: str) -> "subprocess.CompletedProcess[str]":
    """Runs lines of the README's, with this environment's commands for those of `.venv`."""
    return run(target, "sh", "-e", "-c", script.replace(".venv/bin/", "").replace(SHOWN_TARGET, target))


def test_the_python_snippet_prints_what_is_shown(target: str) -> None:
    done = run(target, sys.executable, "-c", block("python", "import ullage\n"))
    assert done.stderr == ""
    assert done.stdout == block("text", "turn 1: ")


def test_the_node_snippet_prints_what_is_shown(target: str, node_folder: Path) -> None:
    snippet = block("js", "@grpc/grpc-js").replace(SHOWN_TARGET, target)
    done = run(target, "node", "-e", snippet, NODE_PATH=str(node_folder / "node_modules"))
    assert done.stderr == ""
    assert f"It prints `{done.stdout.strip()}`" in README


def test_the_buf_commands_work(target: str) -> None:
    done = shell(target, block("sh", "buf curl"))
    assert done.returncode == 0, done.stderr
    assert "32% of the window used" in done.stdout


def test_the_operators_commands_work(target: str) -> None:
    done = shell(target, block("sh", "building set lab"))
    assert done.returncode == 0, done.stderr
    assert re.search(r"context\.second_threshold +70 +lab", done.stdout)


def test_the_shown_lines_of_the_replay_are_its_own(target: str) -> None:
    done = run(target, "ullage", "replay")
    assert done.returncode == 0, done.stderr
    shown = block("text", "[###").splitlines()
    assert [line for line in done.stdout.splitlines() if line in shown] == shown


def test_the_agents_loop_places_the_reminder_behind_the_tool_results(target: str) -> None:
    tool = SimpleNamespace(type="tool_use", id="a")
    text = SimpleNamespace(type="text", text="done")
    replies = iter(
        SimpleNamespace(content=[content], stop_reason=reason, usage={"input_tokens": used, "output_tokens": 1})
        for content, reason, used in (
            (tool, "tool_use", 20_000),
            (tool, "tool_use", 70_000),
            (text, "end_turn", 71_000),
        )
    )
    result = {"type": "tool_result", "tool_use_id": "a"}
    with ullage.Client(target) as client:
        names = {
            "MODEL": "claude-sonnet-4-5",
            "TOOLS": [],
            "agent": SimpleNamespace(messages=SimpleNamespace(create=lambda **_: next(replies))),
            "call_tool": lambda block: result,
            "RUN_ID": ullage.new_run_id(),
            "client": client,
            "logging": logging,
            "ullage": ullage,
        }
        exec(block("python", "def answer"), names)
        messages: list[dict[str, object]] = [{"role": "user", "content": "go"}]
        names["answer"](messages)  # type: ignore[operator]
    reminder = {"type": "text", "text": "[context] 35% of the window used (70000 of 200000 input tokens)."}
    users = [message["content"] for message in messages if message["role"] == "user"]
    assert users == ["go", [result], [result, reminder]]


def test_the_agents_loop_goes_on_without_a_server(caplog: pytest.LogCaptureFixture) -> None:
    reply = SimpleNamespace(
        content=[SimpleNamespace(type="text", text="done")], stop_reason="end_turn", usage={"input_tokens": 70_000}
    )
    with ullage.Client("unix:/nowhere/ullage.sock", timeout=0.3) as client:
        names = {
            "MODEL": "claude-sonnet-4-5",
            "TOOLS": [],
            "agent": SimpleNamespace(messages=SimpleNamespace(create=lambda **_: reply)),
            "RUN_ID": ullage.new_run_id(),
            "client": client,
            "logging": logging,
            "ullage": ullage,
        }
        exec(block("python", "def answer"), names)
        answer: Any = names["answer"]
        messages: list[dict[str, object]] = [{"role": "user", "content": "go"}]
        assert answer(messages) is reply
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert "turn not observed" in caplog.text


def test_the_turn_of_a_prepared_call(target: str) -> None:
    sent: list[list[dict[str, object]]] = []

    def create(messages: list[dict[str, object]], **_: object) -> SimpleNamespace:
        sent.append(messages)
        return SimpleNamespace(content=[{"type": "text", "text": "done"}], usage={"input_tokens": 70_000})

    with ullage.Client(target) as client:
        names = {
            "MODEL": "claude-sonnet-4-5",
            "TOOLS": [],
            "agent": SimpleNamespace(messages=SimpleNamespace(create=create)),
            "run": client.start_run(context_tokens=200_000),
            "ullage": ullage,
            "open_tasks": lambda: "Mend the pump.",
        }
        exec(block("python", "run.prepare("), names)
        turn: Any = names["turn"]
        history = turn([{"role": "user", "content": "go"}])
        turn([*history, {"role": "user", "content": "more"}])
    said = [[part["text"] for part in messages[-1]["content"]] for messages in sent]  # type: ignore[attr-defined]
    assert ["Answer in short" in text for text in said[0]] == [True, False, False]
    assert ["Mend the pump" in text for text in said[0]] == [False, True, False]
    assert ["[context] 35%" in text for text in said[1]] == [False, False, True, False]
    assert sent[1][0]["content"] != sent[0][0]["content"], "what was for one request alone is not in the next"


def test_every_dialect_is_told() -> None:
    rows = re.findall(r"^\| `([a-z_]+)` \| \S.* \| `\S.*\|$", README, re.M)
    assert rows == [name.removeprefix("DIALECT_").lower() for name, number in usage_pb2.Dialect.items() if number]


def test_the_snippet_for_long_results_shortens_them(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    log = "".join(f"2024-03-01 10:00:00 INFO worker {number} finished\n" for number in range(900))
    data = json.dumps([{"row": number, "name": "x"} for number in range(1500)])
    uses = [{"type": "tool_use", "id": name, "name": "f", "input": {}} for name in ("a", "b")]
    results = [
        {"type": "tool_result", "tool_use_id": "a", "content": log},
        {"type": "tool_result", "tool_use_id": "b", "content": data},
    ]
    prompt = {"role": "user", "content": "go"}
    history = [prompt, {"role": "assistant", "content": uses}, {"role": "user", "content": results}]
    with ullage.Client(target) as client:
        names: dict[str, Any] = {"run": client.start_run()}
        names["run"].observe(5)
        exec(block("python", "run.compact("), names)
        after = names["shortened"](history)
    assert after[:2] == history[:2]
    assert after[2]["content"][0]["content"].startswith("[truncated: ")
    assert after[2]["content"][1] == results[1]
    assert capsys.readouterr().out == f"b: {len(data)} bytes of structured, left whole\n"


def test_the_toml_document_is_one_that_the_server_reads() -> None:
    from ullage_server.app import ZONES
    from ullage_server.ladder.document import parse

    rung = parse("lab", block("toml", "[context]"), ZONES)
    assert dict(rung.values)["context.second_threshold"] == 70
    assert dict(rung.values)["exchange.budget_bytes"] == 32768
    assert dict(rung.models) == {"my-own-model": 262144}


def test_every_reason_is_told() -> None:
    values = error_reason_pb2.ErrorReason.DESCRIPTOR.values
    names = {value.name.removeprefix("ERROR_REASON_") for value in values if value.number}
    rows = re.findall(r"^\| `([A-Z_]+)` \| `([A-Z_]+)` \| \S.* \| \S.* \|$", README, re.M)
    assert {name for name, _ in rows} == names
    assert len(rows) == len(names)


def test_the_reasons_have_the_codes_that_are_told() -> None:
    from ullage_server.rpc.status import CODES

    told = dict(re.findall(r"^\| `([A-Z_]+)` \| `([A-Z_]+)` \|", README, re.M))
    assert told == {reason.name: code.name for reason, code in CODES.items()}


def test_what_is_not_there_yet_is_what_the_server_does_not_answer() -> None:
    # Which that are is asked of a server there.
    from tests.e2e.test_vectors import UNBUILT

    assert ("All RPCs of the wire are built" in README) == (UNBUILT == [])


def test_every_command_and_document_is_there() -> None:
    for path in re.findall(r"\]\(([^):#]+)\)", README):
        assert (REPOSITORY / path).exists(), path
    makefile = (REPOSITORY / "Makefile").read_text()
    for command in re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)", README, re.M):
        assert re.search(rf"^{''.join(command)}:.* ## ", makefile, re.M), command


def test_make_help_lists_every_target() -> None:
    makefile = (REPOSITORY / "Makefile").read_text()
    phony = set(re.findall(r"^\.PHONY: (.+)$", makefile, re.M))
    helped = subprocess.run(["make", "help"], capture_output=True, text=True, cwd=REPOSITORY, check=True).stdout
    listed = set(re.findall(r"^  make (\S+) +\S", helped, re.M))
    assert listed == phony - {"fresh"}  # only a part of others
