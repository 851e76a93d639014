"""The public surface: documented, typed, the same for both clients, and light."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import ullage

ROOT = Path(__file__).resolve().parents[2]
PAIRS = [(ullage.Client, ullage.AsyncClient), (ullage.Run, ullage.AsyncRun)]


def public(kind: type) -> dict[str, object]:
    return {name: getattr(kind, name) for name in dir(kind) if not name.startswith("_")}


def test_every_public_name_says_what_it_is() -> None:
    for name in ullage.__all__:
        value = getattr(ullage, name)
        assert inspect.getdoc(value), name
        if inspect.isclass(value) and not issubclass(value, Exception | str | dict):
            for member, found in public(value).items():
                if callable(found) or isinstance(found, property):
                    assert inspect.getdoc(found), f"{name}.{member}"


@pytest.mark.parametrize(("plain", "awaited"), PAIRS)
def test_both_clients_ask_alike(plain: type, awaited: type) -> None:
    assert public(plain).keys() == public(awaited).keys()
    for name, function in public(plain).items():
        if inspect.isfunction(function):
            twin = getattr(awaited, name)
            assert inspect.signature(function).parameters == inspect.signature(twin).parameters, name
            assert (inspect.getdoc(twin) or "").replace("Async", "") == inspect.getdoc(function), name


def test_the_client_imports_neither_the_server_nor_what_only_it_needs() -> None:
    program = "import sys, ullage; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert {"ullage", "grpc"} <= loaded
    assert loaded.isdisjoint(
        {
            "ullage_server",
            "grpc_status",
            "pydantic",
            "structlog",
            "typer",
            "rich",
            "tomlkit",
            "genai_prices",
            "platformdirs",
        }
    )


@pytest.mark.timeout(300)
def test_the_client_and_its_tests_are_typed() -> None:
    pytest.importorskip("mypy")
    for checked in (["client/ullage"], ["tests/client"]):
        run = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", *checked],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stdout + run.stderr
