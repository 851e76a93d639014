import pytest
from msgspec.structs import replace

from tests.core.runs import report, started, stated
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.fold import fold
from ullage_server.core.names import check_address, check_name, check_outcome
from ullage_server.core.observe import observe
from ullage_server.core.plan import freeze
from ullage_server.core.run import finish, present, same_start, start
from ullage_server.core.settings import Rearm


def test_the_same_start_again_is_the_same_run() -> None:
    what = stated()
    first = start("r", what, freeze("r", what, [], lambda model: None), at=1)
    run = fold(None, first)
    assert same_start(run, stated(), first) is first
    for other, differing in (
        (stated(window=2000), "another context_tokens"),
        (stated(rearm=Rearm.PER_WINDOW), r"another context\.rearm"),
        (stated(model="m", second=66), r"another model and another context\.second_threshold"),
        (replace(stated(), settings={}), r"another context\.rearm and another context\.second_threshold"),
    ):
        with pytest.raises(Refusal, match=f"was started with {differing}; ") as caught:
            same_start(run, other, first)
        assert caught.value.reason is Reason.RUN_ALREADY_EXISTS
    with pytest.raises(Refusal, match="began as a branch") as caught:
        same_start(run, stated(), None)
    assert caught.value.reason is Reason.RUN_ALREADY_EXISTS


def test_a_run_nobody_started_is_named() -> None:
    with pytest.raises(Refusal, match="there is no run x") as caught:
        present(None, "x")
    assert caught.value.reason is Reason.RUN_NOT_FOUND


def test_the_same_end_again_adds_nothing_and_another_is_refused() -> None:
    run = started()
    end = finish(run, "done", at=7)
    assert end is not None
    run = fold(run, end)
    assert (run.finished, run.finish_time, run.outcome) == (True, 7, "done")
    assert finish(run, "done", at=9) is None
    with pytest.raises(Refusal) as caught:
        finish(run, "failed", at=9)
    assert caught.value.reason is Reason.RUN_FINISHED
    assert "fork" in caught.value.message


def test_the_last_turn_is_the_greatest_observed_or_compacted() -> None:
    run = fold(started(), observe(started(), report(4, 10), None, None, at=2))
    assert run.last_turn == 4
    assert replace(run, last_compacted=6).last_turn == 6


@pytest.mark.parametrize("name", ["a", "A.b_c:d-e", "x" * 128])
def test_a_name_is_taken(name: str) -> None:
    assert check_name("f", name) == name


@pytest.mark.parametrize("name", ["", "x" * 129, "a b", "a\n", "a/b", "ü", "a\x00"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(Refusal) as caught:
        check_name("f", name)
    assert (caught.value.reason, caught.value.field) == (Reason.ARGUMENT_INVALID, "f")


@pytest.mark.parametrize("address", ["", "lab", "lab/ada", "0-_a", "x" * 63])
def test_an_address_is_taken(address: str) -> None:
    assert check_address("f", address) == address


@pytest.mark.parametrize("address", ["/", "lab/", "/ada", "lab//ada", "a/b/c", "Lab", "-a", "..", "a\n", "x" * 64])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(Refusal):
        check_address("f", address)


def test_an_outcome_is_bounded() -> None:
    assert check_outcome("f", "x" * 1024) == "x" * 1024
    with pytest.raises(Refusal):
        check_outcome("f", "x" * 1025)
