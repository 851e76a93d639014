"""`ullage runs`, `run` and `building`: what a server is asked, and how its answers and refusals are shown."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import SERVER_PARTS, asked, ullage
from ullage import Client


@pytest.fixture(scope="module")
def runs(target: str) -> dict[str, str]:
    """Three runs on the server, by what they are."""
    with Client(target) as client:
        first = client.start_run(
            address="runs/alice", context_tokens=1000, model="m", labels={"who": "a", "x": "1=2"}
        )
        first.observe({"prompt_tokens": 700, "completion_tokens": 5})
        stale = client.start_run(
            address="runs/bob", context_tokens=1000, context_rearm="per_window", time_budget=90
        )
        stale.observe(400)
        stale.observe(None, window_reset=True)
        client.start_run("done", address="runs").finish("ok")
    return {"first": first.run_id, "stale": stale.run_id, "done": "done"}


def test_runs_are_listed_in_columns(target: str, runs: dict[str, str]) -> None:
    done = asked("runs", "--target", target, "--address", "runs")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    head, *rows = [line.split() for line in done.stdout.splitlines()]
    assert head[:5] == ["RUN", "STATE", "TURN", "FULL", "SOUNDED"]
    assert {row[0]: row[1:6] for row in rows} == {
        runs["first"]: ["active", "1", "70%", "handover", "runs/alice"],
        runs["stale"]: ["active", "2", "(40%)", "nothing", "runs/bob"],
        "done": ["finished", "0", "-", "nothing", "runs"],
    }
    assert len({len(row) for row in rows}) == 1


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (["--state", "finished"], {"done"}),
        (["--state", "active"], {"first", "stale"}),
        (["--label", "who=a", "--label", "x=1=2"], {"first"}),
        (["--address", "runs/bob"], {"stale"}),
    ],
)
def test_runs_are_filtered(target: str, runs: dict[str, str], filters: list[str], found: set[str]) -> None:
    done = asked("runs", "--json", "--address", "runs", *filters, ULLAGE_TARGET=target)
    assert done.returncode == 0
    assert {json.loads(line)["run_id"] for line in done.stdout.splitlines()} == {runs[name] for name in found}


def test_no_runs_is_no_fault(target: str) -> None:
    done = asked("runs", "--target", target, "--address", "nobody")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "ullage: no runs\n")


def test_many_runs_are_all_listed(target: str) -> None:
    with Client(target) as client:
        for number in range(230):
            client.start_run(f"many-{number}", address="many")
    done = asked("runs", "--target", target, "--address", "many")
    names = [line.split()[0] for line in done.stdout.splitlines()[1:]]
    assert sorted(names) == sorted(f"many-{number}" for number in range(230))


def test_a_run_is_shown_with_its_plan(target: str, runs: dict[str, str]) -> None:
    done = asked("run", runs["stale"], "--target", target)
    assert done.returncode == 0
    facts = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert facts["used"] == "400 tokens at turn 1, as input"
    assert facts["percent"] == "40%, stale: the window was reset since"
    assert facts["plan.context_rearm"] == "per_window"
    assert facts["plan.time_budget"] == "90 s"
    assert facts["plan.second_threshold"] == "65"
    assert json.loads(asked("run", runs["stale"], "--json", "--target", target).stdout)["window_epoch"] == 1


def test_on_a_terminal_a_run_has_a_bar(target: str, runs: dict[str, str]) -> None:
    done = ullage("run", runs["first"], "--target", target, FORCE_COLOR="1", TERM="xterm")
    assert "█" in done.stdout


def test_a_building_is_written_and_shown_with_who_stated_what(target: str) -> None:
    written = asked(
        *("building", "set", "shop", "--target", target, "--json"),
        *("--second-threshold", "50", "--rearm", "per_window", "--finishing-act", "finish"),
        *("--exchange-budget-bytes", "100", "--notices-every-steps", "3", "--no-notices-include-subagents"),
        *("--reminders-budget-chars", "10", "--clock-zone", "Europe/Berlin", "--model", "a=b=1000"),
    )
    assert (written.returncode, written.stderr) == (0, "")
    stated = {each["key"]: each["value"] for each in json.loads(written.stdout)["stated"]}
    assert stated == {
        "context.second_threshold": "50",
        "context.rearm": "per_window",
        "context.finishing_act": "finish",
        "exchange.budget_bytes": "100",
        "notices.every_steps": "3",
        "notices.include_subagents": "false",
        "reminders.budget_chars": "10",
        "clock.zone": "Europe/Berlin",
        "models.a=b": "1000",
    }
    tried = asked(
        "building",
        "set",
        "shop/eve",
        "--reset",
        "clock.zone",
        "--notices-every-steps",
        "1",
        "--dry-run",
        ULLAGE_TARGET=target,
    )
    assert tried.returncode == 0
    assert "as it would be" in tried.stdout
    rows = {line.split()[0]: line.split()[1:] for line in tried.stdout.splitlines()}
    assert rows["notices.every_steps"] == ["1", "shop/eve", "stated", "here"]
    assert rows["clock.zone"] == ["Europe/Berlin", "shop"]
    shown = asked("building", "show", "shop", "--target", target)
    assert "stated here" in shown.stdout
    assert "\x1b" not in shown.stdout


def test_an_address_without_a_rung_is_shown_as_a_run_there_would_be(target: str) -> None:
    with Client(target) as client:
        client.configure_building("above", context_second_threshold=44)
        frozen = client.start_run(address="above/ada").settled
    shown = asked("building", "show", "above/ada", "--json", "--target", target)
    assert shown.returncode == 0
    told = json.loads(shown.stdout)
    assert (told["address"], told["stated"], told["etag"], told["update_time"]) == ("above/ada", [], "", None)
    assert {each["key"]: (each["value"], each["source"]) for each in told["settled"]} == {
        each.key: (each.value, each.source) for each in frozen if each.key != "context_tokens"
    }
    assert shown.stderr.splitlines() == [
        "ullage: nobody configured above/ada; a run there takes all of it from building above",
        "        `ullage building set above/ada` and what to write makes it a rung of its own",
    ]
    drawn = asked("building", "show", "nobody/knows", "--target", target)
    assert drawn.returncode == 0
    assert drawn.stdout.startswith("# building nobody/knows: no rung of its own\n")
    assert "etag" not in drawn.stdout
    assert "stated here" not in drawn.stdout
    assert "from the city" in drawn.stderr


def test_a_building_called_city_is_told_apart_from_the_city(target: str) -> None:
    shown = asked("building", "show", "city", "--target", target)
    written = asked("building", "set", "city", "--clock-zone", "UTC", "--target", target)
    assert shown.returncode == written.returncode == 0
    for done in (shown, written):
        assert done.stderr.splitlines()[-1] == '        the city itself has the address ""'
    assert written.stdout.startswith("# building city: written\n")
    assert "city itself" not in asked("building", "set", "", "--clock-zone", "UTC", "--target", target).stderr


def test_the_city_is_shown_without_an_address(target: str) -> None:
    shown = asked("building", "show", "--target", target)
    assert shown.returncode == 0
    assert shown.stdout.startswith("# the city\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "nobody"], "nobody"),
        (["building", "show", "No/Where"], "is not an address"),
        (["building", "set", "shop2", "--second-threshold", "91"], "31 to 90"),
        (["building", "set", "Not An Address", "--clock-zone", "UTC"], "is not an address"),
        (["building", "set", "shop2", "--clock-zone", "UTC", "--etag", "old"], "etag"),
        (["building", "set", "shop2", "--reset", "no.such_key"], "no.such_key"),
        (["runs", "--address", "UPPER"], "is not an address"),
    ],
)
def test_a_refusal_is_its_message_and_what_to_do_with_1(target: str, arguments: list[str], said: str) -> None:
    done = asked(*arguments, "--target", target)
    assert (done.returncode, done.stdout) == (1, "")
    message, recovery = done.stderr.splitlines()
    assert message.startswith("ullage: ")
    assert said in done.stderr
    assert recovery.startswith("        ")


def test_what_to_do_is_said_in_the_commands_words(target: str) -> None:
    def recovery(*arguments: str) -> str:
        return asked(*arguments, "--target", target).stderr.splitlines()[1]

    assert recovery("run", "nobody") == "        `ullage runs` lists those there are"
    changed = recovery("building", "set", "shop3", "--clock-zone", "UTC", "--etag", "old")
    assert changed == "        `ullage building show` tells the etag it has now"


@pytest.mark.parametrize(
    ("arguments", "form"),
    [
        (["runs", "--label", "novalue"], "'novalue' is not KEY=VALUE"),
        (["building", "set", "lab", "--model", "m"], "'m' is not NAME=TOKENS"),
    ],
)
def test_a_pair_is_asked_for_in_the_words_of_the_help(arguments: list[str], form: str) -> None:
    assert form in asked(*arguments).stderr
    *command, option, _ = arguments
    assert f"{option} {form.rpartition(' ')[2]}" in asked(*command, "--help").stdout


@pytest.mark.parametrize("command", [["runs"], ["run", "x"], ["building", "show"], ["replay"], ["compact", "-"]])
def test_an_address_that_is_none_is_blamed_where_it_stands(command: list[str]) -> None:
    named = asked(*command, "--target", "bogus", ULLAGE_TARGET="unix:/nowhere")
    of_the_environment = asked(*command, ULLAGE_TARGET="bogus")
    assert named.returncode == of_the_environment.returncode == 2
    assert "Invalid value for --target: target is 'bogus'" in named.stderr
    assert "Invalid value: ULLAGE_TARGET is 'bogus'" in of_the_environment.stderr
    assert "--target" not in of_the_environment.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "\udcff"],
        ["runs", "--label", "a=\udcff"],
        ["building", "set", "lab", "--model", "\udcff=5"],
        ["building", "show", "--target", "unix:/\udcff"],
        ["replay", "--model", "\udcff"],
        ["\udcff"],
    ],
)
def test_bytes_that_are_no_utf8_are_a_fault_of_the_asker(arguments: list[str]) -> None:
    done = ullage(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[1] == "        write it in UTF-8"
    assert "xff" in done.stderr.splitlines()[0]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["run"],
        ["runs", "--label", "novalue"],
        ["runs", "--state", "asleep"],
        ["building"],
        ["building", "set"],
        ["building", "set", "lab"],
        ["building", "set", "lab", "--model", "m"],
        ["building", "set", "lab", "--model", "m=wide"],
        ["building", "set", "lab", "--model", f"m={2**63}"],
        ["building", "set", "lab", "--second-threshold", f"{2**63}"],
        ["building", "set", "lab", "--notices-every-steps", f"{2**31}"],
        ["building", "set", "lab", "--rearm", "always"],
    ],
)
def test_what_is_asked_wrongly_ends_in_2(arguments: list[str]) -> None:
    done = asked(*arguments)
    assert done.returncode == 2
    assert "Usage: ullage" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command", [["runs"], ["run", "x"], ["building", "show"], ["building", "set", "a", "--clock-zone", "UTC"]]
)
def test_without_a_server_it_says_where_it_looked_and_what_to_do(command: list[str]) -> None:
    done = asked(*command, "--target", "unix:/nowhere/ullage.sock")
    assert (done.returncode, done.stdout) == (1, "")
    message, recovery = done.stderr.splitlines()
    assert "unix:/nowhere/ullage.sock" in message
    assert "ullage serve" in recovery


@pytest.mark.parametrize("command", [["runs"], ["run"], ["replay"], ["serve"], ["building", "set"]])
def test_help_needs_no_part_of_the_server(command: list[str]) -> None:
    done = ullage(*command, "--help", without=SERVER_PARTS)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: ullage " + " ".join(command))


def test_asking_needs_no_part_of_the_server(target: str) -> None:
    assert ullage("building", "show", "--target", target, without=SERVER_PARTS).returncode == 0


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_its_own_parts_it_says_what_to_install(missing: str) -> None:
    done = ullage("runs", without=missing)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"ullage: the command line needs {missing}: pip install '.[cli]' in the checkout\n"


def test_it_tells_its_version() -> None:
    done = ullage("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("ullage ")


def test_an_answer_that_finds_no_room_is_told_in_two_lines() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ullage_server", "replay"],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "no space is left" in done.stderr
    assert "Traceback" not in done.stderr
