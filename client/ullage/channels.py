"""How a channel to a server is opened, by either client.

Rule: one long-lived channel a client, opened at the first call. A server that comes back is found again within a
second, and a proxy of the environment never stands between a client and a server of the same machine.
"""

import ipaddress
import re

#: gRPC waits 20 s at least, and up to two minutes, before it knocks again; an agent in its loop must not.
_KNOCK_AGAIN = [
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
]
#: Over a stream that goes on for ever, a server or a way to it that is gone is noticed by asking now and then.
_KEEP_ALIVE = [("grpc.keepalive_time_ms", 30_000), ("grpc.keepalive_timeout_ms", 10_000)]
#: gRPC takes 4 MiB; an exchange may come back as large as the server takes one, and its verdicts with it.
_ANSWERS = [("grpc.max_receive_message_length", 32 << 20)]


def channel_options(target: str) -> list[tuple[str, int]]:
    """The options of a channel to `target`."""
    options = [*_KNOCK_AGAIN, *_KEEP_ALIVE, *_ANSWERS]
    return [*options, ("grpc.enable_http_proxy", 0)] if _on_this_machine(target) else options


def _on_this_machine(target: str) -> bool:
    host = re.sub(r"^(dns|ipv4|ipv6):", "", target.rpartition("/")[2]).rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
