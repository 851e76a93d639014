"""Where a client finds its server when nobody says: the address that a server listens on by default.

Rule: `ULLAGE_TARGET`, else a unix socket in a folder of the user's own, so that no port is taken and no other
user of the machine gets in.
"""

import os
from pathlib import Path


def default_listen() -> str:
    """The unix socket that a server listens on where nothing else is said: `unix:PATH`."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(runtime) if runtime else Path.home() / ".local" / "state"
    return f"unix:{folder / 'ullage' / 'ullage.sock'}"


def default_target() -> str:
    """The server that a client calls where nothing else is said: `ULLAGE_TARGET`, else the default socket."""
    return os.environ.get("ULLAGE_TARGET") or default_listen()
