"""The ways to give a call up: its deadline passes, it is cancelled, its channel is closed. Each at a given moment.

Each makes the call and gives it up that many seconds later; it tells whether the answer had come before.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

import grpc

from ullage.v1.building_service_pb2_grpc import BuildingServiceStub
from ullage.v1.run_service_pb2_grpc import RunServiceStub

PATIENCE = 60.0


class Rpcs(NamedTuple):
    """Both services over one channel; the stubs are typed for synchronous channels alone."""

    runs: Any
    buildings: Any


class Callee(NamedTuple):
    """A server, one channel to it that stays open, and one to break."""

    target: str
    rpcs: Rpcs


#: What to call of `Rpcs`.
Rpc = Callable[[Rpcs], Any]

#: Makes a call and gives it up after that many seconds.
Way = Callable[[Callee, Rpc, object, float], Coroutine[Any, Any, bool]]


def rpcs(channel: grpc.aio.Channel) -> Rpcs:
    return Rpcs(RunServiceStub(channel), BuildingServiceStub(channel))


async def by_deadline(callee: Callee, rpc: Rpc, request: object, moment: float) -> bool:
    try:
        await rpc(callee.rpcs)(request, timeout=moment)
    except grpc.aio.AioRpcError as error:
        if error.code() is not grpc.StatusCode.DEADLINE_EXCEEDED:
            raise
        return False
    return True


async def by_cancelling(callee: Callee, rpc: Rpc, request: object, moment: float) -> bool:
    call = rpc(callee.rpcs)(request, timeout=PATIENCE)
    await asyncio.sleep(moment)
    return await _broken_off(call, call.cancel)


async def by_closing(callee: Callee, rpc: Rpc, request: object, moment: float) -> bool:
    async with grpc.aio.insecure_channel(callee.target) as channel:
        await channel.channel_ready()
        call = rpc(rpcs(channel))(request, timeout=PATIENCE)
        await asyncio.sleep(moment)
        closing = asyncio.create_task(channel.close())
        answered = await _broken_off(call, lambda: None)
        await closing
        return answered


async def _broken_off(call: Any, break_off: Callable[[], object]) -> bool:
    break_off()
    try:
        await call
    except asyncio.CancelledError:
        return False
    return True
