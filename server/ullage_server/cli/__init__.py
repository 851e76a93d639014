"""The command line: `ullage serve | replay | runs | run | building`.

Rule: it needs the extra `[cli]` and no more, but for what runs a server in this process; what is missing is said
in one line, with the command that gets it.
"""

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Runs the command that the process was started with, and ends the process with its code."""
    # gRPC's own words would stand between ours on stderr; what they say is in our errors.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        try:
            from .app import run_app
        except ModuleNotFoundError as missing:
            if missing.name is None or missing.name.partition(".")[0] in {"ullage", "ullage_server"}:
                raise
            sys.exit(f"ullage: the command line needs {missing.name}: pip install '.[cli]' in the checkout")
        run_app()
    except KeyboardInterrupt:
        sys.exit(130)
