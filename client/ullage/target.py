"""Where a client finds its server: the address that it is given, else the one a server listens on by default.

Rule: `ULLAGE_TARGET`, else a unix socket in a folder of the user's own, so that no port is taken and no other
user of the machine gets in. An address that gRPC would take for another one is refused here.
"""

import os
import re
from pathlib import Path

_MAX_PORT = 65535
#: gRPC's own names for where an address is looked up.
_RESOLVED = re.compile(r"(?:unix|unix-abstract|dns|ipv4|ipv6|vsock|xds|passthrough):.+", re.DOTALL)
_HOST_AND_PORT = re.compile(r"(?:[^\s:/\[\]]{1,255}|\[[0-9A-Fa-f:.%\w]{2,80}\]):([0-9]{1,5})")


def default_listen() -> str:
    """The unix socket that a server listens on where nothing else is said: `unix:PATH`."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(runtime) if runtime else Path.home() / ".local" / "state"
    return f"unix:{folder / 'ullage' / 'ullage.sock'}"


def default_target() -> str:
    """The server that a client calls where nothing else is said: `ULLAGE_TARGET`, else the default socket."""
    return os.environ.get("ULLAGE_TARGET") or default_listen()


def check_target(target: str | None) -> str:
    """The address of the server that is meant by `target`; None: the default one.

    TypeError or ValueError where it is no address: of a URL, a host without a port or a port beyond the last one
    gRPC would make another address in silence.
    """
    said = "target"
    if target is None:
        said, target = "ULLAGE_TARGET", default_target()
    if not isinstance(target, str):
        raise TypeError(f"target is an address as text, unix:/PATH or HOST:PORT; not {target!r}")
    found = _HOST_AND_PORT.fullmatch(target)
    if (_RESOLVED.fullmatch(target) and _in_utf8(target)) or (found and 1 <= int(found[1]) <= _MAX_PORT):
        return target
    raise ValueError(
        f"{said} is {target!r}, which is no address: write unix:/PATH or HOST:PORT, as 127.0.0.1:50151"
    )


def _in_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
