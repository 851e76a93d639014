"""Calls in flight, and what they cost: so many callers, each sending its next call when its last was answered."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from tests.bench.processes import Process


class Cost(NamedTuple):
    """What calls cost: the server's CPU in microseconds a call, and how many were answered a second."""

    cpu: float
    rate: float


async def measure(
    server: Process, calls: int, in_flight: int, call: Callable[[int, int], Awaitable[object]]
) -> Cost:
    """Makes about `calls` calls, `in_flight` at a time: `call(caller, number)` each, numbers from 0."""
    each = calls // in_flight

    async def caller(index: int) -> None:
        for number in range(each):
            await call(index, number)

    cpu, began = server.cpu_seconds(), time.perf_counter()
    await asyncio.gather(*(caller(index) for index in range(in_flight)))
    done = each * in_flight
    seconds = time.perf_counter() - began
    return Cost((server.cpu_seconds() - cpu) / done * 1e6, done / seconds)


def ratio_line(what: str, goal: str, over: list[Cost], under: list[Cost]) -> str:
    """The median of the pairs' CPU ratios, and the medians they came from."""
    ratios = [a.cpu / b.cpu for a, b in zip(over, under, strict=True)]
    a, b = (statistics.median(cost.cpu for cost in costs) for costs in (over, under))
    rate_a, rate_b = (statistics.median(cost.rate for cost in costs) for costs in (over, under))
    return (
        f"{what:<44} {statistics.median(ratios):5.2f} (goal {goal})  "
        f"CPU a call {a:4.0f} : {b:4.0f} us   calls a second {rate_a:5.0f} : {rate_b:5.0f}"
    )
