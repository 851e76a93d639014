"""A refusal as a `google.rpc.Status`: its code by its reason, and what the caller may do by program.

Rule (wire.md, Errors): every error carries an ErrorInfo (domain `ullage`, the reason, and action, subject,
recovery), a BadRequest where one field is at fault, and a RetryInfo where sending again later helps. A Failure, an
error inside a stream, says the same.
"""

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from ullage.v1 import failure_pb2
from ullage.v1.error_reason_pb2 import ErrorReason

from ..core.errors import Reason, Refusal

DOMAIN = "ullage"

CODES: dict[Reason, grpc.StatusCode] = {
    Reason.ARGUMENT_INVALID: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.THRESHOLD_OUT_OF_DOMAIN: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.RUN_NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    Reason.BUILDING_NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    Reason.RUN_ALREADY_EXISTS: grpc.StatusCode.ALREADY_EXISTS,
    Reason.RUN_FINISHED: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.TURN_ALREADY_RECORDED: grpc.StatusCode.ALREADY_EXISTS,
    Reason.TURN_OUT_OF_ORDER: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.WAVE_INCOMPLETE: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.EXCHANGE_ALREADY_COMPACTED: grpc.StatusCode.ALREADY_EXISTS,
    Reason.FORK_PAST_END: grpc.StatusCode.OUT_OF_RANGE,
    Reason.FORK_BEFORE_ORIGIN: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.REQUEST_ID_REUSED: grpc.StatusCode.ALREADY_EXISTS,
    Reason.CONFIG_CHANGED: grpc.StatusCode.ABORTED,
    Reason.CONFIG_UNREADABLE: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.UNAUTHENTICATED: grpc.StatusCode.UNAUTHENTICATED,
    Reason.NOT_PERMITTED: grpc.StatusCode.PERMISSION_DENIED,
    Reason.MESSAGE_TOO_LARGE: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.OVERLOADED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.STORE_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Reason.DEADLINE_PASSED: grpc.StatusCode.DEADLINE_EXCEEDED,
    Reason.DRAINING: grpc.StatusCode.UNAVAILABLE,
    Reason.RECORD_UNKNOWN: grpc.StatusCode.UNAVAILABLE,
    Reason.UNSUPPORTED: grpc.StatusCode.UNIMPLEMENTED,
    Reason.INTERNAL: grpc.StatusCode.INTERNAL,
}

#: When to send again, by reason, in seconds: long enough not to hammer, short enough for an agent in its loop.
_RETRY_SECONDS = {Reason.OVERLOADED: 1, Reason.STORE_UNAVAILABLE: 1, Reason.DRAINING: 1}


def status_of(refusal: Refusal, action: str) -> status_pb2.Status:
    """`refusal` as a Status; `action` says what was being done."""
    details: list[Message] = [
        error_details_pb2.ErrorInfo(
            reason=refusal.reason.name,
            domain=DOMAIN,
            metadata={
                "action": action,
                "subject": refusal.subject,
                "recovery": refusal.recovery,
            },
        )
    ]
    if refusal.field:
        violation = error_details_pb2.BadRequest.FieldViolation(field=refusal.field, description=refusal.message)
        details.append(error_details_pb2.BadRequest(field_violations=[violation]))
    if delay := _delay(refusal):
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    status = status_pb2.Status(code=CODES[refusal.reason].value[0], message=refusal.message)
    for detail in details:
        packed = AnyMessage()
        packed.Pack(detail)
        status.details.append(packed)
    return status


def failure_of(refusal: Refusal, action: str) -> failure_pb2.Failure:
    """`refusal` as a Failure; `action` says what was being done."""
    failure = failure_pb2.Failure(
        code=CODES[refusal.reason].value[0],
        reason=ErrorReason.Value(f"ERROR_REASON_{refusal.reason.name}"),
        message=refusal.message,
        action=action,
        subject=refusal.subject,
        recovery=refusal.recovery,
        retry_delay=_delay(refusal),
    )
    if refusal.field:
        failure.field_violations.add(field=refusal.field, description=refusal.message)
    return failure


def _delay(refusal: Refusal) -> Duration | None:
    """When to send again; None where that is no remedy."""
    seconds = _RETRY_SECONDS.get(refusal.reason)
    return None if seconds is None else Duration(seconds=seconds)
