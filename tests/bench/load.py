"""Calls in flight: so many callers, each sending its next call when its last one was answered."""

import asyncio
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
