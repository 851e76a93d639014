"""When a call that failed is sent again, and when it is given up.

Rule: only UNAVAILABLE is sent again, and CANCELLED where nobody here cancelled (a server that goes down ends its
calls so), and only within the call's own time; every call has a natural key or a request id, so the same request
sent twice is answered as if sent once. Waits grow from 50 ms to 1 s, up to half
of each left to chance, so that many callers do not come at once; a server that says how long to wait is obeyed.
Where no Ullage has ever answered this client, none is likely to come: that is given up after 2 s.
"""

import math
from numbers import Real

import grpc

from .arguments import shown
from .errors import DeadlinePassed, ServerUnreachable, UllageError

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
_UNMET_PATIENCE = 2.0


def checked_timeout(timeout: object) -> float:
    """`timeout`, the seconds of a call; TypeError or ValueError where it is no time."""
    wrong = f"timeout is a number of seconds above 0; not {shown(timeout)}"
    if not isinstance(timeout, Real):
        raise TypeError(wrong)
    try:
        seconds = float(timeout)
    except OverflowError:
        seconds = math.inf
    if not (math.isfinite(seconds) and seconds > 0):
        raise ValueError(wrong)
    return seconds


def proves_a_server(error: UllageError) -> bool:
    """Whether `error` can only have come from a server, so that there is one."""
    return not isinstance(error, ServerUnreachable | DeadlinePassed)


class Attempts:
    """The attempts of one call that began at `now` and may take `timeout` seconds in all.

    The clock is the caller's: any that only goes forward, in seconds.
    """

    def __init__(self, timeout: float, now: float) -> None:
        self._begun = now
        self._deadline = now + timeout
        self._failed = 0

    def left(self, now: float) -> float:
        """The seconds that the next attempt may take."""
        return max(self._deadline - now, 0.0)

    def pause(self, error: UllageError, now: float, chance: float, *, met: bool) -> float | None:
        """The seconds to wait before the next attempt; None where there shall be none.

        `chance` is a random number from 0 to 1; `met` says whether a server has answered this client before.
        """
        if error.code is not grpc.StatusCode.UNAVAILABLE and not isinstance(error, ServerUnreachable):
            return None
        if error.reason and error.retry_delay is None:
            return None  # the service says so itself, and that waiting does not help
        pause = min(_FIRST_PAUSE * 2**self._failed, _LONGEST_PAUSE) * (0.5 + chance / 2)
        if error.retry_delay:
            pause = max(pause, error.retry_delay * (1 + chance / 5))
        self._failed += 1
        end = self._deadline
        if isinstance(error, ServerUnreachable) and not met:
            end = min(end, self._begun + _UNMET_PATIENCE)
        return pause if now + pause < end else None
