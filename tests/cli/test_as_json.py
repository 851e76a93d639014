"""Values as JSON for programs: every field is there, numbers are numbers, unknown is null."""

import json

from ullage.standing import building_of, status_of
from ullage.v1 import building_pb2, run_pb2
from ullage_server.cli.as_json import as_json


def test_a_run_is_told_whole() -> None:
    run = run_pb2.Run(run_id="a", state=run_pb2.RUN_STATE_ACTIVE, sounded=run_pb2.SOUNDED_HANDOVER)
    run.plan.labels.update({"b": "2", "a": "1"})
    run.plan.context_rearm = 2
    run.plan.time_budget.FromMilliseconds(1500)
    run.reading.used_tokens = 2**53 - 1
    run.start_time.FromJsonString("2026-10-09T05:23:00Z")
    run.update_time.FromJsonString("2026-10-09T05:23:00.25Z")
    told = json.loads(json.dumps(as_json(status_of(run))))
    assert list(told) == [field.name for field in run.DESCRIPTOR.fields]
    assert list(told["plan"]) == [field.name for field in run.plan.DESCRIPTOR.fields]
    assert (told["state"], told["sounded"], told["plan"]["context_rearm"]) == ("active", "handover", "per_window")
    assert told["reading"]["used_tokens"] == 2**53 - 1
    assert told["reading"]["percent"] is None
    assert list(told["plan"]["labels"].items()) == [("a", "1"), ("b", "2")]
    assert told["plan"]["time_budget"] == 1.5
    assert (told["start_time"], told["finish_time"], told["origin"]) == ("2026-10-09T05:23:00Z", None, None)
    assert told["update_time"] == "2026-10-09T05:23:00.250000Z"


def test_lists_of_values_are_lists_of_objects() -> None:
    building = building_pb2.Building(address="lab")
    building.stated.add(key="clock.zone", value="UTC", source="lab")
    told = as_json(building_of(building))
    assert list(told) == [field.name for field in building.DESCRIPTOR.fields]
    assert told["stated"] == [{"key": "clock.zone", "value": "UTC", "source": "lab"}]
    assert told["settled"] == []
    assert told["update_time"] is None
