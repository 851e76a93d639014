"""Where the recorded material lies that some tests read; it is not part of this repository."""

import os
from pathlib import Path

from tests.needs import missing

REPOSITORY = Path(__file__).resolve().parent.parent


def shared(part: str = "") -> Path:
    """`part` of the recorded material.

    It lies in `ULLAGE_SHARED`, else beside the repository. Where it is missing the test is skipped, or fails
    if `ULLAGE_REQUIRE_SHARED` is 1.
    """
    where = os.environ.get("ULLAGE_SHARED")
    path = (Path(where) if where else REPOSITORY.parent / "shared") / part
    if not path.exists():
        missing("SHARED", f"no recorded material at {path} (set ULLAGE_SHARED to where it is)")
    return path
