"""The README's way from a shell: `buf curl` over loopback TCP, told what to call by server reflection."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.needs import missing
from tests.servers import environment

BUF = Path(sys.executable).parent / "buf"


def curl(address: str, rpc: str, request: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    url = f"http://{address}/ullage.v1.{rpc}"
    command = [str(BUF), "curl", "--protocol", "grpc", "--data", json.dumps(request), url]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.fixture
def address(tmp_path: Path) -> Any:
    """A server on a free port of loopback."""
    if not BUF.exists():
        missing("INTEROP", "this environment has no buf")
    command = [sys.executable, "-m", "ullage_server", "serve", "--listen", "127.0.0.1:0", "--data", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment()) as server:
        assert server.stderr is not None
        told = json.loads(server.stderr.readline())
        yield told["listen"]
        server.terminate()
        server.stderr.read()


def test_a_run_is_driven_by_reflection(address: str) -> None:
    assert re.fullmatch(r"127\.0\.0\.1:[1-9]\d*", address)
    started = curl(address, "RunService/StartRun", {"run_id": "from-buf", "plan": {"context_tokens": 200000}})
    assert started.returncode == 0, started.stderr
    report = {"turn": 1, "usage": {"input_tokens": 64000}}
    seen = curl(address, "RunService/ObserveUsage", {"run_id": "from-buf", "report": report})
    assert json.loads(seen.stdout)["reminder"]["id"] == "1/context/first"


def test_an_error_is_readable(address: str) -> None:
    refused = curl(address, "RunService/GetRun", {"run_id": "nobody"})
    assert refused.returncode != 0
    assert "there is no run nobody" in refused.stderr
