"""Converse: the unary RPCs over one stream, each by the function that answers a call of its own.

Rule (wire.md, WireService): commands about one run are carried out and answered in their order, and no run waits
for another. What a command fails with is its own answer, and the stream goes on. With 256 commands in work, or as
many bytes as the largest may have, no more is read until an answer has left. A frame that does not parse ends the
stream, after what was taken is answered; so does the drain of the server. That there is a stream is said at once,
by its initial metadata: a client may wait for that before it sends.
"""

import asyncio
import uuid
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import NamedTuple, cast

import grpc
from google.protobuf.message import Message

from ullage.v1.wire_service_pb2 import Answer, Command, ConverseRequest, ConverseResponse

from ..convert.raw import NotUtf8, raw
from ..convert.times import from_duration
from ..core.errors import Reason, Refusal, invalid
from .interceptors import Context
from .interceptors.admission import Admission
from .interceptors.errors import Errors
from .methods import METHODS, Method
from .parsing import MAX_EXCHANGE_BYTES, Unparsable, parsed
from .server import StreamAnswer, UnaryAnswer
from .status import failure_of

#: How many commands of a stream are in work when no more is read, and how many bytes they had.
MAX_COMMANDS, MAX_BYTES = 256, MAX_EXCHANGE_BYTES

_ANSWER, _RESPONSE = raw(Answer), raw(ConverseResponse)
_BY_NAME = {method.name: method for method in METHODS}
_CONVERSE = _BY_NAME["Converse"]
#: The RPC that each field of a command asks for.
_ASKED: dict[str, Method] = {
    field.name: _BY_NAME[field.camelcase_name[0].upper() + field.camelcase_name[1:]]
    for field in Command.DESCRIPTOR.oneofs_by_name["request"].fields
}
#: The fields in which a command's request says what it is about, by its own field.
_ABOUT = {
    field: [
        name for name in ("run_id", "parent_run_id", "address") if name in method.request.DESCRIPTOR.fields_by_name
    ]
    for field, method in _ASKED.items()
}


class Conversations:
    """Answers commands with `handlers`, those of the RPCs by name."""

    def __init__(
        self, handlers: Mapping[str, UnaryAnswer | StreamAnswer], errors: Errors, admission: Admission
    ) -> None:
        self._handlers = handlers
        self._errors = errors
        self._admission = admission

    async def converse(self, requests: AsyncIterator[bytes], context: Context) -> None:
        """Carries out the commands of one stream."""
        conversation = _Conversation(self._handlers, self._errors, context)
        await context.send_initial_metadata(())
        with self._admission.at_drain(conversation.drain):
            await conversation.hold(requests)


class _Taken(NamedTuple):
    """A command that was taken: the RPC it asks for, in which field, and its request, or why that is none.

    `about` are the runs or the address that it is about, `size` the bytes it had, `seconds` the time it may take.
    """

    id: int
    method: Method
    field: str
    request: Message | Refusal
    about: tuple[str, ...] = ()
    size: int = 0
    seconds: float | None = None


