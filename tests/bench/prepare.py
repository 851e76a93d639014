"""PrepareCall beside an empty call on the same stack, in one run: ratios, not times.

    python -m tests.bench.prepare [--calls N] [--rounds N]

Goals: at 16 in flight at most 1.15 times the CPU of the empty call where there is nothing to say, and at most 1.6
times with 20 candidates, which all fire: their block is durably recorded before it is answered.
"""

import argparse
import itertools
import tempfile
from pathlib import Path

import uvloop

from tests.bench.empty_server import METHOD
from tests.bench.load import measure, ratio_line
from tests.bench.observe import IN_FLIGHT, PLAN, WARM_UP, Call, Runs
from tests.bench.processes import process
from ullage.v1.insertion_pb2 import (
    EDGE_EVERY_CALL,
    LIFETIME_TRANSIENT,
    TAIL_ROLE_TOOL_RESULT,
    TAIL_ROLE_USER,
    Candidate,
    Tail,
)
from ullage.v1.run_service_pb2 import PrepareCallRequest

PREPARE = "/ullage.v1.RunService/PrepareCall"

_USER = Tail(role=TAIL_ROLE_USER, history_has_model_output=True)
_TOOL = Tail(role=TAIL_ROLE_TOOL_RESULT, history_has_model_output=True)
_CANDIDATES = [
    Candidate(
        id=f"reminder-{n}",
        label="harbour",
        edge=EDGE_EVERY_CALL,
        lifetime=LIFETIME_TRANSIENT,
        priority=n,
        text="The lamps are lit until the last boat is tied; look twice before you sail.",
    )
    for n in range(20)
]
#: Each call's candidates, written once, so that the caller is not what is waited for.
_REMINDERS = PrepareCallRequest(candidates=_CANDIDATES).SerializeToString()


async def bench(calls: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="ullage-bench-") as folder:
        socket, empty_socket = Path(folder, "u.sock"), Path(folder, "e.sock")
        ours = ("ullage_server", "serve", "--listen", f"unix:{socket}", "--data", f"{folder}/data")
        async with (
            process(empty_socket, "tests.bench.empty_server", "ours", f"unix:{empty_socket}") as empty,
            process(socket, *ours) as server,
        ):
            nothing: Call = empty.channel.unary_unary(METHOD)
            prepare: Call = server.channel.unary_unary(PREPARE)
            names = await Runs(server).start(IN_FLIGHT, "run", PLAN)
            loud = [itertools.count(1) for _ in names]

            async def idle(caller: int, number: int) -> None:
                await nothing(b"")

            quiet = [
                PrepareCallRequest(run_id=name, turn=2**31 - 1, step=2, tail=_TOOL).SerializeToString()
                for name in names
            ]

            async def silent(caller: int, number: int) -> None:
                if await prepare(quiet[caller]):
                    raise AssertionError("something was said")

            async def speaking(caller: int, number: int) -> None:
                turn = next(loud[caller])
                asked = PrepareCallRequest(run_id=names[caller], turn=turn, step=1, tail=_USER)
                answer = await prepare(_REMINDERS + asked.SerializeToString())
                if answer.count(b"</reminder>") != len(_CANDIDATES):
                    raise AssertionError(f"{names[caller]} turn {turn} was answered with {answer!r}")

            await measure(empty, WARM_UP, IN_FLIGHT, idle)
            await measure(server, WARM_UP, IN_FLIGHT, silent)
            await measure(server, WARM_UP, IN_FLIGHT, speaking)
            empties, silents, speakings = [], [], []
            for _ in range(rounds):
                silents.append(await measure(server, calls, IN_FLIGHT, silent))
                empties.append(await measure(empty, calls, IN_FLIGHT, idle))
                speakings.append(await measure(server, calls, IN_FLIGHT, speaking))
            print(ratio_line("PrepareCall with nothing to say to an empty one", "<= 1.15", silents, empties))
            print(ratio_line("PrepareCall with 20 candidates to an empty one", "<= 1.6", speakings, empties))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=480, help="calls a measurement")
    parser.add_argument("--rounds", type=int, default=40, help="measurements of each kind, in turns")
    args = parser.parse_args()
    uvloop.run(bench(args.calls, args.rounds))
