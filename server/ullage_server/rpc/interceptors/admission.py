"""Whether the server takes new calls.

Rule (architecture.md, Drain): from the drain on, new calls are refused with DRAINING and what runs is finished.
"""

import asyncio
from collections.abc import AsyncIterator

from ...core.errors import Reason, Refusal
from ..methods import Method
from . import Context, Stream, Unary


class Admission:
    """Lets calls in until the drain begins, and knows how many are under way."""

    def __init__(self) -> None:
        self._under_way = 0
        self._draining = False
        self._idle = asyncio.Event()

    async def drain(self) -> None:
        """Refuses new calls from now on; returns when none is under way."""
        self._draining = True
        if self._under_way:
            await self._idle.wait()

    def unary(self, method: Method, inner: Unary) -> Unary:
        """`inner`, while the server takes new calls."""

        async def call(request: bytes, context: Context) -> bytes:
            self._begin(method)
            try:
                return await inner(request, context)
            finally:
                self._end()

        return call

    def stream(self, method: Method, inner: Stream) -> Stream:
        """`inner`, while the server takes new calls."""

        async def call(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
            self._begin(method)
            try:
                async for answer in inner(requests, context):
                    yield answer
            finally:
                self._end()

        return call

    def _begin(self, method: Method) -> None:
        if self._draining:
            raise Refusal(
                Reason.DRAINING,
                "the server is going down and takes no new calls",
                subject=f"a request of {method.name}",
                recovery="send it again; the next server takes it",
            )
        self._under_way += 1

    def _end(self) -> None:
        self._under_way -= 1
        if self._draining and not self._under_way:
            self._idle.set()
