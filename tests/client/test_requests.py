"""What the caller says, as the wire's requests."""

from datetime import timedelta
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from ullage import BuildingChanges, StatedPlan, requests
from ullage.v1 import building_pb2, building_service_pb2, plan_pb2, run_service_pb2, usage_pb2


def test_a_plan_that_states_nothing_is_empty() -> None:
    assert requests.start_run("r1", {}).request == run_service_pb2.StartRunRequest(
        run_id="r1", plan=plan_pb2.RunPlan()
    )
    nothing: Any = dict.fromkeys(StatedPlan.__annotations__)
    assert requests.start_run("r1", nothing).request == requests.start_run("r1", {}).request


def test_a_plan_goes_as_it_is_stated() -> None:
    plan: StatedPlan = {
        "address": "lab/alice",
        "agent": "a",
        "session_id": "s",
        "parent_session_id": "p",
        "subagent": True,
        "model": "m",
        "context_tokens": 200_000,
        "second_threshold": 0,
        "context_rearm": "per_window",
        "context_finishing_act": "done",
        "notices_every_steps": 0,
        "notices_include_subagents": False,
        "time_budget": 90.25,
        "exchange_budget_bytes": 0,
        "reminders_budget_chars": 0,
        "clock_zone": "Europe/Berlin",
        "labels": {"team": "blue"},
    }
    assert set(plan) == set(StatedPlan.__annotations__)
    sent = requests.start_run("r1", plan).request.plan
    assert sent == plan_pb2.RunPlan(
        address="lab/alice",
        agent="a",
        session_id="s",
        parent_session_id="p",
        subagent=True,
        model="m",
        context_tokens=200_000,
        second_threshold=0,
        context_rearm=plan_pb2.REARM_PER_WINDOW,
        context_finishing_act="done",
        notices_every_steps=0,
        notices_include_subagents=False,
        time_budget=Duration(seconds=90, nanos=250_000_000),
        exchange_budget_bytes=0,
        reminders_budget_chars=0,
        clock_zone="Europe/Berlin",
        labels={"team": "blue"},
    )
    assert sent.HasField("second_threshold")
    assert sent.HasField("notices_include_subagents")


def test_the_plan_has_every_field_of_the_wire_that_a_caller_may_state() -> None:
    assert {field.name for field in plan_pb2.RunPlan.DESCRIPTOR.fields} - {"exchange_rules"} == set(
        StatedPlan.__annotations__
    )
    assert {field.name for field in building_pb2.ConfigureBuilding.DESCRIPTOR.fields} - {"address"} == set(
        BuildingChanges.__annotations__
    )


@pytest.mark.parametrize("budget", [timedelta(minutes=2), 120, 120.0])
def test_a_time_budget_is_a_timedelta_or_seconds(budget: timedelta | float) -> None:
    assert requests.start_run("r1", {"time_budget": budget}).request.plan.time_budget == Duration(seconds=120)


def test_an_argument_that_does_not_exist_is_refused_by_name() -> None:
    wrong: Any = {"secnd_threshold": 50}
    with pytest.raises(TypeError, match=r"start_run\(\) got an unexpected keyword argument 'secnd_threshold'"):
        requests.start_run("r1", wrong)
    with pytest.raises(TypeError, match=r"configure_building\(\) got an unexpected"):
        requests.configure_building("", wrong, request_id="i", etag="", validate_only=False)


def test_a_word_that_does_not_exist_is_refused_with_those_that_do() -> None:
    wrong: Any = {"context_rearm": "never"}
    with pytest.raises(ValueError, match="'per_run', 'per_window'; not 'never'"):
        requests.start_run("r1", wrong)


def test_a_report_goes_as_it_is_told() -> None:
    asked = requests.observe_usage(
        "r1", 3, {"prompt_tokens": 5}, window_reset=True, model="m", context_tokens=0, dialect="openai_chat"
    )
    assert asked.request == run_service_pb2.ObserveUsageRequest(
        run_id="r1",
        report=usage_pb2.TurnReport(
            turn=3,
            provider_usage=usage_pb2.ProviderUsage(
                dialect=usage_pb2.DIALECT_OPENAI_CHAT, json='{"prompt_tokens":5}'
            ),
            window_reset=True,
            model="m",
            context_tokens=0,
        ),
    )
    assert asked.request.report.HasField("context_tokens")
    assert asked.subject == "run r1, turn 3"
    nothing = requests.observe_usage(
        "r1", 1, None, window_reset=False, model="", context_tokens=None, dialect=None
    ).request.report
    assert nothing == usage_pb2.TurnReport(turn=1)


def test_a_command_states_what_is_given_and_no_more() -> None:
    changes: BuildingChanges = {
        "context_second_threshold": 50,
        "context_rearm": "per_run",
        "clock_zone": None,
        "models": {"m": 5},
        "reset": ["notices.every_steps", "models.x"],
    }
    asked = requests.configure_building("lab", changes, request_id="i", etag="e", validate_only=True)
    assert asked.request == building_service_pb2.ConfigureBuildingRequest(
        command=building_pb2.ConfigureBuilding(
            address="lab",
            context_second_threshold=50,
            context_rearm=plan_pb2.REARM_PER_RUN,
            models={"m": 5},
            reset=["notices.every_steps", "models.x"],
        ),
        request_id="i",
        etag="e",
        validate_only=True,
    )
    assert not asked.request.command.HasField("clock_zone")
    assert asked.subject == "building lab"
    assert requests.get_building("").subject == "the city"


def test_one_string_is_no_sequence_of_keys() -> None:
    with pytest.raises(TypeError, match="not one string"):
        requests.configure_building("", {"reset": "models"}, request_id="i", etag="", validate_only=False)


@pytest.mark.parametrize("budget", ["90", float("nan"), float("inf"), 10**30, None.__class__])
def test_a_time_budget_that_is_no_time_is_named(budget: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^time_budget is a timedelta or a number of seconds; not "):
        requests.start_run("r1", {"time_budget": budget})


@pytest.mark.parametrize("text", ["\udcff", "a\ud800b"])
def test_a_text_that_utf8_does_not_hold_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"^run_id takes a text that can be written in UTF-8; not "):
        requests.get_run(text)
    with pytest.raises(ValueError, match=r"^labels takes "):
        requests.list_runs("", None, {"a": text})


def test_a_number_too_long_to_show_is_refused_all_the_same() -> None:
    with pytest.raises(ValueError, match=r"^context_tokens takes a whole number of 64 bits; not one of type int"):
        requests.start_run("r1", {"context_tokens": 10**5000})


@pytest.mark.parametrize("wrong", [{"etag": 5}, {"request_id": 5}, {"validate_only": "yes"}])
def test_an_argument_of_a_command_is_named(wrong: Any) -> None:
    (name,) = wrong
    with pytest.raises(TypeError, match=f"^{name} takes "):
        requests.configure_building("", {}, **{"request_id": "i", "etag": "", "validate_only": False} | wrong)
