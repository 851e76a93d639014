"""One run's commands in order inside a process; runs never wait for each other."""

import asyncio
from collections import deque


class RunOrder:
    """A turnstile for each run that is being commanded. It is held by an owner, not by a task: whoever ends the
    command may release it.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    async def enter(self, run_id: str) -> None:
        """Returns when no other command of the run is under way; first come, first served."""
        queue = self._waiting.get(run_id)
        if queue is None:
            self._waiting[run_id] = deque()
            return
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave(run_id)  # the turn had come just when its caller gave up
            raise

    def leave(self, run_id: str) -> None:
        """Lets the next command of the run in."""
        queue = self._waiting[run_id]
        while queue:
            turn = queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        del self._waiting[run_id]
