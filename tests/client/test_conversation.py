"""Clients whose calls share a stream: the same answers and errors, over restarts, from many threads and tasks."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

import ullage
from tests.servers import Server, owned_folder, running_server
from ullage.async_conversation import AsyncConversation
from ullage.v1 import run_pb2, run_service_pb2


@pytest.fixture
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


def test_every_call_of_a_run_goes_over_the_stream_and_is_answered_as_without(server: Server) -> None:
    told: dict[bool, list[object]] = {}
    for stream in (False, True):
        with ullage.Client(server.target, stream=stream) as client:
            name = f"run-{stream}"
            run = client.start_run(name, context_tokens=1000, agent="scout", time_budget=60)
            seen = [run.observe(used) for used in (310, 320, 700)]
            prepared = run.prepare([{"role": "user", "content": "go"}], time_remaining=50)
            cut = run.compact([{"role": "assistant", "content": "It is said again. " * 4000}])
            branch = run.fork(2, run_id=f"{name}-branch")
            building = client.configure_building(f"b-{stream}".lower(), context_second_threshold=70)
            told[stream] = [
                [(one.sounded, one.reading, one.reminder and one.reminder.text) for one in seen],
                [one.kind for one in prepared.insertions],
                cut.dropped_bytes,
                (branch.last_turn, branch.plan.context_tokens),
                [each.value for each in building.stated],
                client.get_building(f"b-{stream}".lower()).stated == building.stated,
                run.finish("done").state,
                client.get_run(name).outcome,
                len(list(client.list_runs())) > 0,
            ]
    assert told[True] == told[False]


@pytest.mark.parametrize("stream", [False, True])
def test_an_error_is_the_same_with_all_that_it_says(server: Server, stream: bool) -> None:
    with ullage.Client(server.target, stream=stream) as client:
        run = client.start_run(f"e-{stream}")
        run.observe(5)
        with pytest.raises(ullage.TurnAlreadyRecorded) as taken:
            run.observe(6, turn=1)
        assert (taken.value.code, taken.value.action) == (
            grpc.StatusCode.ALREADY_EXISTS,
            "observing a turn's usage",
        )
        assert "get_run" in taken.value.recovery
        with pytest.raises(ullage.ThresholdOutOfDomain) as wide:
            client.start_run(second_threshold=99)
        assert [field for field, _ in wide.value.field_violations] == ["plan.second_threshold"]
        assert str(wide.value).startswith("starting a run: ")


def test_a_stream_that_breaks_is_opened_anew_and_what_was_unanswered_is_repeated(server: Server) -> None:
    with ullage.Client(server.target, stream=True) as client, ThreadPoolExecutor(8) as threads:
        runs = [client.start_run(context_tokens=1_000_000) for _ in range(8)]

        def many(run: ullage.Run) -> list[str | None]:
            heard = [run.observe(turn * 20_000).reminder for turn in range(1, 41)]
            return [one.id for one in heard if one]

        told = [threads.submit(many, run) for run in runs]
        for _ in range(3):
            server.kill()
            server.start()
        assert [one.result(60) for one in told] == [["15/context/first", "33/context/handover"]] * 8
        assert [run.last_turn for run in runs] == [40] * 8


async def test_the_same_from_many_tasks(server: Server) -> None:
    async with ullage.AsyncClient(server.target, stream=True) as client:
        runs = [await client.start_run(context_tokens=1_000_000) for _ in range(16)]

        async def many(run: ullage.AsyncRun) -> list[str | None]:
            heard = [(await run.observe(turn * 20_000)).reminder for turn in range(1, 41)]
            return [one.id for one in heard if one]

        told = [asyncio.ensure_future(many(run)) for run in runs]
        for _ in range(3):
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
        assert await asyncio.gather(*told) == [["15/context/first", "33/context/handover"]] * 16
        with pytest.raises(ullage.RunNotFound):
            await client.get_run("nobody")


async def test_a_task_that_gives_up_leaves_the_stream_to_the_others(server: Server) -> None:
    async with ullage.AsyncClient(server.target, stream=True) as client:
        await client.start_run("a")
        for _ in range(20):
            task = asyncio.ensure_future(client.get_run("a"))
            await asyncio.sleep(0)
            task.cancel()
        assert (await client.get_run("a")).run_id == "a"


def test_no_answer_in_time_is_a_deadline(server: Server) -> None:
    never = (ullage.DeadlinePassed, ullage.ServerUnreachable)
    with ullage.Client(server.target, stream=True, timeout=1e-6) as client, pytest.raises(never):
        client.get_run("a")
    server.kill()
    with ullage.Client(server.target, stream=True, timeout=0.3) as client, pytest.raises(ullage.ServerUnreachable):
        client.get_run("a")


def test_after_its_end_a_client_says_so(server: Server) -> None:
    client = ullage.Client(server.target, stream=True)
    client.start_run("a")
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.get_run("a")


async def test_a_write_that_fails_is_a_stream_that_broke_and_not_the_servers_word() -> None:
    class Broken:
        async def initial_metadata(self) -> None:
            pass

        async def write(self, command: object) -> None:
            raise self.end

        end = grpc.aio.AioRpcError(
            grpc.StatusCode.INTERNAL,
            grpc.aio.Metadata(),
            grpc.aio.Metadata(),
            "Internal error from Core",
            'Failed "execute_batch": (...)',
        )

        def __aiter__(self) -> "Broken":
            return self

        async def __anext__(self) -> object:
            await asyncio.sleep(0)
            raise self.end

    conversation = AsyncConversation(Broken)
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await conversation.ask(run_service_pb2.GetRunRequest(run_id="a"), timeout=5)
    assert failed.value.code() is grpc.StatusCode.UNAVAILABLE
    assert conversation.there


async def test_a_server_without_the_stream_is_called_without() -> None:
    def get_run(request: run_service_pb2.GetRunRequest, context: Any) -> run_service_pb2.GetRunResponse:
        return run_service_pb2.GetRunResponse(run=run_pb2.Run(run_id=request.run_id))

    older = grpc.server(ThreadPoolExecutor(2))
    handler = grpc.unary_unary_rpc_method_handler(
        get_run, run_service_pb2.GetRunRequest.FromString, run_service_pb2.GetRunResponse.SerializeToString
    )
    only = {"GetRun": handler}
    older.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("ullage.v1.RunService", only),))
    with owned_folder() as folder:
        older.add_insecure_port(f"unix:{folder}/u.sock")
        older.start()
        with ullage.Client(f"unix:{folder}/u.sock", stream=True) as client:
            assert [client.get_run(name).run_id for name in ("a", "b")] == ["a", "b"]
        async with ullage.AsyncClient(f"unix:{folder}/u.sock", stream=True) as other:
            assert [(await other.get_run(name)).run_id for name in ("a", "b")] == ["a", "b"]
        older.stop(None).wait()
