"""What the service answers, as values to read: unknown is not 0."""

import pytest

from ullage import Insertion, Reading, Sounded
from ullage.answers import insertion_of, observation_of, reading_of
from ullage.v1 import insertion_pb2, reading_pb2, run_pb2, run_service_pb2


def test_what_is_absent_is_none_and_what_is_zero_is_zero() -> None:
    assert reading_of(reading_pb2.ContextReading(turn=1, used_tokens=5)) == Reading(
        1, 5, 0, None, None, None, False, False, ""
    )
    whole = reading_pb2.ContextReading(
        turn=2,
        used_tokens=5,
        context_tokens=4,
        percent=0,
        remaining_tokens=0,
        projected_tokens=0,
        window_exceeded=True,
        stale=True,
        counted_as="input",
    )
    assert reading_of(whole) == Reading(2, 5, 4, 0, 0, 0, True, True, "input")


def test_enum_values_are_their_names_in_lower_case() -> None:
    def words(kind: int, placement: int, lifetime: int) -> Insertion:
        wire = insertion_pb2.Insertion()
        wire.kind, wire.placement, wire.lifetime = kind, placement, lifetime  # type: ignore[assignment]
        return insertion_of(wire)

    kinds = [words(kind, 1, 1).kind for kind in range(1, 7)]
    assert kinds == ["usage", "handover", "notice", "time_budget", "session_context", "registered"]
    assert [words(1, placement, 1).placement for placement in (1, 2)] == ["before_tail", "after_tail"]
    assert [words(1, 1, lifetime).lifetime for lifetime in (1, 2)] == ["transient", "durable"]
    assert words(99, 1, 1).kind == "99"  # a newer server's


@pytest.mark.parametrize(
    ("wire", "sounded"),
    [
        (run_pb2.SOUNDED_NOTHING, Sounded.NOTHING),
        (run_pb2.SOUNDED_FIRST, Sounded.FIRST),
        (run_pb2.SOUNDED_HANDOVER, Sounded.HANDOVER),
    ],
)
def test_what_has_sounded_is_one_of_three(wire: run_pb2.Sounded.ValueType, sounded: Sounded) -> None:
    seen = observation_of(run_service_pb2.ObserveUsageResponse(sounded=wire, replayed=True))
    assert (seen.sounded, seen.replayed) == (sounded, True)
    assert (seen.reminder, seen.reading) == (None, None)
    assert seen.sounded == sounded.name.lower()
