"""A caller in Node, with @grpc/grpc-js and the proto files alone."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.needs import command, missing
from tests.servers import running_server

NODE = Path(__file__).parent / "node"
PROTOS = Path(__file__).parents[2] / "proto"


@pytest.fixture(scope="module")
def node_folder() -> Path:
    """The script beside its packages, installed outside of the repository, once for a user of this machine."""
    command("node")
    npm = command("npm")
    folder = Path(tempfile.gettempdir()) / f"ullage-interop-node-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    for file in NODE.iterdir():
        shutil.copy(file, folder)
    installed = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=110,
    )
    if installed.returncode:
        missing("INTEROP", f"npm could not install the packages: {installed.stderr.strip()[-500:]}")
    return folder


@pytest.fixture(scope="module")
def told(node_folder: Path) -> dict[str, Any]:
    """What the script printed."""
    with running_server() as server:
        done = subprocess.run(
            [command("node"), "gauge.mjs", server.target, str(PROTOS)],
            cwd=node_folder,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def test_the_ladder_is_configured_and_the_run_freezes_it(told: dict[str, Any]) -> None:
    assert told["configured"]["building"]["stated"] == [
        {"key": "context.second_threshold", "value": "50", "source": "node"}
    ]
    assert told["started"]["run"]["plan"]["second_threshold"] == 50
    assert told["started"]["run"]["sounded"] == "SOUNDED_NOTHING"


def test_each_threshold_sounds_once(told: dict[str, Any]) -> None:
    ids = [seen["reminder"]["id"] if seen.get("reminder") else None for seen in told["observed"]]
    assert ids == [None, "2/context/first", "3/context/handover", None]
    assert told["observed"][1]["reminder"]["text"] == (
        "[context] 30% of the window used (60000 of 200000 input tokens)."
    )


def test_numbers_are_numbers_up_to_the_largest(told: dict[str, Any]) -> None:
    assert told["observed"][3]["reading"]["used_tokens"] == 9_007_199_254_740_991
    assert told["got"]["run"]["reading"]["used_tokens"] == 9_007_199_254_740_991
    assert told["got"]["run"]["reading"]["percent"] == 2**31 - 1


def test_the_same_report_again_is_a_replay(told: dict[str, Any]) -> None:
    assert told["again"]["replayed"] is True
    assert told["again"]["reminder"]["id"] == "2/context/first"
    assert told["got"]["run"]["insertions_given"] == 2


def test_an_error_tells_its_reason_and_what_to_do(told: dict[str, Any]) -> None:
    refused = told["refused"]
    assert refused["code"] == 3, "INVALID_ARGUMENT"
    assert "31 to 90" in refused["message"]
    assert "THRESHOLD_OUT_OF_DOMAIN" in refused["details"]
    assert "command.context_second_threshold" in refused["details"]
    assert told["unknown"]["code"] == 5, "NOT_FOUND"
    assert "RUN_NOT_FOUND" in told["unknown"]["details"]
