"""One Converse stream for the calls of many tasks.

Rule: as in `conversation`, on one event loop. Nothing is written before the server has said that there is a
stream: what is written while one ends may hide what it ends with.
"""

import asyncio
import itertools
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import grpc

from .commands import GRACE, code_of, command, field_of, trailing_of
from .v1.wire_service_pb2 import Answer, ConverseRequest


class _Stream:
    """A stream that is open: what is sent on it, and who waits.

    Written to by a task of its own: a caller that gave up in the midst of it would end the stream for all.
    """

    def __init__(self, call: Any) -> None:
        self.call = call
        self.commands: asyncio.Queue[ConverseRequest] = asyncio.Queue()
        self.waiting: dict[int, asyncio.Future[Answer]] = {}
        self.writer = asyncio.ensure_future(self._write())

    async def _write(self) -> None:
        # What ends the stream is for its reader to tell.
        with suppress(grpc.aio.AioRpcError, grpc.aio.UsageError, asyncio.InvalidStateError):
            await self.call.initial_metadata()
            while True:
                await self.call.write(await self.commands.get())


class AsyncConversation:
    """The stream of one client, opened when it is needed.

    Attributes:
        there: whether the server has Converse, as far as is known.

    """

    def __init__(self, converse: Callable[[], Any]) -> None:
        self.there = True
        self._converse = converse
        self._ids = itertools.count(1)
        self._stream: _Stream | None = None
        self._reader: asyncio.Task[None] | None = None

    async def ask(self, request: Any, *, timeout: float | None = None) -> Any:  # noqa: ASYNC109  # the call's
        """The answer to a request that a command may ask. Raises grpc.aio.AioRpcError."""
        field = field_of(request)
        assert field is not None and timeout is not None  # noqa: S101, PT018  # as its caller sees to
        stream = self._stream
        if stream is None:
            stream = self._stream = _Stream(self._converse())
            self._reader = asyncio.ensure_future(self._read(stream))
        id = next(self._ids)
        answered = stream.waiting[id] = asyncio.get_running_loop().create_future()
        stream.commands.put_nowait(command(id, field, request, timeout))
        try:
            async with asyncio.timeout(timeout + GRACE):
                answer = await answered
        except TimeoutError:
            raise _failed(grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded") from None
        finally:
            del stream.waiting[id]
        if answer.HasField("failure"):
            failure = answer.failure
            raise _failed(code_of(failure), failure.message, trailing_of(failure))
        return getattr(answer, field)

    async def _read(self, stream: _Stream) -> None:
        ended = _failed(grpc.StatusCode.UNAVAILABLE, "the server ended the stream")
        try:
            async for response in stream.call:
                answered = stream.waiting.get(response.answer.id)
                if answered is not None and not answered.done():
                    answered.set_result(response.answer)
        except grpc.aio.AioRpcError as error:
            if not _hidden(error):
                ended = error
            self.there = error.code() is not grpc.StatusCode.UNIMPLEMENTED
        except asyncio.CancelledError:
            ended = _failed(grpc.StatusCode.CANCELLED, "the stream was closed")
        stream.writer.cancel()
        if self._stream is stream:
            self._stream = None
        for answered in stream.waiting.values():
            if not answered.done():
                answered.set_exception(ended)
                answered.exception()  # who waits for it hears of it; where nobody does any more, nobody need

    def close(self) -> None:
        """Ends the stream."""
        if self._stream is not None:
            self._stream.call.cancel()


def _hidden(error: grpc.aio.AioRpcError) -> bool:
    """Whether that is the library's own word: a write failed, and the server's, if any, is not known."""
    return error.code() is grpc.StatusCode.INTERNAL and "execute_batch" in str(error.debug_error_string())


def _failed(
    code: grpc.StatusCode, details: str, trailing: tuple[tuple[str, bytes], ...] = ()
) -> grpc.aio.AioRpcError:
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(*trailing), details)
