import pytest
from msgspec.structs import replace

from tests.core.runs import report, started, stated
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.fold import fold
from ullage_server.core.gauge import Sounded
from ullage_server.core.observe import Report, asks_window, check_report, observe
from ullage_server.core.records import UsageObserved
from ullage_server.core.run import finish
from ullage_server.core.settings import Rearm
from ullage_server.core.state import State
from ullage_server.core.usage import CountedUsage


def told(run: State, *reports: Report) -> tuple[State, list[UsageObserved]]:
    records = []
    for one in reports:
        record = observe(run, one, None, None, at=2)
        run = fold(run, record)
        records.append(record)
    return run, records


def refused(reason: Reason, run: State, one: Report, recorded: UsageObserved | None = None) -> Refusal:
    with pytest.raises(Refusal) as caught:
        observe(run, one, recorded, None, at=9)
    assert caught.value.reason is reason
    assert caught.value.recovery
    return caught.value


def test_each_threshold_sounds_once() -> None:
    run, records = told(started(), *(report(turn, used) for turn, used in enumerate((299, 300, 649, 650, 900), 1)))
    assert [r.reminder.id if r.reminder else None for r in records] == [
        None,
        "2/context/first",
        None,
        "4/context/handover",
        None,
    ]
    assert run.sounded is Sounded.HANDOVER
    assert run.insertions_given == 2
    assert run.insertion_tokens > 0


def test_a_jump_past_both_spends_the_lower() -> None:
    _, (first, second) = told(started(), report(1, 700), report(2, 310))
    assert first.reminder is not None
    assert first.reminder.keys == ("context/handover",)
    assert second.reminder is None


def test_the_same_report_is_answered_from_its_record_whatever_came_since() -> None:
    run, (first, _) = told(started(), report(1, 300), report(2, 700))
    assert observe(run, report(1, 300), first, None, at=9) is first


def test_sameness_is_judged_on_the_numbers() -> None:
    run, (first,) = told(started(), report(1, 300, output=5))
    in_other_words = Report(1, CountedUsage(300, 5, "prompt_tokens"), False, "", None)
    assert observe(run, in_other_words, first, None, at=9) is first
    for other in (
        report(1, 301, output=5),
        report(1, 300),
        report(1),
        report(1, 300, output=5, reset=True),
        report(1, 300, output=5, model="m"),
        report(1, 300, output=5, window=1000),
    ):
        refused(Reason.TURN_ALREADY_RECORDED, run, other, first)


def test_gaps_upwards_are_fine_and_what_was_skipped_cannot_come_later() -> None:
    run, _ = told(started(), report(2, 10), report(7, 20))
    assert "7" in refused(Reason.TURN_OUT_OF_ORDER, run, report(3, 15)).message


def test_a_finished_run_answers_what_it_recorded_and_refuses_what_is_new() -> None:
    run, (first,) = told(started(), report(1, 300))
    end = finish(run, "done", at=5)
    assert end is not None
    run = fold(run, end)
    assert observe(run, report(1, 300), first, None, at=9) is first
    assert "fork" in refused(Reason.RUN_FINISHED, run, report(2, 310)).message


def test_a_report_without_usage_keeps_the_last_reading() -> None:
    run, records = told(started(), report(1, 100), report(2))
    assert records[1].reading == records[0].reading
    assert run.last_observed == 2


def test_a_reset_comes_before_the_reading() -> None:
    per_window = started(stated(rearm=Rearm.PER_WINDOW))
    run, (_, again) = told(per_window, report(1, 700), report(2, 350, reset=True))
    assert again.reminder is not None
    assert again.reminder.id == "2/context/first"
    assert run.window_epoch == 1


def test_per_run_a_reset_gives_nothing_back() -> None:
    run, (_, again) = told(started(), report(1, 350), report(2, 350, reset=True))
    assert again.reminder is None
    assert (run.window_epoch, run.sounded) == (1, Sounded.FIRST)


def test_a_reset_alone_makes_the_old_reading_stale() -> None:
    run, (_, reset) = told(started(stated(rearm=Rearm.PER_WINDOW)), report(1, 400), report(2, reset=True))
    assert reset.sounded is Sounded.NOTHING
    assert run.reading is not None
    assert run.reading.stale
    run, (fresh,) = told(run, report(3, 10))
    assert fresh.reading is not None
    assert not fresh.reading.stale


def test_a_reset_already_told_for_the_turn_counts_once() -> None:
    run = replace(started(stated(rearm=Rearm.PER_WINDOW)), last_reset_turn=3, window_epoch=1)
    run, (record,) = told(run, report(3, 10, reset=True))
    assert not record.opens_window
    assert run.window_epoch == 1


def test_a_window_the_report_states_is_the_runs_from_then_on() -> None:
    run, (_, second, third) = told(started(), report(1, 200), report(2, window=500), report(3, 200))
    assert second.reading is not None
    assert second.reading.context_tokens == 1000, "the old reading keeps its own window"
    assert third.reading is not None
    assert third.reading.context_tokens == 500
    assert run.plan.context_tokens == 1000, "the frozen plan is not rewritten"


def test_another_models_window_is_looked_up_and_nothing_found_changes_nothing() -> None:
    run = started(stated(model="m"))
    assert asks_window(run, report(1, 10, model="other"))
    assert not asks_window(run, report(1, 10, model="other", window=5))
    assert not asks_window(run, report(1, 10))
    found = observe(run, report(1, 10, model="other"), None, 400, at=2)
    run = fold(run, found)
    assert run.context_tokens == 400
    run = fold(run, observe(run, report(2, 10, model="unknown"), None, None, at=2))
    assert run.context_tokens == 400


def test_the_plans_own_model_has_the_plans_window() -> None:
    run = started(stated(model="m"))
    assert not asks_window(run, report(1, 10, model="m"))
    run = fold(run, observe(run, report(1, 10, model="other"), None, 400, at=2))
    run = fold(run, observe(run, report(2, 10, model="m"), None, None, at=2))
    assert run.context_tokens == 1000


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        (report(0, 1), "report.turn"),
        (report(-5, 1), "report.turn"),
        (report(1, 1, window=-1), "report.context_tokens"),
        (report(1, 1, window=2**53), "report.context_tokens"),
        (report(1, 1, model="m" * 257), "report.model"),
        (report(1, 1, model="a\x00b"), "report.model"),
    ],
)
def test_a_report_outside_its_domain_names_the_field(bad: Report, field: str) -> None:
    with pytest.raises(Refusal) as caught:
        check_report(bad)
    assert caught.value.reason is Reason.ARGUMENT_INVALID
    assert caught.value.field == field


def test_records_are_folded_without_a_gap() -> None:
    run, (record,) = told(started(), report(1, 10))
    with pytest.raises(ValueError, match="gap"):
        fold(run, record)
    with pytest.raises(ValueError, match="gap"):
        fold(None, replace(record, position=1))
