"""What every refusal must be: told by the table of reasons, whole, and silent about the server's inside."""

import re
from collections.abc import Sequence

import grpc

from tests.rpc.calls import Answer

#: The code of each reason, as the wire's table of errors has it.
CODES = {
    "ARGUMENT_INVALID": grpc.StatusCode.INVALID_ARGUMENT,
    "THRESHOLD_OUT_OF_DOMAIN": grpc.StatusCode.INVALID_ARGUMENT,
    "RUN_NOT_FOUND": grpc.StatusCode.NOT_FOUND,
    "BUILDING_NOT_FOUND": grpc.StatusCode.NOT_FOUND,
    "RUN_ALREADY_EXISTS": grpc.StatusCode.ALREADY_EXISTS,
    "RUN_FINISHED": grpc.StatusCode.FAILED_PRECONDITION,
    "TURN_ALREADY_RECORDED": grpc.StatusCode.ALREADY_EXISTS,
    "TURN_OUT_OF_ORDER": grpc.StatusCode.FAILED_PRECONDITION,
    "WAVE_INCOMPLETE": grpc.StatusCode.FAILED_PRECONDITION,
    "EXCHANGE_ALREADY_COMPACTED": grpc.StatusCode.ALREADY_EXISTS,
    "FORK_PAST_END": grpc.StatusCode.OUT_OF_RANGE,
    "FORK_BEFORE_ORIGIN": grpc.StatusCode.FAILED_PRECONDITION,
    "REQUEST_ID_REUSED": grpc.StatusCode.ALREADY_EXISTS,
    "CONFIG_CHANGED": grpc.StatusCode.ABORTED,
    "CONFIG_UNREADABLE": grpc.StatusCode.FAILED_PRECONDITION,
    "UNAUTHENTICATED": grpc.StatusCode.UNAUTHENTICATED,
    "NOT_PERMITTED": grpc.StatusCode.PERMISSION_DENIED,
    "MESSAGE_TOO_LARGE": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "OVERLOADED": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "STORE_UNAVAILABLE": grpc.StatusCode.UNAVAILABLE,
    "DEADLINE_PASSED": grpc.StatusCode.DEADLINE_EXCEEDED,
    "DRAINING": grpc.StatusCode.UNAVAILABLE,
    "RECORD_UNKNOWN": grpc.StatusCode.UNAVAILABLE,
    "UNSUPPORTED": grpc.StatusCode.UNIMPLEMENTED,
    "INTERNAL": grpc.StatusCode.INTERNAL,
}
#: The reasons that lie with the request; the others lie with the server, or with who calls it.
DUE_TO_THE_REQUEST = CODES.keys() - {
    "UNAUTHENTICATED",
    "NOT_PERMITTED",
    "OVERLOADED",
    "STORE_UNAVAILABLE",
    "DEADLINE_PASSED",
    "DRAINING",
    "RECORD_UNKNOWN",
    "UNSUPPORTED",
    "INTERNAL",
}
RETRIED = {"OVERLOADED", "STORE_UNAVAILABLE", "DRAINING"}
ABOUT_A_FIELD = {"ARGUMENT_INVALID", "THRESHOLD_OUT_OF_DOMAIN"}

#: What no message may hold: paths, traces of the program, a driver's or a library's words.
_INSIDE = re.compile(
    r"/(?:tmp|home|root|work|etc|usr|var|opt|proc|data)\b|\.(?:py|db|sock|sql)\b|site-packages|traceback"
    r"|sqlite|yoyo|psycopg|asyncpg|msgspec|tomlkit|tomllib|protobuf|grpc|decodeerror|(?:key|value|type|os)error"
    r"|exception|errno|ullage_server|\bobject at\b|<class|__|secret|passw",
    re.IGNORECASE,
)
_MOST_CHARS = 600


def faults_of(answer: Answer, named: str = "") -> list[str]:
    """What is wrong with a refusal; empty where nothing is. `named` is what the caller sent and it may repeat."""
    info, status = answer.info, answer.status
    if not info.reason:
        return [f"no ErrorInfo: {answer.code.name}: {answer.message}"]
    faults = []
    code = CODES.get(info.reason)
    if answer.code is not code or code.value[0] != status.code:
        faults.append(f"{info.reason} came with {answer.code.name}, {status.code}")
    if info.domain != "ullage":
        faults.append(f"domain {info.domain!r}")
    if status.message != answer.message:
        faults.append(f"two messages: {status.message!r}, {answer.message!r}")
    if set(info.metadata) != {"action", "subject", "recovery"}:
        faults.append(f"metadata {sorted(info.metadata)}")
    for name, text in {"message": answer.message, **info.metadata}.items():
        faults += _faults_of_text(name, text.replace(named, "…") if named else text)
    # A request that does not parse has no fields.
    if (info.reason in ABOUT_A_FIELD and "the request is no" not in answer.message) and not answer.violations:
        faults.append("no field is named")
    if (info.reason in RETRIED) != (answer.retry_seconds > 0):
        faults.append(f"retry in {answer.retry_seconds} s")
    for field, description in answer.violations.items():
        faults += [
            *_faults_of_text("a field's name", field),
            *_faults_of_text("a field's description", description.replace(named, "…") if named else description),
        ]
    return faults


def _faults_of_text(name: str, text: str) -> Sequence[str]:
    if not text or text != text.strip() or not text.isprintable():
        return [f"{name} is no line of text: {text!r}"]
    if len(text) > _MOST_CHARS:
        return [f"{name} has {len(text)} characters: {text[:80]!r}…"]
    if found := _INSIDE.search(text):
        return [f"{name} holds {found[0]!r}: {text!r}"]
    return []
