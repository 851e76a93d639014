"""A server's start and end in one process: what it opened is closed, and nothing of anybody's is taken away."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.servers import owned_folder
from ullage import AsyncClient, Draining
from ullage.v1.run_service_pb2 import StartRunRequest
from ullage.v1.run_service_pb2_grpc import RunServiceStub
from ullage_server.app import running
from ullage_server.ops.address import AddressRefused
from ullage_server.rpc.interceptors.admission import Admission
from ullage_server.rpc.methods import METHODS
from ullage_server.settings import Settings
from ullage_server.store.memory import MemoryStore
from ullage_server.store.sqlite import StoreInUse


def settings(folder: Path, data: str = "data", **stated: object) -> Settings:
    return Settings(listen=f"unix:{folder}/u.sock", data=folder / data, **stated)


async def test_a_server_that_ended_lets_go_of_its_folder_and_its_socket() -> None:
    with owned_folder() as folder:
        for _ in range(2):
            async with running(settings(folder)):
                pass


async def test_a_start_that_fails_lets_go_of_what_it_had() -> None:
    with owned_folder() as folder:
        (folder / "u.sock").mkdir()
        with pytest.raises(AddressRefused, match="no socket"):
            async with running(settings(folder)):
                pass
        (folder / "u.sock").rmdir()
        async with running(settings(folder)):
            with pytest.raises(AddressRefused, match="another server"):
                async with running(settings(folder, data="other")):
                    pass
            elsewhere = Settings(listen=f"unix:{folder}/v.sock", data=folder / "data")
            with pytest.raises(StoreInUse):
                async with running(elsewhere):
                    pass
        async with running(elsewhere):
            pass


async def test_a_file_where_the_socket_would_be_is_left_alone() -> None:
    with owned_folder() as folder:
        (folder / "u.sock").write_text("a thesis")
        with pytest.raises(AddressRefused, match="no socket"):
            async with running(settings(folder)):
                pass
        assert (folder / "u.sock").read_text() == "a thesis"


async def test_a_drain_refuses_what_is_new_and_finishes_what_runs() -> None:
    class Slow(MemoryStore):
        asked, gate = asyncio.Event(), asyncio.Event()

        async def standing(self, run_id: str) -> None:
            self.asked.set()
            await self.gate.wait()

    store = Slow()
    with owned_folder() as folder:
        async with running(settings(folder, drain_seconds=30), store) as app, AsyncClient(app.listen) as client:
            await client.list_buildings().__anext__()
            begun = asyncio.ensure_future(client.start_run("r"))
            await store.asked.wait()
            draining = asyncio.ensure_future(app.drain(30))
            await asyncio.sleep(0)
            with pytest.raises(Draining) as caught:
                async with AsyncClient(app.listen, timeout=0.5) as late:
                    await late.get_run("r")
            assert caught.value.retry_delay is not None
            store.gate.set()
            assert (await begun).run_id == "r"
            await draining


async def test_a_drain_refuses_what_is_not_finished_in_time() -> None:
    class Stuck(MemoryStore):
        asked = asyncio.Event()

        async def standing(self, run_id: str) -> None:
            self.asked.set()
            await asyncio.Event().wait()

    store = Stuck()
    with owned_folder() as folder:
        listen = settings(folder).listen
        async with (
            running(settings(folder, drain_seconds=0), store) as app,
            grpc.aio.insecure_channel(listen) as channel,
        ):
            rpcs: Any = RunServiceStub(channel)
            begun = asyncio.ensure_future(rpcs.StartRun(StartRunRequest(run_id="r"), timeout=30))
            await store.asked.wait()
            await app.drain(0)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await begun
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert "in time" in str(caught.value.details())


async def test_a_call_is_under_way_until_its_answer_has_left() -> None:
    admission, left = Admission(), asyncio.Event()

    async def answer(request: bytes, context: Any) -> bytes:
        return request

    async def rpc() -> None:
        await admission.unary(METHODS[0], answer)(b"", None)  # type: ignore[arg-type]
        await left.wait()

    call = asyncio.ensure_future(rpc())
    await asyncio.sleep(0)
    drained = asyncio.ensure_future(admission.drain())
    for _ in range(5):
        await asyncio.sleep(0)
    assert not drained.done()
    left.set()
    await asyncio.wait_for(drained, 5)
    assert call.done()


async def test_a_caller_who_goes_away_is_not_answered_that_the_server_goes_down() -> None:
    admission = Admission()

    async def answer(request: bytes, context: Any) -> bytes:
        await asyncio.Event().wait()
        return request

    call = asyncio.ensure_future(admission.unary(METHODS[0], answer)(b"", None))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
