"""Messages as JSON for programs: every field is there, numbers are numbers, unknown is null."""

import json

import pytest

from ullage.v1 import building_pb2, run_pb2
from ullage_server.cli.as_json import as_json, enum_name


def test_a_run_is_told_whole() -> None:
    run = run_pb2.Run(run_id="a", state=run_pb2.RUN_STATE_ACTIVE, sounded=run_pb2.SOUNDED_HANDOVER)
    run.plan.labels.update({"b": "2", "a": "1"})
    run.plan.context_rearm = 2
    run.plan.time_budget.FromMilliseconds(1500)
    run.reading.used_tokens = 2**53 - 1
    run.start_time.FromJsonString("2026-10-09T05:23:00Z")
    told = json.loads(json.dumps(as_json(run)))
    assert set(told) == {field.name for field in run.DESCRIPTOR.fields}
    assert (told["state"], told["sounded"], told["plan"]["context_rearm"]) == ("active", "handover", "per_window")
    assert told["reading"]["used_tokens"] == 2**53 - 1
    assert told["reading"]["percent"] is None
    assert told["plan"]["labels"] == {"a": "1", "b": "2"}
    assert told["plan"]["time_budget"] == 1.5
    assert (told["start_time"], told["finish_time"], told["origin"]) == ("2026-10-09T05:23:00Z", None, None)


def test_lists_of_messages_are_lists_of_objects() -> None:
    building = building_pb2.Building(address="lab")
    building.stated.add(key="clock.zone", value="UTC", source="lab")
    assert as_json(building)["stated"] == [{"key": "clock.zone", "value": "UTC", "source": "lab"}]
    assert as_json(building)["settled"] == []


@pytest.mark.parametrize(("number", "name"), [(0, None), (1, "active"), (2, "finished"), (77, "77")])
def test_an_enums_value_is_its_own_name(number: int, name: str | None) -> None:
    assert enum_name(run_pb2.RunState.DESCRIPTOR, number) == name
