"""Which waves are whole, and what a refused one is told."""

import pytest

from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.exchange.wave import check_wave, is_whole


def refusal(asked: list[str], answered: list[str]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        check_wave("run r, turn 3", asked, answered)
    return caught.value


@pytest.mark.parametrize(
    ("asked", "answered"),
    [([], []), (["a"], ["a"]), (["a", "b", "c"], ["c", "a", "b"]), ([""], [""])],
)
def test_a_whole_wave_passes_in_any_order(asked: list[str], answered: list[str]) -> None:
    check_wave("run r, turn 3", asked, answered)
    assert is_whole(asked, answered)


@pytest.mark.parametrize(
    ("asked", "answered", "named", "unnamed"),
    [
        (["call-a", "call-b"], ["call-a"], "call-b", "call-a"),
        (["call-a"], ["call-a", "call-x"], "call-x", "call-a"),
        (["call-a", "call-b"], ["call-b", "call-a", "call-a"], "call-a", "call-b"),
        (["call-a"], [], "call-a", "call-x"),
        ([], ["call-x"], "call-x", "call-a"),
    ],
)
def test_a_wave_that_is_not_whole_names_the_ids_at_fault(
    asked: list[str], answered: list[str], named: str, unnamed: str
) -> None:
    caught = refusal(asked, answered)
    assert caught.reason is Reason.WAVE_INCOMPLETE
    assert caught.field == "exchange.results"
    assert caught.subject == "run r, turn 3"
    assert caught.recovery
    assert named in caught.message
    assert unnamed not in caught.message
    assert not is_whole(asked, answered)


def test_all_faults_are_told_at_once() -> None:
    message = refusal(["a1", "b2", "c3"], ["b2", "b2", "c3", "d4"]).message
    assert 'no result for "a1"' in message
    assert 'more than one result for "b2"' in message
    assert 'no tool use for the result of "d4"' in message
    assert "c3" not in message


@pytest.mark.parametrize("answered", [["a", "a", "b"], ["a", "b"], []])
def test_two_tool_uses_with_one_id_are_malformed(answered: list[str]) -> None:
    caught = refusal(["a", "b", "a"], answered)
    assert caught.reason is Reason.ARGUMENT_INVALID
    assert caught.field == "exchange.assistant"
    assert '"a"' in caught.message
    assert not is_whole(["a", "b", "a"], answered)


def test_many_long_strange_ids_stay_a_short_message() -> None:
    asked = [f"🦊{number}\n\x00" + "ab" * 5000 for number in range(10_000)]
    answered = [f"水{number}\u2028" + "c" * 5000 for number in range(10_000)]
    message = refusal(asked, answered + answered).message
    assert "and 9996 more" in message
    assert len(message.encode()) < 1000
    assert message.isprintable()
    assert "🦊0??ab" in message
