"""What the insertions cost in tokens of o200k, as a real server gives them; counted in Node.

    python -m tests.bench.tokens

Goals: of a budget of 30 minutes and 40 requests evenly spaced, the last 15 s before the end, 7 reminders in at
most 90 tokens; of a session of 20 prompts, the blocks from the second on in at most 40 tokens each.
"""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import grpc

from tests.rpc.calls import Wire
from tests.rpc.good_requests import fresh
from tests.servers import running_server
from ullage.v1.insertion_pb2 import TAIL_ROLE_TOOL_RESULT, TAIL_ROLE_USER, Insertion, Tail
from ullage.v1.plan_pb2 import RunPlan
from ullage.v1.run_service_pb2 import (
    PrepareCallRequest,
    PrepareCallResponse,
    StartRunRequest,
    StartRunResponse,
)

NODE = Path(__file__).parent / "node"
MINUTES, REQUESTS, LAST_SECONDS, PROMPTS = 30, 40, 15, 20


def time_reminders(wire: Wire) -> list[Insertion]:
    """What a run of 30 minutes hears of its time."""
    run_id = _started(wire, time_budget={"seconds": MINUTES * 60})
    apart = (MINUTES * 60 - LAST_SECONDS) / (REQUESTS - 1)
    given: list[Insertion] = []
    for number in range(REQUESTS):
        left = round((MINUTES * 60 - number * apart) * 1e9)
        asked = PrepareCallRequest(run_id=run_id, turn=number + 1, step=number + 1)
        asked.tail.CopyFrom(Tail(role=TAIL_ROLE_TOOL_RESULT, history_has_model_output=True))
        asked.time_remaining.FromNanoseconds(left)
        given += _prepared(wire, asked)
    return given


def session_blocks(wire: Wire) -> list[Insertion]:
    """What stands before the prompts of a session."""
    run_id = _started(wire, agent="Weaver", session_id=fresh(), clock_zone="Asia/Shanghai")
    given: list[Insertion] = []
    for number in range(PROMPTS):
        asked = PrepareCallRequest(run_id=run_id, turn=number + 1, step=1)
        asked.tail.CopyFrom(Tail(role=TAIL_ROLE_USER, history_has_model_output=number > 0))
        given += _prepared(wire, asked)
    return given


def tokens(texts: Sequence[str]) -> list[int]:
    """How many tokens each of `texts` has."""
    with tempfile.TemporaryDirectory(prefix="ullage-bench-") as folder:
        for file in NODE.iterdir():
            shutil.copy(file, folder)
        install = [
            "npm",
            "install",
            "--silent",
            "--no-audit",
            "--no-fund",
            "--no-package-lock",
            "--ignore-scripts",
        ]
        subprocess.run(install, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        count = ["node", "count.mjs"]
        done = subprocess.run(
            count, cwd=folder, check=True, input=json.dumps(texts), capture_output=True, text=True
        )
    counted: list[int] = json.loads(done.stdout)
    return counted


def _started(wire: Wire, **plan: object) -> str:
    request = StartRunRequest(run_id=fresh(), plan=RunPlan(**plan))  # type: ignore[arg-type]  # by its fields
    return wire.ask("StartRun", request, StartRunResponse).run.run_id


def _prepared(wire: Wire, asked: PrepareCallRequest) -> list[Insertion]:
    return list(wire.ask("PrepareCall", asked, PrepareCallResponse).insertions)


def bench() -> None:
    with running_server() as server, grpc.insecure_channel(server.target) as channel:
        wire = Wire(channel)
        times, blocks = time_reminders(wire), session_blocks(wire)
    counted = tokens([one.text for one in (*times, *blocks)])
    of_times, of_blocks = counted[: len(times)], counted[len(times) + 1 :]
    print(f"reminders of {MINUTES} minutes in {REQUESTS} requests: {len(times)} (goal 7), {sum(of_times)} tokens")
    print(f"  the longest has {max(of_times)} (goal <= 12), all together {sum(of_times)} (goal <= 90)")
    print(f"session blocks at prompts 2 to {PROMPTS}: {max(of_blocks)} tokens at most (goal <= 40)")


if __name__ == "__main__":
    bench()