class _Conversation:
    """One stream: its commands in work, and its answers on their way."""

    def __init__(
        self, handlers: Mapping[str, UnaryAnswer | StreamAnswer], errors: Errors, context: Context
    ) -> None:
        self._handlers = handlers
        self._errors = errors
        self._context = context
        #: Of the commands whose answer has not left: how many there are, and the bytes they had.
        self._count = self._bytes = 0
        self._left = asyncio.Event()
        self._work: set[asyncio.Task[None]] = set()
        #: The last command in work about each run or address.
        self._last: dict[str, asyncio.Task[None]] = {}
        #: Answers on their way, each with the bytes of its command, and what is writing them.
        self._ready: deque[tuple[ConverseResponse | None, int]] = deque()
        self._writer: asyncio.Task[None] | None = None
        self._reader: asyncio.Task[None] | None = None
        self._end: Exception | None = None

    async def hold(self, requests: AsyncIterator[bytes]) -> None:
        """Takes commands until no more come and all are answered; raises what else ends the stream."""
        self._reader = asyncio.ensure_future(self._read(requests))
        try:
            await asyncio.wait([self._reader])
            while self._count:
                await self._one_left()
        finally:
            for task in (self._reader, self._writer, *self._work):
                if task is not None:
                    task.cancel()
        end, self._end, self._reader = self._end, None, None
        if end is not None:
            try:
                raise end
            finally:
                del end  # it holds this frame: together they would stay until the collector of cycles comes

    def drain(self) -> None:
        """Takes no more commands."""
        self._end_with(
            Refusal(
                Reason.DRAINING,
                "the server is going down and takes no more commands; those it took are answered",
                subject="a stream of commands",
                recovery="send what was not answered again; the next server takes it",
            )
        )

    def _end_with(self, refusal: Refusal | None) -> None:
        """Takes no more commands; `refusal` is what the stream ends with, None where nobody would hear it."""
        self._end = self._end or refusal
        if self._reader is not None:
            self._reader.cancel()

    async def _read(self, requests: AsyncIterator[bytes]) -> None:
        try:
            async for request in requests:
                self._take(cast("ConverseRequest", parsed(_CONVERSE, request)).command)
                while self._count >= MAX_COMMANDS or self._bytes >= MAX_BYTES:
                    await self._one_left()
        except Exception as error:  # whatever it is, what was taken is answered first
            self._end = self._end or error

    async def _one_left(self) -> None:
        self._left.clear()
        await self._left.wait()

    def _take(self, command: Command) -> None:
        """Sets a command to work. Raises Unparsable."""
        taken = _taken(command)
        self._count, self._bytes = self._count + 1, self._bytes + taken.size
        before = [self._last[name] for name in taken.about if name in self._last]
        task = asyncio.get_running_loop().create_task(self._carry_out(taken, before))
        self._work.add(task)
        for name in taken.about:
            self._last[name] = task

    async def _carry_out(self, taken: _Taken, before: Sequence[asyncio.Task[None]]) -> None:
        """Answers a command, when those before it about the same are answered."""
        if before:
            await asyncio.wait(before)
        try:
            answer = _answer(taken.id, taken.field, await self._response(taken))
        except NotUtf8:
            answer = None
            self._end_with(Unparsable(taken.method))
        except Exception as error:  # whatever it is, the caller gets an answer and the log gets the cause
            refusal = self._errors.refusal(error, taken.method, str(uuid.uuid4()))
            answer = _answer(taken.id, "failure", failure_of(refusal, taken.method.action))
        self._ready.append((answer, taken.size))
        # A task of its own, for the next command about the same need not wait until it is through.
        if self._writer is None:
            self._writer = asyncio.get_running_loop().create_task(self._write())
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._work.discard(task)
        for name in taken.about:
            if self._last.get(name) is task:
                del self._last[name]

    async def _response(self, taken: _Taken) -> Message:
        if isinstance(taken.request, Refusal):
            raise taken.request
        # None of those that a command may ask streams.
        answer = cast("UnaryAnswer", self._handlers[taken.method.name])(taken.request)
        if taken.seconds is None:
            return await answer
        try:
            async with asyncio.timeout(taken.seconds) as limit:
                return await answer
        except TimeoutError:
            if not limit.expired():
                raise
        raise Refusal(
            Reason.DEADLINE_PASSED,
            f"the command took longer than its timeout, {taken.seconds} s; it may be recorded or not",
            subject=f"a request of {taken.method.name}",
            recovery="send it again, it is safe; give it more time",
        )

    async def _write(self) -> None:
        """Writes the answers that are there, and those that come meanwhile."""
        while self._ready:
            answer, size = self._ready.popleft()
            if answer is not None:
                try:
                    await self._context.write(answer.SerializeToString())
                except grpc.aio.BaseError:  # the caller is gone
                    self._end_with(None)
            self._count, self._bytes = self._count - 1, self._bytes - size
            self._left.set()
        self._writer = None


def _taken(command: Command) -> _Taken:
    """What a command asks. Raises Unparsable."""
    field = command.WhichOneof("request")
    method = _CONVERSE if field is None else _ASKED[field]
    try:
        if field is None:
            raise invalid("command", "the command asks nothing that this server knows: it holds one request")
        seconds = _seconds(command)
        enclosed = getattr(command, field)
        request = parsed(method, enclosed)
    except Unparsable:
        raise
    except Refusal as refusal:
        return _Taken(command.id, method, "", refusal)
    about = tuple([getattr(request, name) for name in _ABOUT[field]])
    return _Taken(command.id, method, field, request, about, len(enclosed), seconds)


def _seconds(command: Command) -> float | None:
    if not command.HasField("timeout"):
        return None
    nanoseconds = from_duration("command.timeout", command.timeout)
    if nanoseconds <= 0:
        raise invalid("command.timeout", "command.timeout is not more than 0; leave it out for no limit")
    return nanoseconds / 1e9


def _answer(id: int, field: str, response: Message) -> ConverseResponse:
    enclosed = {field: response.SerializeToString()}
    return _RESPONSE(answer=_ANSWER(id=id, **enclosed))  # type: ignore[arg-type]  # raw
