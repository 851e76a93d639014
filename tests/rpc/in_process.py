"""A server within the test's own event loop, for tests that reach inside: its store, its handlers, its faults."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import grpc

from tests.rpc.calls import ANY_SIZE, AsyncWire
from ullage_server.app import App, running
from ullage_server.rpc.interceptors import Interceptor
from ullage_server.rpc.server import Handlers, UnaryAnswer
from ullage_server.settings import Settings
from ullage_server.store.port import Store


@asynccontextmanager
async def folder() -> AsyncIterator[Path]:
    """A folder whose path leaves room for a socket's name."""
    path = Path(tempfile.mkdtemp(prefix="ullage-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@asynccontextmanager
async def serving(
    answers: Mapping[str, UnaryAnswer], interceptors: Sequence[Interceptor]
) -> AsyncIterator[AsyncWire]:
    """Only the handlers, with `answers` behind them."""
    async with folder() as path:
        server = grpc.aio.server()
        server.add_generic_rpc_handlers((Handlers(answers, {}, interceptors),))
        server.add_insecure_port(f"unix:{path}/u.sock")
        await server.start()
        async with grpc.aio.insecure_channel(f"unix:{path}/u.sock", options=ANY_SIZE) as channel:
            yield AsyncWire(channel)
        await server.stop(None)


class Whole(NamedTuple):
    """All of a server: how it is called, where its data is, and itself."""

    wire: AsyncWire
    data: Path
    app: App


@asynccontextmanager
async def whole_server(store: Store) -> AsyncIterator[Whole]:
    """A server as `ullage serve` starts it, but over `store`."""
    async with folder() as path:
        stated: dict[str, Any] = {"listen": f"unix:{path}/u.sock", "data": path / "data", "drain_seconds": 0}
        settings = Settings(**stated)
        async with (
            running(settings, store) as app,
            grpc.aio.insecure_channel(settings.listen, options=ANY_SIZE) as channel,
        ):
            yield Whole(AsyncWire(channel), settings.data, app)
