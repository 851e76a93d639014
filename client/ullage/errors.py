"""What can go wrong in a call: one exception for each reason the service gives, and two for no answer at all.

Rule: an error says what was being done, to what, what is wrong, and what to do now; a program tells errors apart
by their class (or `reason`), never by their text. The text speaks of the arguments and methods of this client
where the service speaks of fields and RPCs (see `arguments`). The service sends all of it as a
`google.rpc.Status` in the trailing metadata, with an ErrorInfo of the domain `ullage`; an error without one was
not made by Ullage.
"""

from collections.abc import Iterable
from typing import ClassVar, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

from .arguments import argument, methods_named

DOMAIN = "ullage"
_DETAILS_KEY = "grpc-status-details-bin"
_M = TypeVar("_M", bound=Message)


class UllageError(Exception):
    """A call that was not answered as asked. Caught as such it covers every error below.

    Of this very class are errors with a reason this client does not know (from a newer server), and those of
    gRPC itself that have no class here.

    Attributes:
        reason: the name of the `ErrorReason` without its prefix, as `RUN_NOT_FOUND`; empty where the error
            was not made by Ullage.
        code: the gRPC status code.
        message: what is wrong, and what is right.
        action: what was being done; empty where not said.
        subject: to what it was being done; empty where not said.
        recovery: what to do now; empty where not said.
        field_violations: the fields of the request at fault, each by its name on the wire with what is wrong
            with it, in the service's own words; empty where no single field is.
        retry_delay: how many seconds to wait before the same is sent again; None where the server did not say.

    """

    #: The class for each reason.
    by_reason: ClassVar[dict[str, type["UllageError"]]] = {}

    def __init_subclass__(cls, *, reason: str = "") -> None:
        super().__init_subclass__()
        if reason:
            UllageError.by_reason[reason] = cls

    def __init__(
        self,
        message: str,
        *,
        reason: str = "",
        code: grpc.StatusCode = grpc.StatusCode.UNKNOWN,
        action: str = "",
        subject: str = "",
        recovery: str = "",
        field_violations: tuple[tuple[str, str], ...] = (),
        retry_delay: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.code = code
        self.action = action
        self.subject = subject
        self.recovery = recovery
        self.field_violations = field_violations
        self.retry_delay = retry_delay

    def __str__(self) -> str:
        told = f"{self.action}: {self.message}" if self.action else self.message
        return f"{told} ({self.recovery})" if self.recovery else told


class ArgumentInvalid(UllageError, reason="ARGUMENT_INVALID"):
    """A field of the request is outside its domain, or malformed; `field_violations` names it. Correct it."""


class ThresholdOutOfDomain(UllageError, reason="THRESHOLD_OUT_OF_DOMAIN"):
    """A second threshold that is not 31 to 90 percent. State one that is, or none."""


class RunNotFound(UllageError, reason="RUN_NOT_FOUND"):
    """No run has that id. Start it, or correct the id."""


class BuildingNotFound(UllageError, reason="BUILDING_NOT_FOUND"):
    """Nobody has configured that address. Configure it, or read the rung above."""


class RunAlreadyExists(UllageError, reason="RUN_ALREADY_EXISTS"):
    """The run id belongs to another start or fork. Choose a new one."""


class RunFinished(UllageError, reason="RUN_FINISHED"):
    """The run has ended and takes nothing new. Fork it to go on."""


class TurnAlreadyRecorded(UllageError, reason="TURN_ALREADY_RECORDED"):
    """The turn was reported before with other content: a fault of the harness. Do not send it again."""


class TurnOutOfOrder(UllageError, reason="TURN_OUT_OF_ORDER"):
    """The turn lies below one that is recorded; the message names that one. Go on from there."""


class WaveIncomplete(UllageError, reason="WAVE_INCOMPLETE"):
    """An exchange in which a tool use lacks its one result, or a result its tool use; the message names them."""


class ExchangeAlreadyCompacted(UllageError, reason="EXCHANGE_ALREADY_COMPACTED"):
    """The turn was compacted with another exchange: a fault of the harness. Do not send it again."""


class ForkPastEnd(UllageError, reason="FORK_PAST_END"):
    """A fork names a turn after the mother's last; the message names the last."""


class ForkBeforeOrigin(UllageError, reason="FORK_BEFORE_ORIGIN"):
    """A fork names a turn of an ancestor that is gone; the message names the earliest turn that is left."""


class RequestIdReused(UllageError, reason="REQUEST_ID_REUSED"):
    """The request id belongs to another command. Choose a new one, or leave it to the client."""


class ConfigChanged(UllageError, reason="CONFIG_CHANGED"):
    """The etag no longer fits. Read the building, decide anew, and send with the new etag."""


class ConfigUnreadable(UllageError, reason="CONFIG_UNREADABLE"):
    """A rung's document does not parse; the message names rung, line and column. Have it mended."""


class Unauthenticated(UllageError, reason="UNAUTHENTICATED"):
    """A token is wanted, and there is none, or none the server knows."""


class NotPermitted(UllageError, reason="NOT_PERMITTED"):
    """The token does not hold the right for that RPC at that address."""


class MessageTooLarge(UllageError, reason="MESSAGE_TOO_LARGE"):
    """A message exceeds the server's limit, which the error's message says. Send less."""


class Overloaded(UllageError, reason="OVERLOADED"):
    """The server has too much in work. Wait `retry_delay` seconds and send the same again."""


class StoreUnavailable(UllageError, reason="STORE_UNAVAILABLE"):
    """The store does not answer: nothing was recorded, or it is not known. Send the same again; that is safe."""


class DeadlinePassed(UllageError, reason="DEADLINE_PASSED"):
    """The time for the call ran out. It may have been recorded: send the same again; that is safe."""


class Draining(UllageError, reason="DRAINING"):
    """The server is about to stop. Send the same again, to it when it is back or to another."""


class RecordUnknown(UllageError, reason="RECORD_UNKNOWN"):
    """A newer server wrote a record of this run that the one asked cannot read. Have it upgraded."""


class Unsupported(UllageError, reason="UNSUPPORTED"):
    """The server does not have that RPC: it is older than this client, or no Ullage at all."""


class Internal(UllageError, reason="INTERNAL"):
    """The server is at fault. Tell its operator the request id in the message."""


class ServerUnreachable(UllageError):
    """No Ullage answered at the target: UNAVAILABLE, or a call that the server broke off (CANCELLED) as one does
    that goes down, and not in the words of an Ullage. `reason` is empty.

    Where a server had answered this client before, the call may have been recorded: send the same again; that
    is safe.
    """


#: gRPC's own errors, which hold no details, and what they mean here.
_UNTOLD: dict[grpc.StatusCode, type[UllageError]] = {
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlinePassed,
    grpc.StatusCode.UNIMPLEMENTED: Unsupported,
    grpc.StatusCode.UNAVAILABLE: ServerUnreachable,
    grpc.StatusCode.CANCELLED: ServerUnreachable,
}
#: What gRPC says of a message beyond the transport's own limit; its code may mean other things.
_TOO_LARGE = "message larger than max"
_REASONS = {kind: reason for reason, kind in UllageError.by_reason.items()}


def error_of(
    code: grpc.StatusCode,
    details: str | None,
    trailing: Iterable[tuple[str, str | bytes]] | None,
    *,
    action: str,
    subject: str,
    target: str,
    timeout: float,
    met: bool,
) -> UllageError:
    """The error that a call to `target` ended with; `action`, `subject` and `timeout` (seconds) are the call's.

    `met` says whether a server has answered there before.
    """
    status = _status(trailing)
    told = _detail(status, error_details_pb2.ErrorInfo())
    if told is not None and told.domain == DOMAIN:
        bad = _detail(status, error_details_pb2.BadRequest()) or error_details_pb2.BadRequest()
        retry = _detail(status, error_details_pb2.RetryInfo())
        violations = tuple((v.field, v.description) for v in bad.field_violations)
        subject = told.metadata.get("subject", subject)
        # Of such errors alone is it certain that where the field's name stands, the field is meant.
        field = subject if any(subject == name for name, _ in violations) else ""

        def as_typed(text: str) -> str:
            return text.replace(field, argument(field)) if field else text

        return UllageError.by_reason.get(told.reason, UllageError)(
            as_typed(status.message or details or ""),
            reason=told.reason,
            code=code,
            action=told.metadata.get("action", action),
            subject=as_typed(subject),
            recovery=methods_named(as_typed(told.metadata.get("recovery", ""))),
            field_violations=violations,
            retry_delay=None if retry is None else retry.retry_delay.ToNanoseconds() / 1e9,
        )
    kind = _UNTOLD.get(code, UllageError)
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and _TOO_LARGE in (details or ""):
        kind = MessageTooLarge
    message, recovery = details or code.name, ""
    if kind is DeadlinePassed:
        message = f"no answer from {target} within {timeout:g} s"
        recovery = "send the same again; that is safe, and if it was recorded the recorded answer comes back"
        if not met:
            recovery = f"no answer ever came from there: see that it is right, or set ULLAGE_TARGET; {recovery}"
    elif code is grpc.StatusCode.CANCELLED:
        message = f"the server at {target} broke the call off: {message}"
        recovery = "send the same again when it is back; that is safe"
    elif kind is ServerUnreachable:
        message = f"no Ullage server answers at {target}: {message}"
        recovery = (
            "start one with `ullage serve`, or set ULLAGE_TARGET to where one listens (`make run`'s listens on "
            "127.0.0.1:50151)"
        )
    elif kind is MessageTooLarge:
        message = f"a message is too large for gRPC between here and {target}: {message}"
        recovery = "send less in one request"
    elif kind is Unsupported:
        message = f"the server at {target} does not have this RPC: {message}"
        recovery = "use a newer server, or correct ULLAGE_TARGET if that is no Ullage server"
    return kind(
        message, reason=_REASONS.get(kind, ""), code=code, action=action, subject=subject, recovery=recovery
    )


def _status(trailing: Iterable[tuple[str, str | bytes]] | None) -> status_pb2.Status:
    """The Status in a call's trailing metadata; an empty one where there is none that can be read."""
    for key, value in trailing or ():
        if key == _DETAILS_KEY and isinstance(value, bytes):
            try:
                return status_pb2.Status.FromString(value)
            except DecodeError:
                break
    return status_pb2.Status()


def _detail(status: status_pb2.Status, into: _M) -> _M | None:
    """The first detail of that kind, read into `into`; None where there is none that can be read."""
    for detail in status.details:
        try:
            if detail.Unpack(into):
                return into
        except DecodeError:
            return None
    return None
