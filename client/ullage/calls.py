"""One call of the synchronous client: a deadline, the attempts within it, and errors by their reason.

Rule: no call without a deadline; what is sent again (see `retries`) is the same request each time. Nobody can
cancel a call that blocks its thread, so a cancelled one was ended by the server, or by the channel's close.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import grpc

from .channels import channel_options
from .commands import field_of
from .conversation import Conversation
from .errors import error_of
from .requests import Asked
from .retries import Attempts, checked_timeout, proves_a_server
from .streamed import Streamed
from .v1.building_service_pb2_grpc import BuildingServiceStub
from .v1.run_service_pb2 import ReplayExchangesRequest, ReplayExchangesResponse
from .v1.run_service_pb2_grpc import RunServiceStub
from .v1.wire_service_pb2_grpc import WireServiceStub

_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")
_Event = TypeVar("_Event")
_Asked = TypeVar("_Asked", contravariant=True)
_Answered = TypeVar("_Answered", covariant=True)
_CLOSED = "this ullage.Client is closed; make a new one"


class Rpc(Protocol[_Asked, _Answered]):
    """What takes a request, or all of a stream's, and gives the answer, or all of a stream's, or grpc.RpcError."""

    def __call__(self, request: _Asked, *, timeout: float | None = None) -> _Answered:
        """Asks; `timeout` is in seconds."""
        ...


class Stubs(NamedTuple):
    """The services over one channel."""

    runs: RunServiceStub
    buildings: BuildingServiceStub


def replay_exchanges(stub: RunServiceStub) -> Rpc[list[ReplayExchangesRequest], list[ReplayExchangesResponse]]:
    """ReplayExchanges as one call: all of a stream's requests, and all of its answers."""

    def call(request: list[ReplayExchangesRequest], timeout: float | None = None) -> list[ReplayExchangesResponse]:
        return list(stub.ReplayExchanges(iter(request), timeout=timeout))

    return call


def open_channel(target: str) -> grpc.Channel:
    """A channel to `target`, in the clear."""
    return grpc.insecure_channel(target, options=channel_options(target))


class Calls:
    """The calls of one client, over one channel that is opened at the first. Shared freely among threads."""

    def __init__(
        self,
        target: str,
        timeout: float,
        *,
        stream: bool = False,
        connect: Callable[[str], grpc.Channel] = open_channel,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.target = target
        self.timeout = checked_timeout(timeout)
        self._connect = connect
        self._clock = clock
        self._sleep = sleep
        self._chance = chance
        self._lock = threading.Lock()
        self._open: tuple[grpc.Channel, Stubs] | None = None
        self._stream = stream
        self._conversation: Conversation | None = None
        self._closed = False
        self._met = False

    @property
    def services(self) -> Stubs:
        """The services; RuntimeError once closed."""
        with self._lock:
            if self._closed:
                raise RuntimeError(_CLOSED)
            if self._open is None:
                channel = self._connect(self.target)
                self._open = channel, Stubs(RunServiceStub(channel), BuildingServiceStub(channel))
                if self._stream:
                    self._conversation = Conversation(WireServiceStub(channel).Converse)
            return self._open[1]

    def __call__(
        self,
        rpc: Rpc[_Request, _Answer],
        asked: Asked[_Request],
    ) -> _Answer:
        """The answer to what is asked; raises the UllageError that it ended with."""
        attempts = Attempts(self.timeout, self._clock())
        while True:
            way = self._way(rpc, asked)
            try:
                answer = way(asked.request, timeout=attempts.left(self._clock()))
            except grpc.RpcError as failure:
                if way is not rpc and self._way(rpc, asked) is rpc:
                    continue  # the server has no such stream
                self._pause(attempts, failure, asked)
            except ValueError:  # what gRPC says of a channel that was closed meanwhile
                if self._closed:
                    raise RuntimeError(_CLOSED) from None
                raise
            else:
                self._met = True
                return answer

    def _way(self, rpc: Rpc[_Request, _Answer], asked: Asked[_Request]) -> Rpc[_Request, _Answer]:
        """How a request is sent: over the stream where there is one that takes it, else as a call."""
        conversation = self._conversation
        streams = conversation is not None and conversation.there and field_of(asked.request) is not None
        return conversation.ask if conversation is not None and streams else rpc

    def stream(self, rpc: str, streamed: Streamed[_Event]) -> Iterator[_Event]:
        """What an RPC of RunService tells; raises the UllageError where no stream comes about in a call's time."""
        attempts = None
        while True:
            stream = getattr(self.services.runs, rpc)(streamed.asked.request)
            try:
                for answer in stream:
                    attempts, self._met = None, True
                    yield from streamed.heard(answer)
                return
            except grpc.RpcError as failure:
                attempts = attempts or Attempts(self.timeout, self._clock())
                self._pause(attempts, failure, streamed.asked)
            finally:
                stream.cancel()

    def _pause(self, attempts: Attempts, failure: grpc.RpcError, asked: Asked[Any]) -> None:
        """Waits for the next attempt; raises the UllageError where there shall be none."""
        call = cast(grpc.Call, failure)
        if self._closed and call.code() is grpc.StatusCode.CANCELLED:
            raise RuntimeError(_CLOSED) from None
        error = error_of(
            call.code(),
            call.details(),
            call.trailing_metadata(),
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
        self._sleep(pause)

    def close(self) -> None:
        """Ends the channel; a second time does nothing."""
        with self._lock:
            self._closed = True
            opened, self._open = self._open, None
        if opened is not None:
            if self._conversation is not None:
                self._conversation.close()
            opened[0].close()
