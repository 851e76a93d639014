"""A server's life: what it tells of itself, what it refuses to start on, and how it ends."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from tests.e2e.ledger_file import LedgerFile, one_after_the_other
from tests.servers import Server, environment, running_server
from ullage import AsyncClient, AsyncRun, Client, DeadlinePassed, Draining, ServerUnreachable, new_run_id
from ullage.v1.building_pb2 import ConfigureBuilding
from ullage.v1.building_service_pb2 import ConfigureBuildingRequest, GetBuildingRequest
from ullage.v1.building_service_pb2_grpc import BuildingServiceStub
from ullage.v1.run_service_pb2 import StartRunRequest
from ullage.v1.run_service_pb2_grpc import RunServiceStub

SERVICES = ["ullage.v1.BuildingService", "ullage.v1.RunService", "ullage.v1.WireService"]
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
WAIT = 60.0


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """For the tests that leave it as it is."""
    with running_server() as server:
        yield server


@contextmanager
def held_store(server: Server) -> Iterator[None]:
    """Nothing is written to the server's file meanwhile: a call that records is under way until the end."""
    with closing(sqlite3.connect(server.data / "ullage.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("ROLLBACK")


def refused(listen: str, data: Path, *flags: str) -> str:
    """What a server says that does not start."""
    done = subprocess.run(
        [sys.executable, "-m", "ullage_server", "serve", "--listen", listen, "--data", str(data), *flags],
        capture_output=True,
        text=True,
        timeout=WAIT,
        env=environment(),
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, ""), done
    assert "Traceback" not in done.stderr
    return done.stderr


def test_health_tells_of_the_whole_and_of_each_service(server: Server) -> None:
    with grpc.insecure_channel(server.target) as channel:
        health: Any = health_pb2_grpc.HealthStub(channel)
        for name in ("", *SERVICES):
            status = health.Check(health_pb2.HealthCheckRequest(service=name), timeout=WAIT).status
            assert status == SERVING, name
        with pytest.raises(grpc.RpcError) as caught:
            health.Check(health_pb2.HealthCheckRequest(service="ullage.v1.Nothing"), timeout=WAIT)
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND
        watch = health.Watch(health_pb2.HealthCheckRequest(), timeout=WAIT)
        assert next(watch).status == SERVING
        watch.cancel()


def listed(target: str) -> list[str]:
    """The services that reflection names."""
    with grpc.insecure_channel(target) as channel:
        reflection: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
        question = reflection_pb2.ServerReflectionRequest(list_services="")
        (answer,) = reflection.ServerReflectionInfo(iter([question]), timeout=WAIT)
        return sorted(service.name for service in answer.list_services_response.service)


def test_reflection_names_the_services_on_a_unix_socket(server: Server) -> None:
    assert listed(server.target) == [
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
        *SERVICES,
    ]


def test_reflection_can_be_turned_off() -> None:
    with running_server("--reflection", "off") as server, pytest.raises(grpc.RpcError) as caught:
        listed(server.target)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_a_second_server_on_the_same_data_or_socket_is_refused_and_harms_nothing(
    server: Server, tmp_path: Path
) -> None:
    with Client(server.target, timeout=WAIT) as client:
        run = client.start_run(context_tokens=1000)
        other = f"unix:{server.data.parent}/other.sock"
        assert "another process owns this data folder" in refused(other, server.data)
        assert "another server listens" in refused(server.target, tmp_path / "data")
        assert not (tmp_path / "data").exists()
        assert run.observe(500).reading is not None
    with Client(server.target, timeout=WAIT) as client:
        assert client.get_run(run.run_id).last_turn == 1


def test_an_address_that_others_reach_is_refused_without_the_word_for_it(tmp_path: Path) -> None:
    for listen in ("0.0.0.0:0", "ullage.example:50151"):
        assert "--insecure" in refused(listen, tmp_path / "data"), listen
    assert not (tmp_path / "data").exists()


def test_a_data_folder_that_can_not_be_one_is_refused(server: Server, tmp_path: Path) -> None:
    listen = f"unix:{server.data.parent}/other.sock"
    (tmp_path / "file").write_text("no folder")
    for data in (tmp_path / "file", tmp_path / "file" / "below"):
        assert "--data" in refused(listen, data)
    assert (tmp_path / "file").read_text() == "no folder"


def test_the_socket_of_a_server_that_was_killed_is_no_hindrance() -> None:
    with running_server() as server:
        socket = Path(server.target.removeprefix("unix:"))
        server.kill()
        assert socket.is_socket()
        server.start()
        with Client(server.target, timeout=WAIT) as client:
            assert client.start_run().last_turn == 0


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_an_idle_server_well_and_takes_its_socket_away(signum: signal.Signals) -> None:
    with running_server() as server:
        with Client(server.target, timeout=WAIT) as client:
            run = client.start_run(context_tokens=1000)
            run.observe(700)
            assert server.end(signum) == 0
        assert not Path(server.target.removeprefix("unix:")).exists()
        assert "Traceback" not in server.log()
        assert not (server.data / "ullage.db-wal").exists()
        assert LedgerFile(server.data).runs()[run.run_id] == one_after_the_other(1)


@asynccontextmanager
async def drain_begun(server: Server, run: AsyncRun, signum: signal.Signals) -> AsyncIterator["asyncio.Task[int]"]:
    """A signal has come and health says so, once what was called before has reached the server.

    Gives the task that waits for the server's end.
    """
    async with grpc.aio.insecure_channel(server.target) as channel:
        health: Any = health_pb2_grpc.HealthStub(channel)
        watch = health.Watch(health_pb2.HealthCheckRequest(service=SERVICES[1]))
        statuses = aiter(watch)
        assert (await anext(statuses)).status == SERVING
        # What is called later on the same connection is answered: so what came before it has come.
        await asyncio.create_task(run.status())
        ended = asyncio.create_task(asyncio.to_thread(server.end, signum))
        assert (await anext(statuses)).status == NOT_SERVING
        watch.cancel()
        yield ended


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
async def test_a_drain_answers_what_is_under_way_and_refuses_what_is_new(signum: signal.Signals) -> None:
    with running_server() as server:
        async with AsyncClient(server.target, timeout=WAIT) as client:
            run = await client.start_run(context_tokens=1000)
            with held_store(server):
                under_way = asyncio.create_task(run.observe(700))
                async with drain_begun(server, run, signum) as ended:
                    async with AsyncClient(server.target, timeout=0.3) as late:
                        with pytest.raises((Draining, ServerUnreachable)):
                            await late.start_run()
                    assert not under_way.done()
            assert (await under_way).reminder is not None
            assert await ended == 0
        assert "Traceback" not in server.log()
        assert LedgerFile(server.data).runs() == {run.run_id: one_after_the_other(1)}


async def test_a_second_signal_waits_for_no_call_and_what_was_reported_is_said_by_the_next_server() -> None:
    with running_server() as server:
        # It gives up where the other would come again: the answer is what is looked at.
        async with AsyncClient(server.target, timeout=2) as client:
            run = await client.start_run(context_tokens=1000)
            with held_store(server):
                under_way = asyncio.create_task(run.observe(700))
                async with drain_begun(server, run, signal.SIGTERM) as ended:
                    os.kill(server.pid, signal.SIGTERM)
                    with pytest.raises((Draining, ServerUnreachable, DeadlinePassed)):
                        await under_way
            assert await ended == 0
        assert "Traceback" not in server.log()
        server.start()
        async with AsyncClient(server.target, timeout=WAIT) as client:
            resumed = await client.resume_run(run.run_id)
            seen = await resumed.observe(700, turn=1)
            assert seen.reminder is not None
            assert seen.reminder.kind == "handover"
        assert LedgerFile(server.data).runs() == {run.run_id: one_after_the_other(1)}


async def test_those_who_watch_its_health_do_not_keep_a_server_up() -> None:
    with running_server() as server:
        async with grpc.aio.insecure_channel(server.target) as channel:
            health: Any = health_pb2_grpc.HealthStub(channel)
            watch = health.Watch(health_pb2.HealthCheckRequest(service=SERVICES[1]))
            statuses = aiter(watch)
            assert (await anext(statuses)).status == SERVING
            ended = asyncio.create_task(asyncio.to_thread(server.end))
            assert (await anext(statuses)).status == NOT_SERVING
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await anext(statuses)
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
            assert await ended == 0


async def test_those_who_call_without_a_pause_while_a_server_goes_down_are_refused_and_not_cut_off() -> None:
    met = Counter[str]()
    gone = asyncio.Event()

    async def calls(target: str) -> None:
        options = [("grpc.use_local_subchannel_pool", 1)]
        async with grpc.aio.insecure_channel(target, options=options) as channel:
            rpcs: Any = RunServiceStub(channel)
            while not gone.is_set():
                try:
                    await rpcs.StartRun(StartRunRequest(run_id=new_run_id()), timeout=WAIT)
                    met["OK"] += 1
                except grpc.aio.AioRpcError as error:
                    met[error.code().name] += 1
                    await asyncio.sleep(0.01)

    with running_server() as server:
        for _ in range(3):
            gone.clear()
            async with asyncio.TaskGroup() as tasks:
                for _ in range(12):
                    tasks.create_task(calls(server.target))
                await asyncio.sleep(0.3)
                assert await asyncio.to_thread(server.end) == 0
                gone.set()
            server.start()
    assert met.keys() == {"OK", "UNAVAILABLE"}, met


@pytest.mark.parametrize("signals", [1, 2])
async def test_writes_whose_callers_are_gone_do_not_keep_a_server_up(signals: int) -> None:
    # Each takes a second or so, which is minutes for all of them.
    models = {f"model-{number}": number + 1 for number in range(2000)}
    with running_server() as server:
        async with grpc.aio.insecure_channel(server.target) as channel:
            rpcs: Any = BuildingServiceStub(channel)
            command = ConfigureBuilding(address="lab", models=models)
            await rpcs.ConfigureBuilding(ConfigureBuildingRequest(command=command), timeout=WAIT)
            calls = []
            for number in range(100):
                command = ConfigureBuilding(
                    address="lab", models={**models, f"model-{number % 50}": number + 5000}
                )
                calls.append(rpcs.ConfigureBuilding(ConfigureBuildingRequest(command=command), timeout=WAIT))
            await rpcs.GetBuilding(GetBuildingRequest(address="lab"), timeout=WAIT)
            for call in calls[signals - 1 :: signals]:
                call.cancel()
            ended = asyncio.create_task(asyncio.to_thread(server.end))
            if signals == 2:
                await asyncio.sleep(0.2)
                os.kill(server.pid, signal.SIGTERM)
            assert await ended == 0
            answers = await asyncio.gather(*calls, return_exceptions=True)
        refused = [answer.code() for answer in answers if isinstance(answer, grpc.aio.AioRpcError)]
        assert set(refused) <= {grpc.StatusCode.UNAVAILABLE}
        # Of those that nobody gave up, the greater part was never begun.
        assert len(refused) >= 30 * (signals - 1)
        assert "Traceback" not in server.log()
