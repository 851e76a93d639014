"""Requests as commands of a Converse stream, and what their answers say.

Rule (wire.md, WireService): a command is answered as the RPC that it asks for; what a call's status says of an
error, a Failure says, so it becomes the same error.
"""

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from .v1.error_reason_pb2 import ErrorReason
from .v1.failure_pb2 import Failure
from .v1.wire_service_pb2 import Command, ConverseRequest

#: How much longer than its command a caller waits, in seconds: the server's own word on it is worth more.
GRACE = 0.5

#: What a command may ask: its fields by the names of their messages.
_FIELDS = {
    field.message_type.name: field.name
    for field in Command.DESCRIPTOR.oneofs_by_name["request"].fields
    if field.message_type is not None
}
_CODES = {code.value[0]: code for code in grpc.StatusCode}


def field_of(request: object) -> str | None:
    """The field of a command that takes `request`; None where it is no command's."""
    return _FIELDS.get(type(request).__name__)


def command(id: int, field: str, request: Message, timeout: float) -> ConverseRequest:
    """The frame that asks for `request`, which may take `timeout` seconds."""
    limit = Duration()
    limit.FromNanoseconds(max(int(timeout * 1e9), 1))
    asked = {field: request}
    return ConverseRequest(command=Command(id=id, timeout=limit, **asked))  # type: ignore[arg-type]  # by its kind


def code_of(failure: Failure) -> grpc.StatusCode:
    """The code of a failure."""
    return _CODES.get(failure.code, grpc.StatusCode.UNKNOWN)


def trailing_of(failure: Failure) -> tuple[tuple[str, bytes], ...]:
    """What a call that failed so would have had in its trailing metadata."""
    status = status_pb2.Status(code=failure.code, message=failure.message)
    reason = ErrorReason.Name(failure.reason).removeprefix("ERROR_REASON_") if failure.reason else ""
    told = {"action": failure.action, "subject": failure.subject, "recovery": failure.recovery}
    details: list[Message] = [error_details_pb2.ErrorInfo(reason=reason, domain="ullage", metadata=told)]
    if failure.field_violations:
        bad = error_details_pb2.BadRequest()
        for violation in failure.field_violations:
            bad.field_violations.add(field=violation.field, description=violation.description)
        details.append(bad)
    if failure.HasField("retry_delay"):
        details.append(error_details_pb2.RetryInfo(retry_delay=failure.retry_delay))
    for detail in details:
        status.details.add().Pack(detail)
    return (("grpc-status-details-bin", status.SerializeToString()),)
