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
