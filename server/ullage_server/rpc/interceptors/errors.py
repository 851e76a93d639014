"""The outermost interceptor: what a handler raises becomes a Status, here and nowhere else.

Rule (wire.md, Errors): a refusal is answered as it is; a store that can't answer is STORE_UNAVAILABLE, whoever
asked it. Anything else is a fault of ours: INTERNAL, with a fixed text and the request's id, and the cause in the
log alone. Handlers never abort, and parse inside. A store that stays away is logged now and then, not a call.
"""

import time
import uuid
from collections.abc import AsyncIterator
from typing import NoReturn

import structlog

from ...core.errors import Reason, Refusal
from ...store.port import StoreError
from ..methods import Method
from ..status import CODES, status_of
from . import Context, Stream, Unary

_log = structlog.get_logger()

#: How often, in seconds, the log tells that the store can't answer.
_TELL_SECONDS = 5.0

_UNAVAILABLE = Refusal(
    Reason.STORE_UNAVAILABLE,
    "the store can't be reached; whether anything was recorded may not be known",
    subject="the store",
    recovery="send the same request again; that is safe",
)


class Errors:
    """Answers refusals and faults as Statuses."""

    def __init__(self) -> None:
        self._told = float("-inf")

    def unary(self, method: Method, inner: Unary) -> Unary:
        """`inner`, whose refusals and faults are answered."""

        async def call(request: bytes, context: Context) -> bytes:
            try:
                return await inner(request, context)
            except Exception as error:  # whatever it is, the caller gets an answer and the log gets the cause
                failure = self.refusal(error, method, _request_id(context))
            return await abort(context, failure, method.action)

        return call

    def stream(self, method: Method, inner: Stream) -> Stream:
        """`inner`, whose refusals and faults are answered, after what it gave before."""

        async def call(requests: AsyncIterator[bytes], context: Context) -> None:
            try:
                await inner(requests, context)
                return
            except Exception as error:  # as above
                failure = self.refusal(error, method, _request_id(context))
            await abort(context, failure, method.action)

        return call

    def refusal(self, error: Exception, method: Method, request_id: str) -> Refusal:
        """What is answered where `method` ended with `error`; a fault of ours is logged under `request_id`."""
        if isinstance(error, Refusal):
            # Its traceback leads to the frame that holds it: together they would stay, with all of the call, until
            # the collector of cycles comes.
            error.__traceback__ = None
            return error
        if not isinstance(error, StoreError):
            return _fault(method, request_id)
        if time.monotonic() - self._told >= _TELL_SECONDS:
            self._told = time.monotonic()
            _log.warning("the store can't answer", cause=str(error), method=method.path)
        return _UNAVAILABLE


async def abort(context: Context, refusal: Refusal, action: str) -> NoReturn:
    """Ends the call with `refusal` as its Status."""
    status = status_of(refusal, action)
    metadata = (("grpc-status-details-bin", status.SerializeToString()),)
    await context.abort(CODES[refusal.reason], status.message, metadata)
    raise AssertionError("abort does not return")


def _fault(method: Method, request_id: str) -> Refusal:
    _log.exception("a call failed by a fault of ours", method=method.path, request_id=request_id)
    return Refusal(
        Reason.INTERNAL,
        f"the server failed by a fault of its own; its log tells more under request id {request_id}",
        subject=f"request {request_id}",
        recovery="send the same request again; if it fails again, report the request id to the operator",
    )


def _request_id(context: Context) -> str:
    for key, value in context.invocation_metadata() or ():
        if key == "x-request-id" and isinstance(value, str):
            return value[:64]
    return str(uuid.uuid4())
