"""What some tests need of a machine: skipped without it, failed where it is required.

`ULLAGE_REQUIRE_INTEROP`, `ULLAGE_REQUIRE_SHARED` and `ULLAGE_REQUIRE_POSTGRES`, each 1 or not there, require it.
"""

import os
import shutil
from typing import NoReturn

import pytest


def missing(part: str, what: str) -> NoReturn:
    """Ends the test for want of `what`: a skip for a newcomer, a failure where ULLAGE_REQUIRE_ and `part` is 1."""
    if os.environ.get(f"ULLAGE_REQUIRE_{part}") == "1":
        pytest.fail(f"ULLAGE_REQUIRE_{part}=1, and {what}")
    pytest.skip(what)


def command(name: str) -> str:
    """The path of a program of the machine, which the interop tests call."""
    path = shutil.which(name)
    if path is None:
        missing("INTEROP", f"this machine has no {name}")
    return path
