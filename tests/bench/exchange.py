"""CompactExchange beside an echo of the same bytes on the same stack, in one run: ratios, not times.

    python -m tests.bench.exchange [--rounds N]

Goals, for ASCII and for mixed text from 32 KiB to 4 MiB: with `edits_only` at most 1.5 times the echo's CPU; its
own work, which is what it costs beyond a call that is parsed and answered with nothing, at most a quarter of the
echo. And while 4 MiB exchanges keep coming, the p99 of another run's ObserveUsage is at most twice what it is
alone.
"""

import argparse
import asyncio
import itertools
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import uvloop

from tests.bench.empty_server import COMPACT
from tests.bench.exchanges import exchange
from tests.bench.load import Cost, measure, ratio_line
from tests.bench.observe import Call, Runs
from tests.bench.processes import Process, process
from ullage.v1.plan_pb2 import RunPlan
from ullage.v1.run_service_pb2 import CompactExchangeRequest, CompactExchangeResponse

KIB = 1 << 10
IN_FLIGHT = 4
#: Within all that is measured there is something to be cut.
BUDGET = 16 * KIB
#: Calls a slice, by the size of their exchanges: a slice is some tens of milliseconds.
CALLS = {32 * KIB: 40, 256 * KIB: 16, 1024 * KIB: 8, 4096 * KIB: 4}
#: How many observations a slice of the latencies has.
OBSERVED = 1000


def requests(run_id: str, size: int, *, mixed: bool, seed: int) -> Iterator[bytes]:
    """A run's calls, turn after turn; the turn stands behind the exchange, so that it costs little."""
    large = CompactExchangeRequest(
        run_id=run_id, exchange=exchange(size, mixed=mixed, seed=seed), edits_only=True
    ).SerializeToString()
    for turn in itertools.count(1):
        yield large + CompactExchangeRequest(turn=turn).SerializeToString()


def own_work_line(what: str, goal: float, ours: list[Cost], parsed: list[Cost], echoed: list[Cost]) -> str:
    shares = [(a.cpu - b.cpu) / c.cpu for a, b, c in zip(ours, parsed, echoed, strict=True)]
    cost = statistics.median(a.cpu - b.cpu for a, b in zip(ours, parsed, strict=True))
    return f"{what:<44} {statistics.median(shares):5.2f} (goal <= {goal})  CPU a call {cost:6.0f} us"


async def costs(server: Process, echo: Process, parse: Process, rounds: int) -> None:
    """CompactExchange at each size, for each kind of text."""
    runs = Runs(server)
    call: dict[Process, Call] = {each: each.channel.unary_unary(COMPACT) for each in (server, echo, parse)}
    for (size, calls), mixed in itertools.product(CALLS.items(), (False, True)):
        names = await runs.start(IN_FLIGHT, f"{size}-{mixed}", RunPlan(exchange_budget_bytes=BUDGET))
        turns = [requests(name, size, mixed=mixed, seed=seed) for seed, name in enumerate(names)]
        same = [next(of_run) for of_run in turns]

        async def echoed(caller: int, number: int, same: list[bytes] = same) -> None:
            await call[echo](same[caller])

        async def parsed(caller: int, number: int, same: list[bytes] = same) -> None:
            await call[parse](same[caller])

        async def compacted(caller: int, number: int, turns: list[Iterator[bytes]] = turns) -> None:
            answer = CompactExchangeResponse.FromString(await call[server](next(turns[caller])))
            if answer.replayed or not answer.edits:
                raise AssertionError("an exchange was not cut")

        echoes: list[Cost] = []
        parses: list[Cost] = []
        ours: list[Cost] = []
        for number in range(rounds + 1):
            measured = [
                await measure(echo, calls, IN_FLIGHT, echoed),
                await measure(parse, calls, IN_FLIGHT, parsed),
                await measure(server, calls, IN_FLIGHT, compacted),
            ]
            if number:  # the first one warms up
                for into, cost in zip((echoes, parses, ours), measured, strict=True):
                    into.append(cost)
        what = f"{size // KIB} KiB, {'mixed' if mixed else 'ASCII'}"
        print(ratio_line(f"CompactExchange to an echo, {what}", "<= 1.50", ours, echoes))
        print(own_work_line(f"its own work to the echo, {what}", 0.25, ours, parses, echoes), flush=True)


async def latencies(server: Process, target: str, rounds: int) -> None:
    """ObserveUsage of one run, alone and while large exchanges of another run keep coming."""
    runs = Runs(server)
    (name,) = await runs.start(1, "alone", RunPlan(context_tokens=1_000_000))

    async def observed() -> list[float]:
        took = []
        for _ in range(OBSERVED):
            began = time.perf_counter()
            await runs.turn(name)
            took.append(time.perf_counter() - began)
        return took

    await observed()
    flood = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.bench.flood", target, str(4096 * KIB), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await asyncio.sleep(2)
        alone: list[float] = []
        beside: list[float] = []
        for _ in range(rounds):
            flood.send_signal(signal.SIGSTOP)
            await asyncio.sleep(0.2)
            alone += await observed()
            flood.send_signal(signal.SIGCONT)
            await asyncio.sleep(0.2)
            if flood.returncode is not None:
                raise AssertionError("the caller of large exchanges ended")
            beside += await observed()
    finally:
        if flood.returncode is None:
            flood.kill()
        await flood.wait()
    a, b = (statistics.quantiles(each, n=100)[98] for each in (beside, alone))
    print(
        f"{'p99 of ObserveUsage beside 4 MiB exchanges':<44} {a / b:5.2f} (goal <= 2)  "
        f"{a * 1e3:.2f} : {b * 1e3:.2f} ms"
    )


async def bench(rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="ullage-bench-") as folder:
        socket, echo_socket, parse_socket = (Path(folder, name) for name in ("u.sock", "e.sock", "p.sock"))
        yardstick = "tests.bench.empty_server"
        ours = ("ullage_server", "serve", "--listen", f"unix:{socket}", "--data", f"{folder}/data")
        async with (
            process(echo_socket, yardstick, "echo", f"unix:{echo_socket}") as echo,
            process(parse_socket, yardstick, "parse", f"unix:{parse_socket}") as parse,
            process(socket, *ours) as server,
        ):
            await costs(server, echo, parse, rounds)
            await latencies(server, f"unix:{socket}", rounds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20, help="measurements of each kind, in turns")
    uvloop.run(bench(parser.parse_args().rounds))
