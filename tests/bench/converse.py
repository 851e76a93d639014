"""ObserveUsage over Converse beside an empty message on an open stream and beside calls, in one run: ratios.

    python -m tests.bench.converse [--calls N] [--rounds N]

Goals, at 16 in flight: a durable ObserveUsage over one stream at most 1.5 times the CPU of an empty message on an
open stream of the same stack, and at least twice as many a second as by calls of their own; 1,000 streams that
are open and idle take at most 40 MiB.
"""

import argparse
import asyncio
import itertools
import tempfile
from pathlib import Path

import grpc
import uvloop

from tests.bench.empty_server import CONVERSE
from tests.bench.load import measure, ratio_line
from tests.bench.observe import IN_FLIGHT, PLAN, WARM_UP, Runs
from tests.bench.processes import Process, process
from ullage.v1.run_service_pb2 import ObserveUsageRequest
from ullage.v1.usage_pb2 import ModelUsage, TurnReport
from ullage.v1.wire_service_pb2 import Command, ConverseRequest, ConverseResponse

IDLE_STREAMS = 1000


class Stream:
    """An open stream: what is sent on it, and who waits for an answer."""

    def __init__(self, server: Process) -> None:
        self._call: grpc.aio.StreamStreamCall[bytes, bytes] = server.channel.stream_stream(CONVERSE)()
        self._writing = asyncio.Lock()
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._reader = asyncio.ensure_future(self._read())

    async def ask(self, caller: int, frame: bytes) -> bytes:
        """Sends a frame of that caller's, who has no other on its way, and gives the answer."""
        answer = self._waiting[caller] = asyncio.get_running_loop().create_future()
        async with self._writing:
            await self._call.write(frame)
        return await answer

    async def _read(self) -> None:
        while isinstance(frame := await self._call.read(), bytes):
            # An empty answer is to whoever has waited longest.
            id = ConverseResponse.FromString(frame).answer.id if frame else next(iter(self._waiting))
            self._waiting.pop(id).set_result(frame)

    async def close(self) -> None:
        self._reader.cancel()
        self._call.cancel()


async def bench(calls: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="ullage-bench-") as folder:
        socket, empty_socket = Path(folder, "u.sock"), Path(folder, "e.sock")
        ours = ("ullage_server", "serve", "--listen", f"unix:{socket}", "--data", f"{folder}/data")
        async with (
            process(empty_socket, "tests.bench.empty_server", "stream", f"unix:{empty_socket}") as empty,
            process(socket, *ours) as server,
        ):
            runs = Runs(server)
            names = await runs.start(IN_FLIGHT, "run", PLAN)
            streamed = await runs.start(IN_FLIGHT, "streamed", PLAN)
            turns = [itertools.count(1) for _ in streamed]
            nothing, stream = Stream(empty), Stream(server)

            async def idle(caller: int, number: int) -> None:
                await nothing.ask(caller, b"")

            async def called(caller: int, number: int) -> None:
                await runs.turn(names[caller])

            async def conversed(caller: int, number: int) -> None:
                report = TurnReport(turn=next(turns[caller]), usage=ModelUsage(input_tokens=1000))
                asked = ObserveUsageRequest(run_id=streamed[caller], report=report)
                command = Command(id=caller, observe_usage=asked)
                frame = await stream.ask(caller, ConverseRequest(command=command).SerializeToString())
                if not ConverseResponse.FromString(frame).answer.HasField("observe_usage"):
                    raise AssertionError(f"{streamed[caller]} was answered with {frame!r}")

            kinds = ((empty, idle), (server, called), (server, conversed))
            for each, call in kinds:
                await measure(each, WARM_UP, IN_FLIGHT, call)
            empties, unaries, conversations = [
                list(costs)
                for costs in zip(
                    *[
                        [await measure(each, calls, IN_FLIGHT, call) for each, call in kinds]
                        for _ in range(rounds)
                    ],
                    strict=True,
                )
            ]
            print(ratio_line("ObserveUsage to an empty message of a stream", "<= 1.5", conversations, empties))
            print(ratio_line("the same to calls; calls a second", ">= 2.0", conversations, unaries))
            before = server.resident_bytes()
            idlers = [Stream(server) for _ in range(IDLE_STREAMS)]
            for number, idler in enumerate(idlers):
                await idler.ask(number, ConverseRequest(command=Command(id=number)).SerializeToString())
            grown = (server.resident_bytes() - before) / 2**20
            print(f"{f'{IDLE_STREAMS} open and idle streams':<44} {grown:5.1f} MiB (goal <= 40)")
            for each_stream in (nothing, stream, *idlers):
                await each_stream.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=480, help="calls a measurement")
    parser.add_argument("--rounds", type=int, default=40, help="measurements of each kind, in turns")
    args = parser.parse_args()
    uvloop.run(bench(args.calls, args.rounds))
