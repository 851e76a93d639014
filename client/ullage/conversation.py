"""One Converse stream for the calls of many threads.

Rule: a command is answered under its id, whichever thread waits for it. Where the stream breaks, each call that
waits fails as a call of its own would, and is sent again by the same rule (see `retries`) on the next stream. A
server that does not have the RPC is told by `there`, and from then on called without.
"""

import itertools
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoAnswer
from typing import Any

import grpc

from .commands import GRACE, code_of, command, field_of, trailing_of
from .v1.wire_service_pb2 import Answer, ConverseRequest, ConverseResponse


class CommandFailed(grpc.RpcError):
    """What a command failed with, as a call that failed tells it."""

    def __init__(self, code: grpc.StatusCode, details: str, trailing: tuple[tuple[str, bytes], ...] = ()) -> None:
        super().__init__(details)
        self._code, self._details, self._trailing = code, details, trailing

    def code(self) -> grpc.StatusCode:
        """The code of its status."""
        return self._code

    def details(self) -> str:
        """What its status says."""
        return self._details

    def trailing_metadata(self) -> Any:
        """What came with its status."""
        return self._trailing


class _Stream:
    """A stream that is open: what is sent on it, and who waits."""

    def __init__(self, converse: Callable[[Iterator[ConverseRequest]], Any]) -> None:
        self.commands: queue.SimpleQueue[ConverseRequest | None] = queue.SimpleQueue()
        self.waiting: dict[int, Future[Answer]] = {}
        self.call = converse(iter(self.commands.get, None))


class Conversation:
    """The stream of one client, opened when it is needed.

    Attributes:
        there: whether the server has Converse, as far as is known.

    """

    def __init__(self, converse: Callable[[Iterator[ConverseRequest]], Any]) -> None:
        self.there = True
        self._converse = converse
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._stream: _Stream | None = None

    def ask(self, request: Any, *, timeout: float | None = None) -> Any:
        """The answer to a request that a command may ask. Raises grpc.RpcError."""
        field = field_of(request)
        assert field is not None and timeout is not None  # noqa: S101, PT018  # as its caller sees to
        answered: Future[Answer] = Future()
        with self._lock:
            id = next(self._ids)
            stream = self._stream
            if stream is None:
                stream = self._stream = _Stream(self._converse)
                threading.Thread(target=self._read, args=(stream,), name="ullage-converse", daemon=True).start()
            stream.waiting[id] = answered
            stream.commands.put(command(id, field, request, timeout))
        try:
            answer = answered.result(timeout + GRACE)
        except NoAnswer:
            raise CommandFailed(grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded") from None
        finally:
            stream.waiting.pop(id, None)
        if answer.HasField("failure"):
            failure = answer.failure
            raise CommandFailed(code_of(failure), failure.message, trailing_of(failure))
        return getattr(answer, field)

    def _read(self, stream: _Stream) -> None:
        ended: grpc.RpcError = CommandFailed(grpc.StatusCode.UNAVAILABLE, "the server ended the stream")
        try:
            response: ConverseResponse
            for response in stream.call:
                if answered := stream.waiting.get(response.answer.id):
                    answered.set_result(response.answer)
        except grpc.RpcError as error:
            ended = error
            if stream.call.code() is grpc.StatusCode.UNIMPLEMENTED:
                self.there = False
        with self._lock:
            if self._stream is stream:
                self._stream = None
            stream.commands.put(None)
            for answered in list(stream.waiting.values()):
                if not answered.done():
                    answered.set_exception(ended)

    def close(self) -> None:
        """Ends the stream."""
        with self._lock:
            stream = self._stream
        if stream is not None:
            stream.call.cancel()
