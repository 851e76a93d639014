"""Whose turn it is, where many watches have something to tell at once.

Rule: a few of them tell, first come, first served, and then all of them rest for as long as that took. So a
thousand watches of a busy city leave time to those who report, and are told less often themselves.
"""

import asyncio
from collections import deque

#: How many watches tell in one round: about a millisecond's work.
AT_ONCE = 8


class Turns:
    """Gives so many turns in a round."""

    def __init__(self) -> None:
        self._left = AT_ONCE
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._begun = 0.0
        self._going = False

    async def take(self) -> None:
        """Returns when it is the caller's turn."""
        if not self._going:
            self._begin()
        if self._left:
            self._left -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        await turn

    def _begin(self) -> None:
        """Begins a round; what has a turn in it goes before the rest."""
        loop = asyncio.get_running_loop()
        self._going, self._begun, self._left = True, loop.time(), AT_ONCE
        while self._left and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # its caller has gone away
                turn.set_result(None)
                self._left -= 1
        loop.call_soon(self._rest)

    def _rest(self) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(loop.time() - self._begun, self._end)

    def _end(self) -> None:
        self._going = False
        if self._waiting:
            self._begin()
