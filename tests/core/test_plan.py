import pytest
from msgspec.structs import replace

from tests.core.runs import NOTHING_STATED
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.names import rungs_of
from ullage_server.core.plan import Settled, Stated, check_stated, find_window, freeze
from ullage_server.core.rung import Rung
from ullage_server.core.settings import KEYS, Rearm

ZONES = frozenset({"UTC", "Europe/Berlin"})


def nobody(model: str) -> int | None:
    return None


def test_where_nobody_says_anything_each_value_is_a_default() -> None:
    frozen = freeze("r", NOTHING_STATED, [], nobody)
    assert {one.source for one in frozen.settled} == {"default"}
    assert [one.key for one in frozen.settled] == [*KEYS, "context_tokens"]
    assert frozen.plan.session_id == "r"
    assert frozen.plan.settings.second_threshold == 65
    assert Settled("context.rearm", "per_run", "default") in frozen.settled
    assert Settled("notices.include_subagents", "true", "default") in frozen.settled


def test_the_nearest_rung_that_states_a_key_gives_it() -> None:
    rungs = [
        Rung("lab/ada", {"context.second_threshold": 50}, {}),
        Rung("lab", {"context.second_threshold": 40, "notices.every_steps": 0}, {}),
        Rung("", {"clock.zone": "Europe/Berlin", "notices.every_steps": 7}, {}),
    ]
    frozen = freeze("r", NOTHING_STATED, rungs, nobody)
    assert Settled("context.second_threshold", "50", "lab/ada") in frozen.settled
    assert Settled("notices.every_steps", "0", "lab") in frozen.settled, "zero is a statement"
    assert Settled("clock.zone", "Europe/Berlin", "city") in frozen.settled
    stated = replace(NOTHING_STATED, settings={"context.second_threshold": 60})
    assert Settled("context.second_threshold", "60", "run") in freeze("r", stated, rungs, nobody).settled


def test_the_window_is_stated_or_the_ladders_or_the_catalogues_or_unknown() -> None:
    rungs = [Rung("lab", {}, {"m": 10}), Rung("", {}, {"m": 20, "n": 30})]

    def catalogue(model: str) -> int | None:
        return 40 if model == "o" else None

    def window(**changes: object) -> tuple[int, str]:
        frozen = freeze("r", replace(NOTHING_STATED, **changes), rungs, catalogue)  # type: ignore[arg-type]
        return frozen.plan.context_tokens, frozen.settled[-1].source

    assert window(context_tokens=5, model="m") == (5, "run")
    assert window(model="m") == (10, "lab")
    assert window(model="n") == (30, "city")
    assert window(model="o") == (40, "catalogue")
    assert window(model="p") == (0, "default")
    assert find_window("", rungs, catalogue) is None


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"address": "A"}, "plan.address"),
        ({"address": "a/b/c"}, "plan.address"),
        ({"address": "a\n"}, "plan.address"),
        ({"agent": "two words"}, "plan.agent"),
        ({"session_id": "s\n"}, "plan.session_id"),
        ({"parent_session_id": "p/q"}, "plan.parent_session_id"),
        ({"model": "m" * 257}, "plan.model"),
        ({"context_tokens": -1}, "plan.context_tokens"),
        ({"context_tokens": 2**53}, "plan.context_tokens"),
        ({"time_budget": 0}, "plan.time_budget"),
        ({"labels": {str(n): "" for n in range(17)}}, "plan.labels"),
        ({"labels": {"": "x"}}, "plan.labels"),
        ({"labels": {"k": "a\x00"}}, "plan.labels"),
        ({"settings": {"context.finishing_act": "no way"}}, "plan.context_finishing_act"),
        ({"settings": {"exchange.budget_bytes": -1}}, "plan.exchange_budget_bytes"),
        ({"settings": {"notices.every_steps": -1}}, "plan.notices_every_steps"),
        ({"settings": {"reminders.budget_chars": 2**31}}, "plan.reminders_budget_chars"),
        ({"settings": {"clock.zone": "Mars/Olympus"}}, "plan.clock_zone"),
    ],
)
def test_what_is_stated_outside_its_domain_is_refused_by_its_field(change: dict[str, object], field: str) -> None:
    with pytest.raises(Refusal) as caught:
        check_stated(replace(NOTHING_STATED, **change), ZONES)  # type: ignore[arg-type]
    assert caught.value.reason is Reason.ARGUMENT_INVALID
    assert caught.value.field == field


def test_a_second_threshold_outside_its_domain_names_the_plans_field() -> None:
    with pytest.raises(Refusal) as caught:
        check_stated(replace(NOTHING_STATED, settings={"context.second_threshold": 91}), ZONES)
    assert caught.value.reason is Reason.THRESHOLD_OUT_OF_DOMAIN
    assert caught.value.field == "plan.second_threshold"


def test_a_parsed_statement_is_the_same_however_often_it_is_parsed() -> None:
    stated: Stated = replace(NOTHING_STATED, settings={"context.rearm": "per_window", "clock.zone": "UTC"})
    once = check_stated(stated, ZONES)
    assert once.settings["context.rearm"] is Rearm.PER_WINDOW
    assert check_stated(once, ZONES) == once


@pytest.mark.parametrize(
    ("address", "rungs"), [("", [""]), ("lab", ["lab", ""]), ("lab/ada", ["lab/ada", "lab", ""])]
)
def test_the_rungs_of_an_address(address: str, rungs: list[str]) -> None:
    assert rungs_of(address) == rungs
