"""`ullage watch`: lines for people and programs, until it is ended."""

import json
import signal
import subprocess
from pathlib import Path

import ullage
from tests.cli.command import asked, begun


def test_it_tells_the_runs_and_every_change_until_ctrl_c(target: str) -> None:
    with ullage.Client(target) as client:
        run = client.start_run("watched", context_tokens=1000, address="tower", model="m-1")
        with begun(
            "watch",
            "--address",
            "tower",
            "--json",
            "--target",
            target,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            assert json.loads(process.stdout.readline())["run_id"] == "watched"
            assert json.loads(process.stdout.readline()) == {"snapshot_complete": True}
            run.observe(310)
            changed = json.loads(process.stdout.readline())
            assert (changed["last_turn"], changed["sounded"]) == (1, "first")
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)
        assert (process.returncode, err) == (130, b"")
        with begun("watch", "--run", "watched", "--target", target, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            line = process.stdout.readline().decode()
            assert "  watched  active  turn 1  31%  first  tower m-1\n" in line
            assert process.stdout.readline() == b"# from here on, changes\n"
            process.stdout.close()
            run.observe(320)
            assert process.wait(20) == 141


def test_what_cannot_be_watched_is_said(target: str, tmp_path: Path) -> None:
    done = asked("watch", "--run", "nobody", "--target", target)
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no run nobody" in done.stderr
    assert asked("watch", "--target", f"unix:{tmp_path}/none.sock").returncode == 1
    assert asked("watch", "--label", "x", "--target", target).returncode == 2
