import pytest

from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.gauge import Reading, Sounded, read, reminder, sound
from ullage_server.core.thresholds import parse_second_threshold
from ullage_server.core.usage import CountedUsage


def reading(used: int, window: int) -> Reading:
    return read(7, CountedUsage(used, None, "input"), window)


@pytest.mark.parametrize(
    ("used", "window", "percent"),
    [(99, 333, 29), (100, 333, 30), (1, 1, 100), (5, 2, 250), (2**53 - 1, 1, (2**53 - 1) * 100), (0, 10, 0)],
)
def test_percent_is_floored(used: int, window: int, percent: int) -> None:
    assert reading(used, window).percent == percent


def test_an_unknown_window_has_no_percent_and_nothing_remains_to_be_told() -> None:
    unknown = reading(150_000, 0)
    assert unknown.percent is None
    assert unknown.remaining_tokens is None
    assert not unknown.window_exceeded
    assert sound(Sounded.NOTHING, unknown.percent, 65) is Sounded.NOTHING


def test_remaining_is_never_below_zero_and_the_excess_is_told() -> None:
    over = reading(120, 100)
    assert over.remaining_tokens == 0
    assert over.window_exceeded
    assert not reading(100, 100).window_exceeded


def test_projected_is_prompt_and_output_where_the_output_is_known() -> None:
    assert read(1, CountedUsage(100, 7, "input"), 0).projected_tokens == 107
    assert read(1, CountedUsage(100, 0, "input"), 0).projected_tokens == 100
    assert read(1, CountedUsage(100, None, "input"), 0).projected_tokens is None


@pytest.mark.parametrize(
    ("before", "percent", "after"),
    [
        (Sounded.NOTHING, 29, Sounded.NOTHING),
        (Sounded.NOTHING, 30, Sounded.FIRST),
        (Sounded.NOTHING, 64, Sounded.FIRST),
        (Sounded.NOTHING, 65, Sounded.HANDOVER),
        (Sounded.FIRST, 64, Sounded.FIRST),
        (Sounded.FIRST, 65, Sounded.HANDOVER),
        (Sounded.FIRST, 1, Sounded.FIRST),
        (Sounded.HANDOVER, 1, Sounded.HANDOVER),
        (Sounded.HANDOVER, 40, Sounded.HANDOVER),
    ],
)
def test_what_sounds(before: Sounded, percent: int, after: Sounded) -> None:
    assert sound(before, percent, 65) is after


def test_the_two_sentences() -> None:
    first = reminder(reading(60_000, 200_000), Sounded.FIRST, "succeed")
    assert first.text == "[context] 30% of the window used (60000 of 200000 input tokens)."
    assert (first.id, first.keys) == ("7/context/first", ("context/first",))
    handover = reminder(reading(130_000, 200_000), Sounded.HANDOVER, "hand_in")
    assert handover.text.startswith("[context] 65% of the window used (130000 of 200000 input tokens). ")
    assert "`hand_in`" in handover.text
    assert "succeed" not in handover.text
    assert handover.id == "7/context/handover"


@pytest.mark.parametrize("value", [31, 65, 90])
def test_the_domain_of_a_second_threshold_is_taken_as_it_is(value: int) -> None:
    assert parse_second_threshold("f", value) == value


@pytest.mark.parametrize("value", [-(2**63), -1, 0, 30, 91, 2**63 - 1])
def test_outside_its_domain_a_second_threshold_is_refused_by_name(value: int) -> None:
    with pytest.raises(Refusal) as caught:
        parse_second_threshold("f", value)
    assert caught.value.reason is Reason.THRESHOLD_OUT_OF_DOMAIN
    assert "31" in caught.value.message
    assert "90" in caught.value.message
    assert caught.value.field == "f"
