"""A name for a run that nobody else has: a UUID of version 7.

Rule: a run's id is the caller's and unique in the whole city, so that a start can be sent again. RFC 9562,
version 7: the first 48 bits are the Unix time in milliseconds, so ids sort by when they were made; here the next
12 are the fraction of that millisecond (the RFC's method 3), and the last 62 are random.
"""

import secrets
import threading
import time
import uuid
from collections.abc import Callable

_NANOSECONDS = 1_000_000
_LOCK = threading.Lock()
_last = 0


def new_run_id() -> str:
    """A new run id, 36 characters; those made in one process sort in the order of their making."""
    ready: Callable[[], uuid.UUID] | None = getattr(uuid, "uuid7", None)  # from Python 3.14
    if ready is not None:
        return str(ready())
    return str(uuid7(_next_stamp(time.time_ns()), secrets.randbits(62)))


def uuid7(stamp: int, random: int) -> uuid.UUID:
    """The UUID of `stamp`, the Unix time in 4096ths of a millisecond (60 bits), and 62 bits of `random`."""
    milliseconds, fraction = stamp >> 12, stamp & 0xFFF
    return uuid.UUID(int=milliseconds << 80 | 7 << 76 | fraction << 64 | 0b10 << 62 | random)


def _next_stamp(now_ns: int) -> int:
    """`now_ns` in 4096ths of a millisecond, and in any case more than the one before: clocks are set back."""
    global _last
    with _LOCK:
        _last = max((now_ns << 12) // _NANOSECONDS, _last + 1)
        return _last
