"""The wheel of this repository, and environments it is installed into."""

import subprocess
import sys
import venv
from pathlib import Path

from tests.needs import missing

ROOT = Path(__file__).parents[2]


def build(folder: Path) -> Path:
    """The wheel, built into `folder` by the tools of this environment."""
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
        timeout=110,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def environment_with(folder: Path, *requirements: str) -> Path:
    """The Python of a new environment with `requirements` installed, and nothing of this one's."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements],
        capture_output=True,
        text=True,
        timeout=170,
    )
    if done.returncode:
        missing("INTEROP", f"pip could not install {requirements}: {done.stderr.strip()[-500:]}")
    return python
