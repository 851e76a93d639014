"""How a run stands and what a building settles: values with the wire's names, and None for what is not there."""

import dataclasses
import pickle
from datetime import UTC, datetime, timedelta

import pytest

from ullage import Building, Origin, Plan, Reading, RunStatus, Settled, Sounded
from ullage.standing import building_of, plan_of, status_of
from ullage.v1 import building_pb2, plan_pb2, run_pb2

AT = datetime(2026, 10, 9, 5, 23, 0, 250_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (RunStatus, run_pb2.Run),
        (Plan, plan_pb2.RunPlan),
        (Origin, run_pb2.Origin),
        (Settled, plan_pb2.Settled),
        (Building, building_pb2.Building),
    ],
)
def test_a_value_has_every_field_of_its_message(value: type, message: type) -> None:
    fields = message.DESCRIPTOR.fields  # type: ignore[attr-defined]
    assert [field.name for field in dataclasses.fields(value)] == [field.name for field in fields]


def test_what_a_run_does_not_have_is_none() -> None:
    status = status_of(run_pb2.Run(run_id="r1", state=run_pb2.RUN_STATE_ACTIVE, sounded=run_pb2.SOUNDED_NOTHING))
    assert (status.reading, status.origin, status.finish_time, status.plan.time_budget) == (None,) * 4
    assert (status.state, status.sounded) == ("active", Sounded.NOTHING)


def test_what_a_run_has_is_told() -> None:
    run = run_pb2.Run(
        run_id="b",
        plan=plan_pb2.RunPlan(context_rearm=plan_pb2.REARM_PER_WINDOW, labels={"b": "2", "a": "1"}),
        state=run_pb2.RUN_STATE_FINISHED,
        sounded=run_pb2.SOUNDED_FIRST,
        last_turn=9,
        window_epoch=1,
        origin=run_pb2.Origin(run_id="a", through_turn=0),
        outcome="done",
        insertions_given=2,
        insertion_tokens=44,
        dropped_bytes=7,
        revision=12,
    )
    run.reading.turn, run.reading.used_tokens = 9, 5
    run.plan.time_budget.FromMilliseconds(1500)
    for time in (run.start_time, run.update_time, run.finish_time):
        time.FromDatetime(AT)
    status = status_of(run)
    assert status.reading == Reading(9, 5, 0, None, None, None, False, False, "")
    assert status.origin == Origin("a", 0)
    assert (status.start_time, status.update_time, status.finish_time) == (AT, AT, AT)
    assert (status.state, status.sounded, status.plan.context_rearm) == ("finished", "first", "per_window")
    assert (status.plan.time_budget, status.plan.labels) == (timedelta(seconds=1.5), {"a": "1", "b": "2"})
    told = (
        status.outcome,
        status.insertions_given,
        status.insertion_tokens,
        status.dropped_bytes,
        status.revision,
    )
    assert told == ("done", 2, 44, 7, 12)
    assert pickle.loads(pickle.dumps(status)) == status


def test_zero_and_false_are_said() -> None:
    plan = plan_of(plan_pb2.RunPlan(notices_every_steps=0, notices_include_subagents=False))
    assert (plan.notices_every_steps, plan.notices_include_subagents) == (0, False)


def test_a_building_is_what_it_states_and_what_it_settles() -> None:
    stated = plan_pb2.Settled(key="clock.zone", value="UTC", source="lab")
    building = building_pb2.Building(address="lab", stated=[stated], settled=[stated, stated], etag="e")
    value = Settled("clock.zone", "UTC", "lab")
    assert building_of(building) == Building("lab", (value,), (value, value), "e", None)
    building.update_time.FromDatetime(AT)
    assert building_of(building).update_time == AT
