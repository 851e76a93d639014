"""Whether the server takes new calls.

Rule (architecture.md, Drain): from the drain on, new calls are refused with DRAINING and what runs is finished.
"""

import asyncio

import grpc

from ...core.errors import Reason, Refusal
from ..methods import Method
from . import Unary


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

    def __call__(self, method: Method, inner: Unary) -> Unary:
        """`inner`, while the server takes new calls."""

        async def call(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
            if self._draining:
                raise Refusal(
                    Reason.DRAINING,
                    "the server is going down and takes no new calls",
                    subject=f"a request of {method.name}",
                    recovery="send it again; the next server takes it",
                )
            self._under_way += 1
            try:
                return await inner(request, context)
            finally:
                self._ended()

        return call

    def _ended(self) -> None:
        self._under_way -= 1
        if self._draining and not self._under_way:
            self._idle.set()
