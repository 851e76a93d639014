"""One call of the asynchronous client: a deadline, the attempts within it, and errors by their reason.

Rule: as in `calls`, on one event loop: a channel belongs to the loop of its first call. A task that is cancelled
stays so; a call that the server cancelled is another thing, and an error like any other.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import grpc

from .async_conversation import AsyncConversation
from .channels import channel_options
from .commands import field_of
from .errors import error_of
from .requests import Asked
from .retries import Attempts, checked_timeout, proves_a_server
from .streamed import Streamed
from .v1.building_service_pb2_grpc import BuildingServiceStub
from .v1.run_service_pb2 import ReplayExchangesRequest, ReplayExchangesResponse
from .v1.run_service_pb2_grpc import RunServiceStub
from .v1.wire_service_pb2_grpc import WireServiceStub

if TYPE_CHECKING:
    from .v1.building_service_pb2_grpc import BuildingServiceAsyncStub
    from .v1.run_service_pb2_grpc import RunServiceAsyncStub

_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")
_Event = TypeVar("_Event")
_Asked = TypeVar("_Asked", contravariant=True)
_Answered = TypeVar("_Answered", covariant=True)
_CLOSED = "this ullage.AsyncClient is closed; make a new one"


class AsyncRpc(Protocol[_Asked, _Answered]):
    """As `calls.Rpc`, awaited."""

    def __call__(self, request: _Asked, *, timeout: float | None = None) -> Awaitable[_Answered]:
        """Asks; `timeout` is in seconds."""
        ...


class AsyncStubs(NamedTuple):
    """The services over one channel."""

    runs: "RunServiceAsyncStub"
    buildings: "BuildingServiceAsyncStub"


class _Open(NamedTuple):
    channel: grpc.aio.Channel
    loop: asyncio.AbstractEventLoop
    services: AsyncStubs


def replay_exchanges(
    stub: "RunServiceAsyncStub",
) -> AsyncRpc[list[ReplayExchangesRequest], list[ReplayExchangesResponse]]:
    """ReplayExchanges as one call: all of a stream's requests, and all of its answers."""

    async def call(
        request: list[ReplayExchangesRequest],
        *,
        timeout: float | None = None,  # noqa: ASYNC109  # the call's deadline, which the server is told
    ) -> list[ReplayExchangesResponse]:
        return [answer async for answer in stub.ReplayExchanges(iter(request), timeout=timeout)]

    return call


def open_channel(target: str) -> grpc.aio.Channel:
    """A channel to `target`, in the clear, for the running event loop."""
    return grpc.aio.insecure_channel(target, options=channel_options(target))


class AsyncCalls:
    """The calls of one client, over one channel that is opened at the first. Shared freely among tasks."""

    def __init__(
        self,
        target: str,
        timeout: float,
        *,
        stream: bool = False,
        connect: Callable[[str], grpc.aio.Channel] = open_channel,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.target = target
        self.timeout = checked_timeout(timeout)
        self._connect = connect
        self._clock = clock
        self._sleep = sleep
        self._chance = chance
        self._open: _Open | None = None
        self._stream = stream
        self._conversation: AsyncConversation | None = None
        self._closed = False
        self._met = False

    @property
    def services(self) -> AsyncStubs:
        """The services; RuntimeError once closed, and on another event loop than before."""
        if self._closed:
            raise RuntimeError(_CLOSED)
        loop = asyncio.get_running_loop()
        if self._open is None:
            channel = self._connect(self.target)
            services = AsyncStubs(RunServiceStub(channel), BuildingServiceStub(channel))
            self._open = _Open(channel, loop, services)
            if self._stream:
                self._conversation = AsyncConversation(WireServiceStub(channel).Converse)
        if self._open.loop is not loop:
            raise RuntimeError("this ullage.AsyncClient belongs to another event loop; make one for each")
        return self._open.services

    async def __call__(
        self,
        rpc: AsyncRpc[_Request, _Answer],
        asked: Asked[_Request],
    ) -> _Answer:
        """The answer to what is asked; raises the UllageError that it ended with."""
        attempts = Attempts(self.timeout, self._clock())
        while True:
            way = self._way(rpc, asked)
            try:
                answer = await way(asked.request, timeout=attempts.left(self._clock()))
            except grpc.aio.AioRpcError as failure:
                if way is not rpc and self._way(rpc, asked) is rpc:
                    continue  # the server has no such stream
                await self._pause(attempts, failure, asked)
            except asyncio.CancelledError:
                self._refuse_if_closed()
                raise
            except grpc.aio.UsageError:
                raise RuntimeError(_CLOSED) from None
            else:
                self._met = True
                return answer

    def _way(self, rpc: AsyncRpc[_Request, _Answer], asked: Asked[_Request]) -> AsyncRpc[_Request, _Answer]:
        """As `Calls._way`."""
        conversation = self._conversation
        streams = conversation is not None and conversation.there and field_of(asked.request) is not None
        return conversation.ask if conversation is not None and streams else rpc

    async def stream(self, rpc: str, streamed: Streamed[_Event]) -> AsyncIterator[_Event]:
        """As `Calls.stream`."""
        attempts = None
        while True:
            stream = getattr(self.services.runs, rpc)(streamed.asked.request)
            try:
                async for answer in stream:
                    attempts, self._met = None, True
                    for event in streamed.heard(answer):
                        yield event
                return
            except grpc.aio.AioRpcError as failure:
                attempts = attempts or Attempts(self.timeout, self._clock())
                await self._pause(attempts, failure, streamed.asked)
            except asyncio.CancelledError:
                self._refuse_if_closed()
                raise
            finally:
                stream.cancel()

    async def _pause(self, attempts: Attempts, failure: grpc.aio.AioRpcError, asked: Asked[Any]) -> None:
        """Waits for the next attempt; raises the UllageError where there shall be none."""
        if self._closed and failure.code() is grpc.StatusCode.CANCELLED:
            raise RuntimeError(_CLOSED) from None
        error = error_of(
            failure.code(),
            failure.details(),
            failure.trailing_metadata(),
            action=asked.action,
            subject=asked.subject,
            target=self.target,
            timeout=self.timeout,
            met=self._met,
        )
        self._met = self._met or proves_a_server(error)
        pause = attempts.pause(error, self._clock(), self._chance(), met=self._met)
        if pause is None:
            raise error from failure
        await self._sleep(pause)

    def _refuse_if_closed(self) -> None:
        """A channel that is closed cancels its calls, which must not look as if the task were cancelled."""
        task = asyncio.current_task()
        if self._closed and not (task and task.cancelling()):
            raise RuntimeError(_CLOSED) from None

    async def close(self) -> None:
        """Ends the channel; a second time does nothing."""
        self._closed = True
        opened, self._open = self._open, None
        if opened is not None:
            if self._conversation is not None:
                self._conversation.close()
            await opened.channel.close()
