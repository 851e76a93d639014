"""Where the server listens, and what it refuses to listen on.

Rule (architecture.md, The server's shape): by default a unix socket in an owner-only folder, with a lock file
beside it taken before it is bound, since a second server would bind a live socket and take its calls without a
word. TCP without TLS is for loopback; another address is refused unless asked for by name.
"""

import ipaddress
import os
import re
import stat
from pathlib import Path

import grpc
from filelock import FileLock, Timeout

#: What the kernel takes of a unix socket's path, in bytes.
_MAX_SOCKET_PATH = 107

_UNIX = "unix:"

_PORT = re.compile(r"[0-9]{1,5}")
_HOST_NAME = re.compile(r"(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?")


class AddressRefused(Exception):
    """The server does not listen there, and why."""


def is_local(listen: str) -> bool:
    """Whether only this machine reaches `listen`: a unix socket, or TCP on loopback."""
    if listen.startswith(_UNIX):
        return True
    host, _, _ = listen.rpartition(":")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_listen(listen: str, *, insecure: bool) -> str:
    """`listen`, `unix:PATH` or `HOST:PORT`; refused where it is neither, or not safe."""
    if listen.startswith(_UNIX):
        path = listen.removeprefix(_UNIX)
        if len(os.fsencode(path)) > _MAX_SOCKET_PATH:
            raise AddressRefused(f"the socket's path has more than {_MAX_SOCKET_PATH} bytes; choose a shorter one")
        if not Path(path).is_absolute():
            raise AddressRefused("a unix socket is named by its whole path, as unix:/run/ullage/ullage.sock")
        return listen
    host, _, port = listen.rpartition(":")
    if not _is_host(host) or not _PORT.fullmatch(port) or int(port) > 65535:
        raise AddressRefused(
            f"{listen!r} is no address: it is unix:PATH or HOST:PORT, as 127.0.0.1:50151 or [::1]:50151"
        )
    if not is_local(listen) and not insecure:
        raise AddressRefused(
            f"{listen} can be reached from other machines and this server speaks without TLS; "
            "listen on a unix socket or loopback, or say --insecure if the network is trusted"
        )
    return listen


def _is_host(host: str) -> bool:
    """Whether `host` is a name, an IPv4 address, or an IPv6 address in brackets."""
    if host.startswith("[") and host.endswith("]"):
        try:
            return bool(ipaddress.IPv6Address(host[1:-1]))
        except ValueError:
            return False
    return _HOST_NAME.fullmatch(host) is not None


def hold_socket(listen: str) -> FileLock | None:
    """Takes the lock beside the unix socket of `listen`, in an owner-only folder, and clears a dead socket away.

    None for TCP. Raises AddressRefused where another server holds it, or others can reach the folder.
    """
    if not listen.startswith(_UNIX):
        return None
    socket = Path(listen.removeprefix(_UNIX))
    try:
        socket.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        mode = socket.parent.lstat()
    except OSError as error:
        raise AddressRefused(f"the socket's folder can't be made: {error.strerror}") from None
    if not stat.S_ISDIR(mode.st_mode) or mode.st_uid != os.getuid() or stat.S_IMODE(mode.st_mode) & 0o077:
        raise AddressRefused(
            f"the socket's folder {socket.parent} is open to other users; make it yours alone (chmod 700)"
        )
    if socket.exists() and not socket.is_socket():
        raise AddressRefused(f"{socket} is no socket; name a place that is free, where the server makes its own")
    lock = FileLock(f"{socket}.lock", timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise AddressRefused(f"another server listens on {listen}") from None
    socket.unlink(missing_ok=True)
    return lock


def bind(server: grpc.aio.Server, listen: str) -> str:
    """Binds `server` to `listen`, and gives the address it got: a port of 0 is one that was free."""
    try:
        port = server.add_insecure_port(listen)
    except RuntimeError:
        raise AddressRefused(f"{listen} can't be bound: another program may have it") from None
    return listen if listen.startswith(_UNIX) else f"{listen.rpartition(':')[0]}:{port}"
