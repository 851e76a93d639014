"""What the health service says: SERVING while the store answers.

Rule: a store that other machines hold may be away for a while. It is asked every second, and while it does not
answer every service is NOT_SERVING, so that callers' balancers choose another server; when it is back, so is the
server, without a restart.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from grpc_health.v1.health import aio as health
from grpc_health.v1.health_pb2 import HealthCheckResponse

from ..store.port import Store, StoreError
from .methods import SERVICES

#: How long, in seconds, between two looks, and how long the store may take to answer one.
LOOK_SECONDS, ANSWER_SECONDS = 1.0, 3.0

_log = structlog.get_logger()


class StoreHealth:
    """Keeps the health service true to a store."""

    def __init__(self, store: Store, service: health.HealthServicer) -> None:
        self._store = store
        self._service = service
        self._serving: bool | None = None

    async def look(self) -> None:
        """Asks the store once, and tells the health service."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._store.position("")
        except (StoreError, TimeoutError) as error:
            await self._tell(serving=False, why=str(error) or "no answer in time")
        else:
            await self._tell(serving=True)

    @asynccontextmanager
    async def looking(self) -> AsyncIterator[None]:
        """Looks again and again for the life of the context."""
        task = asyncio.create_task(self._keep_looking())
        try:
            yield
        finally:
            task.cancel()

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.look()

    async def _tell(self, *, serving: bool, why: str = "") -> None:
        if serving is self._serving:
            return
        if not serving:
            _log.warning("the store does not answer", why=why)
        elif self._serving is not None:
            _log.info("the store answers again")
        self._serving = serving
        status = HealthCheckResponse.SERVING if serving else HealthCheckResponse.NOT_SERVING
        for name in ("", *(service.full_name for service in SERVICES)):
            await self._service.set(name, status)
