"""What a failed call becomes, and that no reason of the wire is without its class."""

import pickle

import grpc
import pytest

import ullage
from tests.client.wire import Failing
from ullage.errors import error_of
from ullage.v1 import error_reason_pb2

REASONS = [name.removeprefix("ERROR_REASON_") for name, number in error_reason_pb2.ErrorReason.items() if number]


def raised(failing: Failing, *, met: bool = True) -> ullage.UllageError:
    return error_of(
        failing.code,
        failing.message,
        failing.trailing,
        action="starting a run",
        subject="run r9",
        target="unix:/there",
        timeout=2.5,
        met=met,
    )


def test_each_reason_has_its_class_and_no_class_is_without_reason() -> None:
    assert sorted(ullage.UllageError.by_reason) == sorted(REASONS)
    classes = {kind.__name__ for kind in ullage.UllageError.by_reason.values()}
    assert classes == {"".join(word.capitalize() for word in reason.split("_")) for reason in REASONS}
    assert classes | {"ServerUnreachable", "UllageError"} <= set(ullage.__all__)


@pytest.mark.parametrize("reason", REASONS)
def test_an_error_is_told_apart_by_its_class(reason: str) -> None:
    error = raised(Failing(grpc.StatusCode.FAILED_PRECONDITION, reason, "no", retry=1.25, field="report.turn"))
    assert type(error) is ullage.UllageError.by_reason[reason]
    assert error.reason == reason
    assert error.code is grpc.StatusCode.FAILED_PRECONDITION
    assert (error.message, error.action, error.subject, error.recovery) == ("no", "trying", "run r1", "do better")
    assert error.field_violations == (("report.turn", "is wrong"),)
    assert error.retry_delay == 1.25
    assert str(error) == "trying: no (do better)"


@pytest.mark.parametrize(
    ("field", "argument"),
    [
        ("plan.second_threshold", "second_threshold"),
        ("command.clock_zone", "clock_zone"),
        ("report.turn", "turn"),
        ("report.usage.output_tokens", "usage.output_tokens"),
        ("report.provider_usage.json", "usage"),
        ("run_id", "run_id"),
        ("plans.x", "plans.x"),
    ],
)
def test_the_text_names_the_argument_and_the_violation_the_field(field: str, argument: str) -> None:
    invalid = Failing(
        grpc.StatusCode.INVALID_ARGUMENT,
        "ARGUMENT_INVALID",
        f"{field} is wrong",
        field=field,
        subject=field,
        recovery=f"correct {field} and send the request again",
    )
    error = raised(invalid)
    assert str(error) == f"trying: {argument} is wrong (correct {argument} and send the request again)"
    assert error.subject == argument
    assert error.field_violations == ((field, "is wrong"),)


def test_a_name_that_reads_like_a_field_stays_as_it_is() -> None:
    taken = Failing(
        grpc.StatusCode.ALREADY_EXISTS,
        "TURN_ALREADY_RECORDED",
        "turn 1 of run report.turn is recorded; StartRun",
        field="report.turn",
        subject="run report.turn, turn 1",
    )
    assert raised(taken).message == "turn 1 of run report.turn is recorded; StartRun"
    assert raised(taken).subject == "run report.turn, turn 1"


def test_what_to_do_names_the_clients_methods() -> None:
    def recovery(text: str) -> str:
        return raised(Failing(grpc.StatusCode.NOT_FOUND, "RUN_NOT_FOUND", recovery=text)).recovery

    assert recovery("start it with StartRun, or correct run_id") == "start it with start_run, or correct run_id"
    assert recovery("make it with ConfigureBuilding") == "make it with configure_building"
    assert recovery("ObserveUsage, CompactExchange or ForkRun") == "observe, compact or fork"
    assert recovery("GetRuns tells, StartRunning too") == "GetRuns tells, StartRunning too"
    assert recovery("ask Converse") == "ask Converse"  # there is no such method


def test_details_that_are_not_there_are_empty() -> None:
    error = raised(Failing(grpc.StatusCode.NOT_FOUND, "RUN_NOT_FOUND"))
    assert error.field_violations == ()
    assert error.retry_delay is None


def test_a_reason_of_a_newer_server_is_kept_as_it_is() -> None:
    error = raised(Failing(grpc.StatusCode.ABORTED, "MOON_FULL"))
    assert type(error) is ullage.UllageError
    assert error.reason == "MOON_FULL"


@pytest.mark.parametrize(
    ("code", "kind", "reason"),
    [
        (grpc.StatusCode.UNAVAILABLE, ullage.ServerUnreachable, ""),
        (grpc.StatusCode.CANCELLED, ullage.ServerUnreachable, ""),
        (grpc.StatusCode.DEADLINE_EXCEEDED, ullage.DeadlinePassed, "DEADLINE_PASSED"),
        (grpc.StatusCode.UNIMPLEMENTED, ullage.Unsupported, "UNSUPPORTED"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, ullage.UllageError, ""),
        (grpc.StatusCode.UNKNOWN, ullage.UllageError, ""),
    ],
)
@pytest.mark.parametrize(
    "details",
    [
        None,
        b"",
        b"\xff garbage",
        Failing(grpc.StatusCode.UNAVAILABLE, "RUN_NOT_FOUND", domain="elsewhere.example").details,
    ],
)
def test_what_ullage_did_not_say_is_told_by_the_code(
    code: grpc.StatusCode, kind: type[ullage.UllageError], reason: str, details: bytes | None
) -> None:
    error = raised(Failing(code, message="a proxy's words", details=details))
    assert type(error) is kind
    assert error.reason == reason
    assert error.code is code
    assert (error.action, error.subject) == ("starting a run", "run r9")
    if kind is not ullage.UllageError:
        assert "unix:/there" in error.message
        assert error.recovery


def test_where_no_answer_ever_came_the_target_may_be_wrong() -> None:
    silence = Failing(grpc.StatusCode.DEADLINE_EXCEEDED)
    assert "ULLAGE_TARGET" in raised(silence, met=False).recovery
    assert raised(silence).recovery.startswith("send the same again; that is safe")


def test_an_error_without_a_word_still_says_something() -> None:
    error = error_of(grpc.StatusCode.UNKNOWN, None, None, action="", subject="", target="t", timeout=1, met=True)
    assert str(error) == "UNKNOWN"


def test_errors_travel_between_processes() -> None:
    error = raised(Failing(grpc.StatusCode.NOT_FOUND, "RUN_NOT_FOUND", "no", field="run_id"))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is ullage.RunNotFound
    assert vars(again) == vars(error)
    assert str(again) == str(error)
