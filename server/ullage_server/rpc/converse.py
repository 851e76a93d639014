"""Converse: the unary RPCs over one stream, each by the function that answers a call of its own.

Rule (wire.md, WireService): commands about one run are carried out and answered in their order, and no run waits
for another. What a command fails with is its own answer, and the stream goes on. With 256 commands in work, or as
many bytes as the largest may have, no more is read until an answer has left. A frame that does not parse ends the
stream, after what was taken is answered; so does the drain of the server.
"""

import asyncio
import uuid
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple, cast

from google.protobuf.message import Message

from ullage.v1.wire_service_pb2 import Answer, Command, ConverseRequest, ConverseResponse

from ..convert.raw import NotUtf8, raw
from ..convert.times import from_duration
from ..core.errors import Reason, Refusal, invalid
from .interceptors.admission import Admission
from .interceptors.errors import Errors
from .interceptors.size import MAX_EXCHANGE_BYTES, check_size
from .methods import METHODS, Method
from .parsing import Unparsable, parsed
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
#: What a request is about, by the fields that say it.
_ABOUT = ("run_id", "parent_run_id", "address")


class Conversations:
    """Answers commands with `handlers`, those of the RPCs by name."""

    def __init__(
        self, handlers: Mapping[str, UnaryAnswer | StreamAnswer], errors: Errors, admission: Admission
    ) -> None:
        self._handlers = handlers
        self._errors = errors
        self._admission = admission

    async def converse(self, requests: AsyncIterator[ConverseRequest]) -> AsyncIterator[ConverseResponse]:
        """Carries out the commands of one stream."""
        conversation = _Conversation(requests, self._handlers, self._errors)
        with self._admission.at_drain(conversation.drain):
            async for answer in conversation.answers():
                yield answer


class _Taken(NamedTuple):
    """A command that was taken: the RPC it asks for, in which field, its request, and how many bytes that had."""

    id: int
    method: Method
    field: str
    request: Message
    size: int
    seconds: float | None


class _Conversation:
    """One stream: its commands in work, and its answers on their way."""

    def __init__(
        self,
        requests: AsyncIterator[ConverseRequest],
        handlers: Mapping[str, UnaryAnswer | StreamAnswer],
        errors: Errors,
    ) -> None:
        self._requests = requests
        self._handlers = handlers
        self._errors = errors
        #: Of the commands whose answer has not left: how many there are, and their bytes.
        self._count = self._bytes = 0
        #: Answers that are there, each with the bytes of its command; None where the stream's end is the answer.
        self._ready: deque[tuple[ConverseResponse | None, int]] = deque()
        self._work: set[asyncio.Task[None]] = set()
        #: The last command in work about each run or address.
        self._last: dict[str, asyncio.Task[None]] = {}
        self._answered, self._left = asyncio.Event(), asyncio.Event()
        self._end: Refusal | None = None
        self._reader = asyncio.ensure_future(self._read())
        self._reader.add_done_callback(lambda _: self._answered.set())

    async def answers(self) -> AsyncIterator[ConverseResponse]:
        """The answers, each when it is there, until the last; then what ends the stream is raised."""
        try:
            while self._count or not self._reader.done():
                await self._answered.wait()
                self._answered.clear()
                while self._ready:
                    answer, size = self._ready.popleft()
                    if answer is not None:
                        yield answer
                    self._count, self._bytes = self._count - 1, self._bytes - size
                    self._left.set()
            if self._end is not None:
                raise self._end
            self._reader.result()
        finally:
            for task in (self._reader, *self._work):
                task.cancel()

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

    def _end_with(self, refusal: Refusal) -> None:
        self._end = self._end or refusal
        self._reader.cancel()

    async def _read(self) -> None:
        async for request in self._requests:
            self._take(request.command)
            while self._count >= MAX_COMMANDS or self._bytes >= MAX_BYTES:
                self._left.clear()
                await self._left.wait()

    def _take(self, command: Command) -> None:
        """Sets a command to work. Raises Unparsable."""
        self._count += 1
        try:
            taken = _taken(command)
        except Unparsable:
            self._count -= 1
            raise
        except Refusal as refusal:
            self._put(_failure(command.id, refusal, _CONVERSE), 0)
            return
        self._bytes += taken.size
        about = {name for field in _ABOUT if (name := getattr(taken.request, field, None)) is not None}
        before = {self._last[name] for name in about if name in self._last}
        task = asyncio.ensure_future(self._carry_out(taken, before))
        self._work.add(task)
        self._last.update(dict.fromkeys(about, task))

        def done(task: asyncio.Task[None]) -> None:
            self._work.discard(task)
            for name in about:
                if self._last.get(name) is task:
                    del self._last[name]

        task.add_done_callback(done)

    async def _carry_out(self, taken: _Taken, before: set[asyncio.Task[None]]) -> None:
        """Answers a command, when those before it about the same are answered."""
        answer = None
        try:
            if before:
                await asyncio.wait(before)
            response = await self._response(taken)
            answer = _answer(taken.id, taken.field, response)
        except NotUtf8:
            self._end_with(Unparsable(taken.method))
        except Exception as error:  # whatever it is, the caller gets an answer and the log gets the cause
            refusal = self._errors.refusal(error, taken.method, str(uuid.uuid4()))
            answer = _failure(taken.id, refusal, taken.method)
        self._put(answer, taken.size)

    async def _response(self, taken: _Taken) -> Message:
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

    def _put(self, answer: ConverseResponse | None, size: int) -> None:
        self._ready.append((answer, size))
        self._answered.set()


def _taken(command: Command) -> _Taken:
    """What a command asks. Raises Unparsable, or the refusal that answers it."""
    field = command.WhichOneof("request")
    if field is None:
        raise invalid("command", "the command asks nothing that this server knows: it holds one request")
    seconds = None
    if command.HasField("timeout"):
        nanoseconds = from_duration("command.timeout", command.timeout)
        if nanoseconds <= 0:
            raise invalid("command.timeout", "command.timeout is not more than 0; leave it out for no limit")
        seconds = nanoseconds / 1e9
    method, request = _ASKED[field], getattr(command, field)
    check_size(request, method)
    return _Taken(command.id, method, field, parsed(method, request), len(request), seconds)


def _failure(id: int, refusal: Refusal, method: Method) -> ConverseResponse:
    return _answer(id, "failure", failure_of(refusal, method.action))


def _answer(id: int, field: str, response: Message) -> ConverseResponse:
    enclosed = {field: response.SerializeToString()}
    return _RESPONSE(answer=_ANSWER(id=id, **enclosed))  # type: ignore[arg-type]  # raw
