"""`ullage serve`: what it says when it is up, what it can't start for, and how it ends."""

import json
import re
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.cli.command import SERVER_PARTS, argv, asked, begun, environment, ullage


def test_it_says_where_it_listens_who_can_call_it_and_where_its_data_is(folder: Path) -> None:
    for listen, reach in ((f"unix:{folder}/own/u.sock", "only you"), ("127.0.0.1:0", "any user of this machine")):
        with begun(
            "serve", "--listen", listen, "--data", str(folder / "d"), stdout=-1, stderr=subprocess.PIPE
        ) as process:
            assert process.stderr is not None
            told = json.loads(process.stderr.readline())
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        assert (told["event"], told["data"]) == ("listening", str(folder / "d"))
        free_port = re.sub(":0$", ":[1-9][0-9]*", listen)
        assert re.fullmatch(free_port, told["listen"])
        assert reach in told["reach"]
        assert (process.returncode, out) == (0, b"")
        assert [json.loads(line)["event"] for line in err.splitlines()] == ["draining", "stopped"]


def broken_store(folder: Path) -> Path:
    folder.mkdir()
    (folder / "ullage.db").write_bytes(b"no database " * 100)
    return folder


def newer_store(folder: Path) -> Path:
    folder.mkdir()
    with sqlite3.connect(folder / "ullage.db") as db:
        db.execute("CREATE TABLE schema (version INTEGER, oldest INTEGER)")
        db.execute("INSERT INTO schema VALUES (99, 99)")
    db.close()
    return folder


def refused(*arguments: str, code: int = 1, **env: str) -> str:
    """What is said on stderr where the server does not start."""
    done = ullage("serve", *arguments, **env)
    assert (done.returncode, done.stdout) == (code, "")
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    return done.stderr


def test_what_it_cant_start_for_is_said_plainly(folder: Path, tmp_path: Path, target: str) -> None:
    here = f"unix:{folder}/no/u.sock"
    assert "another server listens" in refused("--listen", target, "--data", str(tmp_path))
    assert "another process owns this data folder" in refused("--listen", here, "--data", str(folder / "data"))
    assert "SQLite file can't be opened" in refused("--listen", here, "--data", str(broken_store(tmp_path / "b")))
    assert "version 99" in refused("--listen", here, "--data", str(newer_store(tmp_path / "n")))
    (tmp_path / "file").touch()
    for data in ("file", "file/below"):
        assert "file is a file, and the data needs a folder" in refused(
            "--listen", here, "--data", str(tmp_path / data)
        )
    assert "--insecure" in refused("--listen", "0.0.0.0:50151", "--data", str(tmp_path))
    assert "is no address" in refused("--listen", "somewhere", "--data", str(tmp_path))


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("CACHE_MEBIBYTES", "many", "is 'many'; it is a whole number from 1"),
        ("CACHE_MEBIBYTES", "0", "is '0'; it is a whole number from 1"),
        ("DRAIN_SECONDS", "-1", "is '-1'; it is a number of seconds, 0 or more"),
        ("DRAIN_SECONDS", "inf", "is 'inf'; it is a number of seconds, 0 or more"),
        ("DRAIN_SECONDS", "", "is empty; it is a number of seconds, 0 or more"),
        ("REFLECTION", "maybe", "is 'maybe'; it is auto, on or off"),
        ("INSECURE", "perhaps", "is 'perhaps'; it is true or false"),
        ("DATA", "", "is empty; it is the path of a folder"),
    ],
)
def test_a_setting_that_is_none_is_told_by_its_name_with_what_is_right(
    folder: Path, setting: str, value: str, told: str
) -> None:
    name = f"ULLAGE_{setting}"
    said = refused("--listen", f"unix:{folder}/x/u.sock", **{name: value})
    assert f"{name} {told}" in said
    assert f"correct {name}" in said


def test_an_empty_flag_for_the_data_is_not_the_current_folder(folder: Path) -> None:
    assert "--data is empty" in refused("--listen", f"unix:{folder}/x/u.sock", "--data", "")


def test_flags_go_before_the_environment(folder: Path, tmp_path: Path) -> None:
    said = refused("--listen", "1.2.3.4:1", ULLAGE_LISTEN=f"unix:{folder}/x.sock", ULLAGE_DATA=str(tmp_path))
    assert "1.2.3.4:1" in said
    assert "5.6.7.8:1" in refused(ULLAGE_LISTEN="5.6.7.8:1", ULLAGE_DATA=str(tmp_path))


@pytest.mark.parametrize("arguments", [["--reflection", "maybe"], ["--nothing"], ["x"]])
def test_what_is_asked_wrongly_ends_in_2(arguments: list[str]) -> None:
    done = asked("serve", *arguments)
    assert done.returncode == 2
    assert "Usage: ullage serve" in done.stderr


def test_without_the_servers_parts_it_says_what_to_install() -> None:
    done = ullage("serve", without=SERVER_PARTS)
    assert (done.returncode, done.stdout) == (1, "")
    assert "pip install '.[server]' in the checkout" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_uvloop_it_serves_all_the_same(folder: Path) -> None:
    arguments = ["serve", "--listen", f"unix:{folder}/plain/u.sock", "--data", str(folder / "plain-data")]
    with subprocess.Popen(
        argv(*arguments, without="uvloop"), env=environment(), stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        assert b'"listening"' in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
