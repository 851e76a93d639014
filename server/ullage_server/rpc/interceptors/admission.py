"""Whether the server takes new calls, and how it parts from its callers.

Rule (architecture.md, Drain): from the drain on, new calls are refused with DRAINING and what runs is finished;
what is not in time is refused with DRAINING too. A call is finished when its answer has left. In the last moment
before the connections are closed, a new call is not answered at once: its caller would send the next one into a
connection that is going, and see it cancelled. It is refused when the connections have been told to be going.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from ...core.errors import Reason, Refusal
from ..methods import ENDLESS, Method
from . import Context, Stream, Unary


class Admission:
    """Lets calls in until the drain begins, and knows which are under way."""

    def __init__(self) -> None:
        self._under_way: set[asyncio.Task[object]] = set()
        self._ends: set[Callable[[], object]] = set()
        self._draining = False
        self._holding = False
        self._parted = asyncio.Event()

    async def drain(self) -> None:
        """Refuses new calls from now on; returns when none is under way."""
        self._draining = True
        for end in list(self._ends):
            end()
        while self._under_way:
            await asyncio.wait(self._under_way)

    @contextmanager
    def at_drain(self, end: Callable[[], object]) -> Iterator[None]:
        """For a call that would go on for ever: `end` is called when the drain begins."""
        self._ends.add(end)
        try:
            yield
        finally:
            self._ends.discard(end)

    def _at_drain(self, method: Method) -> AbstractContextManager[None]:
        """Cancels the call when the drain begins, where it would go on for ever."""
        task = asyncio.current_task()
        return self.at_drain(task.cancel) if task and method.name in ENDLESS else nullcontext()

    def hold(self) -> None:
        """Refuses new calls from now on only when `part` is called."""
        self._holding = True

    def part(self) -> None:
        """Refuses whatever is under way or held."""
        self._parted.set()
        for task in self._under_way:
            task.cancel()

    def unary(self, method: Method, inner: Unary) -> Unary:
        """`inner`, while the server takes new calls."""

        async def call(request: bytes, context: Context) -> bytes:
            await self._enter(method)
            try:
                return await inner(request, context)
            except asyncio.CancelledError:
                self._refuse_if_parted(method)
                raise

        return call

    def stream(self, method: Method, inner: Stream) -> Stream:
        """`inner`, while the server takes new calls."""

        async def call(requests: AsyncIterator[bytes], context: Context) -> None:
            await self._enter(method)
            try:
                with self._at_drain(method):
                    await inner(requests, context)
            except asyncio.CancelledError:
                self._refuse_if_parted(method)
                raise

        return call

    async def _enter(self, method: Method) -> None:
        if self._draining:
            if self._holding:
                await self._parted.wait()
            raise Refusal(
                Reason.DRAINING,
                "the server is going down and takes no new calls",
                subject=f"a request of {method.name}",
                recovery="send it again; the next server takes it",
            )
        # Each call has a task of its own, which ends when the answer has left.
        if task := asyncio.current_task():
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

    def _refuse_if_parted(self, method: Method) -> None:
        if self._parted.is_set() or (self._draining and method.name in ENDLESS):
            raise Refusal(
                Reason.DRAINING,
                "the server is going down and could not finish this call in time; it may be recorded or not",
                subject=f"a request of {method.name}",
                recovery="send it again, it is safe; the next server takes it",
            ) from None
