"""What the interop tests need of a machine: skipped without it, failed where it is required."""

import os
import shutil

import pytest


def missing(what: str) -> None:
    """Ends the test for want of `what`: a skip for a newcomer, a failure where ULLAGE_REQUIRE_INTEROP=1."""
    if os.environ.get("ULLAGE_REQUIRE_INTEROP") == "1":
        pytest.fail(f"ULLAGE_REQUIRE_INTEROP=1, and {what}")
    pytest.skip(what)


def command(name: str) -> str:
    """The path of a program of the machine."""
    path = shutil.which(name)
    if path is None:
        missing(f"this machine has no {name}")
        raise AssertionError("missing() ends the test")
    return path
