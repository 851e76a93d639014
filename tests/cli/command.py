"""The command line, as its users start it (a process of its own), or within this process where that is enough."""

import os
import subprocess
import sys
from typing import Any

import pytest
from typer.testing import CliRunner

from ullage_server.cli.app import app

#: What a server needs and a caller does not.
SERVER_PARTS = (
    "uvloop tomlkit pydantic_settings structlog platformdirs filelock "
    "genai_prices yoyo grpc_health grpc_reflection"
)

_WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
from ullage_server.cli import main
main()
"""


def environment(**more: str) -> dict[str, str]:
    """This process's environment without what would steer the command."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ULLAGE_")}
    return kept | {"COLUMNS": "100", "NO_COLOR": ""} | more


def argv(*arguments: str, without: str = "") -> list[str]:
    """A command's own; `without` names modules that can't be imported."""
    if not without:
        return [sys.executable, "-m", "ullage_server", *arguments]
    return [sys.executable, "-c", _WITHOUT.format(missing=without.split()), *arguments]


def ullage(
    *arguments: str, without: str = "", given: bytes | None = None, **env: str
) -> "subprocess.CompletedProcess[str]":
    """Runs a command to its end; `given` is piped in, None: there is no stdin."""
    done = subprocess.run(
        argv(*arguments, without=without),
        stdin=subprocess.DEVNULL if given is None else None,
        input=given,
        capture_output=True,
        timeout=60,
        env=environment(**env),
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def begun(*arguments: str, **more: Any) -> "subprocess.Popen[bytes]":
    """A command under way."""
    return subprocess.Popen(argv(*arguments), env=environment(), **more)


def asked(*arguments: str, given: bytes = b"", **env: str) -> "subprocess.CompletedProcess[str]":
    """Runs a command that starts no server to its end, within this process."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("ULLAGE_"):
                patch.delenv(name)
        done = CliRunner().invoke(app, arguments, input=given, prog_name="ullage", env={"COLUMNS": "100"} | env)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)
