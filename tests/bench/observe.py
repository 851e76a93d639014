"""A durable ObserveUsage beside an empty call on the same stack, in one run: ratios, not times.

    python -m tests.bench.observe [--calls N] [--rounds N]

Goals: at 16 in flight at most 1.35 times the CPU of the empty call; the same at turn 1000 as at turn 10, and
with 100,000 runs as with 1,000; at most 1 KiB of memory a live run.
"""

import argparse
import asyncio
import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

import grpc
import uvloop

from tests.bench.empty_server import METHOD
from tests.bench.load import measure, ratio_line
from tests.bench.processes import Process, process
from ullage.v1.plan_pb2 import RunPlan
from ullage.v1.run_service_pb2 import ObserveUsageRequest, ObserveUsageResponse, StartRunRequest
from ullage.v1.usage_pb2 import ModelUsage, TurnReport

IN_FLIGHT = 16
#: Calls before the first that counts.
WARM_UP = 2000
#: A call on the wire's own bytes.
Call = grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]

START = "/ullage.v1.RunService/StartRun"
OBSERVE = "/ullage.v1.RunService/ObserveUsage"

PLAN = RunPlan(context_tokens=1_000_000, address="lab/alice", model="a-model")


def observe(run_id: str, turn: int) -> bytes:
    usage = ModelUsage(input_tokens=10_000 + turn, output_tokens=500, cache_read_input_tokens=9_000)
    return ObserveUsageRequest(run_id=run_id, report=TurnReport(turn=turn, usage=usage)).SerializeToString()


class Runs:
    """Runs on the server under measurement, and the next turn of each."""

    def __init__(self, server: Process) -> None:
        self._start: Call = server.channel.unary_unary(START)
        self._observe: Call = server.channel.unary_unary(OBSERVE)
        self._turns: dict[str, int] = {}

    async def start(self, count: int, prefix: str, plan: RunPlan = PLAN) -> list[str]:
        names = [f"{prefix}-{number:032d}" for number in range(count)]
        left: Iterator[str] = iter(names)

        async def starter() -> None:
            for name in left:
                await self._start(StartRunRequest(run_id=name, plan=plan).SerializeToString())

        await asyncio.gather(*(starter() for _ in range(256)))
        return names

    async def turn(self, name: str) -> None:
        turn = self._turns[name] = self._turns.get(name, 0) + 1
        answer = ObserveUsageResponse.FromString(await self._observe(observe(name, turn)))
        if answer.replayed or answer.reading.turn != turn:
            raise AssertionError(f"{name} turn {turn} was answered with {answer}")


async def bench(calls: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="ullage-bench-") as folder:
        socket, empty_socket, bare_socket = (Path(folder, name) for name in ("u.sock", "e.sock", "b.sock"))
        yardstick = "tests.bench.empty_server"
        ours = ("ullage_server", "serve", "--listen", f"unix:{socket}", "--data", f"{folder}/data")
        async with (
            process(empty_socket, yardstick, "ours", f"unix:{empty_socket}") as empty,
            process(bare_socket, yardstick, "bare", f"unix:{bare_socket}") as bare,
            process(socket, *ours) as server,
        ):
            nothing: dict[Process, Call] = {server: server.channel.unary_unary(METHOD) for server in (empty, bare)}
            runs = Runs(server)

            async def idle(caller: int, number: int) -> None:
                await nothing[empty](b"")

            async def idle_bare(caller: int, number: int) -> None:
                await nothing[bare](b"")

            few = await runs.start(IN_FLIGHT, "few")

            async def own(caller: int, number: int) -> None:
                await runs.turn(few[caller])

            await measure(empty, WARM_UP, IN_FLIGHT, idle)
            await measure(bare, WARM_UP, IN_FLIGHT, idle_bare)
            await measure(server, WARM_UP, IN_FLIGHT, own)
            empties, bares, observes = [], [], []
            for _ in range(rounds):
                bares.append(await measure(bare, calls, IN_FLIGHT, idle_bare))
                empties.append(await measure(empty, calls, IN_FLIGHT, idle))
                observes.append(await measure(server, calls, IN_FLIGHT, own))
            print(ratio_line("ObserveUsage to an empty call, 16 in flight", "<= 1.35", observes, empties))
            print(ratio_line("the same, to an empty call of bare grpc.aio", "none", observes, bares))

            early, late = [], []
            old = await runs.start(IN_FLIGHT, "old")
            for _ in range(1000):
                await asyncio.gather(*(runs.turn(name) for name in old))

            async def at_turn_1000(caller: int, number: int) -> None:
                await runs.turn(old[caller])

            for number in range(rounds):
                young = await runs.start(calls // 10, f"young{number}")
                dealt = itertools.cycle(young)

                async def at_turn_10(caller: int, number: int, dealt: Iterator[str] = dealt) -> None:
                    await runs.turn(next(dealt))

                early.append(await measure(server, calls, IN_FLIGHT, at_turn_10))
                late.append(await measure(server, calls, IN_FLIGHT, at_turn_1000))
            print(ratio_line("turn 1000 and on to turns 1 to 10", "about 1", late, early))

            thousand = itertools.cycle(await runs.start(1000, "k"))

            async def among_1000(caller: int, number: int) -> None:
                await runs.turn(next(thousand))

            await measure(server, WARM_UP, IN_FLIGHT, among_1000)
            before = server.resident_bytes()
            many = await runs.start(100_000, "m")
            grown = (server.resident_bytes() - before) / len(many)
            hundred_thousand = itertools.cycle(many[:: len(many) // 997])

            async def among_100000(caller: int, number: int) -> None:
                await runs.turn(next(hundred_thousand))

            some, crowd = [], []
            for _ in range(rounds):
                some.append(await measure(server, calls, IN_FLIGHT, among_1000))
                crowd.append(await measure(server, calls, IN_FLIGHT, among_100000))
            print(ratio_line("with 100,000 runs to with 1,000", "about 1", crowd, some))
            print(f"{'memory a live run, of 100,000':<44} {grown:5.0f} bytes (goal <= 1024)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--calls",
        type=int,
        default=480,
        help="calls a measurement: few, so that those compared stand close together",
    )
    parser.add_argument("--rounds", type=int, default=40, help="measurements of each kind, in turns")
    args = parser.parse_args()
    uvloop.run(bench(args.calls, args.rounds))
