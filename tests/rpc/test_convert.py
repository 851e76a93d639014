"""What core holds is shown on the wire as it is: plans, records, readings, insertions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.kept import insertions, moments, plans, readings, records, settled, stated_plans, verdicts
from ullage.v1 import exchange_pb2, insertion_pb2, ledger_pb2, plan_pb2, run_pb2
from ullage_server.convert.exchange import verdicts_to
from ullage_server.convert.gauge import insertion_to, reading_to, sounded_to
from ullage_server.convert.ledger import record_to
from ullage_server.convert.plan import plan_to, settled_to, stated_from, stated_to
from ullage_server.convert.run import origin_to
from ullage_server.convert.times import from_duration, to_duration, to_timestamp
from ullage_server.core.domain import MAX_INT32
from ullage_server.core.exchange.verdict import TextVerdict
from ullage_server.core.gauge import Reading, Sounded
from ullage_server.core.insertion import Insertion, InsertionKind, Lifetime, Placement
from ullage_server.core.plan import Plan, Settled, Stated
from ullage_server.core.records import (
    CallPrepared,
    ExchangeCompacted,
    Record,
    RunFinished,
    RunForked,
    RunStarted,
    UsageObserved,
    WindowReset,
)
from ullage_server.core.settings import KEYS
from ullage_server.core.state import State


@given(plans)
def test_a_frozen_plan_is_shown_as_it_is(plan: Plan) -> None:
    shown = plan_to(plan)
    # Every value of a frozen plan is stated by it.
    back = stated_from(shown)
    for field in (
        "address",
        "agent",
        "session_id",
        "subagent",
        "model",
        "context_tokens",
        "time_budget",
        "labels",
    ):
        assert getattr(back, field) == getattr(plan, field)
    assert back.settings == {name: getattr(plan.settings, key.plan_field) for name, key in KEYS.items()}
    assert shown.exchange_rules == plan.exchange_rules


@given(stated_plans)
def test_what_was_stated_comes_back(stated: Stated) -> None:
    assert stated_from(plan_pb2.RunPlan.FromString(stated_to(stated).SerializeToString())) == stated


@given(settled)
def test_settled_values_are_shown_in_their_order(values: tuple[Settled, ...]) -> None:
    assert tuple(Settled(one.key, one.value, one.source) for one in settled_to(values)) == values


@given(readings)
def test_a_reading_shows_what_follows_from_it(reading: Reading) -> None:
    shown = reading_to(reading)
    assert (shown.turn, shown.used_tokens, shown.context_tokens) == (
        reading.turn,
        reading.used_tokens,
        reading.context_tokens,
    )
    assert (shown.counted_as, shown.stale) == (reading.counted_as, reading.stale)
    known = reading.context_tokens > 0
    assert shown.HasField("percent") == shown.HasField("remaining_tokens") == known
    if known:
        assert shown.percent == min(reading.used_tokens * 100 // reading.context_tokens, MAX_INT32)
        assert shown.remaining_tokens == max(reading.context_tokens - reading.used_tokens, 0)
    assert shown.window_exceeded == (known and reading.used_tokens > reading.context_tokens)
    assert shown.HasField("projected_tokens") == (reading.projected_tokens is not None)
    if reading.projected_tokens is not None:
        assert shown.projected_tokens == reading.projected_tokens


@given(insertions)
def test_an_insertion_is_shown_whole(insertion: Insertion) -> None:
    shown = insertion_to(insertion)
    assert insertion == Insertion(
        shown.id,
        tuple(shown.keys),
        InsertionKind(shown.kind),
        Placement(shown.placement),
        Lifetime(shown.lifetime),
        shown.text,
        shown.estimated_tokens,
    )


@given(records)
def test_a_record_is_shown_with_all_it_holds(record: Record) -> None:
    shown = record_to(record)
    assert (shown.position, shown.at.ToNanoseconds()) == (record.position, record.at)
    if isinstance(record, RunStarted):
        assert shown.run_started.stated == stated_to(record.stated)
        assert shown.run_started.plan == plan_to(record.plan)
        assert list(shown.run_started.settled) == settled_to(record.settled)
    elif isinstance(record, UsageObserved):
        told = shown.usage_observed
        assert (told.turn, told.window_reset, told.opens_window, told.model) == (
            record.turn,
            record.window_reset,
            record.opens_window,
            record.model,
        )
        for field, value in (
            ("context_tokens", record.context_tokens),
            ("found_context_tokens", record.found_context_tokens),
        ):
            assert (getattr(told, field) if told.HasField(field) else None) == value
        assert told.HasField("usage") == (record.usage is not None)
        if record.usage is not None:
            output = told.usage.output_tokens if told.usage.HasField("output_tokens") else None
            assert (told.usage.prompt_tokens, output, told.usage.counted_as) == (
                record.usage.prompt_tokens,
                record.usage.output_tokens,
                record.usage.counted_as,
            )
        assert (told.reading if told.HasField("reading") else None) == (
            record.reading and reading_to(record.reading)
        )
        reminder = told.reminder if told.HasField("reminder") else None
        assert reminder == (record.reminder and insertion_to(record.reminder))
        assert told.sounded == sounded_to(record.sounded)
    elif isinstance(record, RunForked):
        begun = shown.run_forked
        assert (begun.stated, begun.plan) == (stated_to(record.stated), plan_to(record.plan))
        assert list(begun.settled) == settled_to(record.settled)
        assert begun.origin == origin_to(record.origin)
        assert_state_is_shown(record.inherited, begun.inherited)
    elif isinstance(record, ExchangeCompacted):
        compacted = shown.exchange_compacted
        for field in (
            "turn",
            "source_digest",
            "result_digest",
            "source_bytes",
            "result_bytes",
            "over_budget",
        ):
            assert getattr(compacted, field) == getattr(record, field)
        assert list(compacted.verdicts) == verdicts_to(record.verdicts)
    elif isinstance(record, CallPrepared):
        prepared = shown.call_prepared
        assert list(prepared.insertions) == list(map(insertion_to, record.insertions))
        assert list(prepared.unplaced_ids) == list(record.unplaced_ids)
        for field in ("turn", "step", "window_reset", "model"):
            assert getattr(prepared, field) == getattr(record, field)
        for field in ("context_tokens", "found_context_tokens"):
            assert (getattr(prepared, field) if prepared.HasField(field) else None) == getattr(record, field)
        left = prepared.time_remaining.ToNanoseconds() if prepared.HasField("time_remaining") else None
        assert left == record.time_remaining
    elif isinstance(record, WindowReset):
        reset = shown.window_reset
        assert (reset.turn, reset.taken_back) == (record.turn, record.taken_back)
    else:
        assert isinstance(record, RunFinished)
        assert (shown.WhichOneof("happened"), shown.run_finished.outcome) == ("run_finished", record.outcome)


def assert_state_is_shown(state: State, shown: ledger_pb2.FoldedRun) -> None:
    assert shown.sounded == sounded_to(state.sounded)
    assert (shown.reading if shown.HasField("reading") else None) == (state.reading and reading_to(state.reading))
    assert (shown.origin if shown.HasField("origin") else None) == (state.origin and origin_to(state.origin))
    for field, value in (
        ("last_observed_turn", state.last_observed),
        ("last_compacted_turn", state.last_compacted),
        *((same, getattr(state, same)) for same in _SAME_NAME),
    ):
        assert getattr(shown, field) == value
    assert shown.start_time.ToNanoseconds() == state.start_time
    assert shown.update_time.ToNanoseconds() == state.update_time
    assert shown.HasField("finish_time") == (state.finish_time is not None)
    assert shown.finish_time.ToNanoseconds() == (state.finish_time or 0)
    assert run_pb2.RunState.Name(shown.state) == ("RUN_STATE_FINISHED" if state.finished else "RUN_STATE_ACTIVE")


_SAME_NAME = (
    "context_tokens",
    "last_reset_turn",
    "window_epoch",
    "outcome",
    "insertions_given",
    "insertion_tokens",
    "dropped_bytes",
)


@given(verdicts)
def test_a_verdict_is_shown_as_it_is(verdict: TextVerdict) -> None:
    (shown,) = verdicts_to([verdict])
    for field in ("in_results", "block", "part", "source_bytes", "result_bytes", "dropped_bytes"):
        assert getattr(shown, field) == getattr(verdict, field)
    content = "UNSPECIFIED" if verdict.content is None else verdict.content.name
    assert exchange_pb2.ContentClass.Name(shown.content) == f"CONTENT_CLASS_{content}"
    assert exchange_pb2.TextOutcome.Name(shown.outcome) == f"TEXT_OUTCOME_{verdict.outcome.name}"


@given(moments, st.integers(0, 315_576_000_000 * 10**9))
def test_times_keep_their_nanoseconds(moment: int, length: int) -> None:
    assert to_timestamp(moment).nanos < 10**9
    assert to_timestamp(moment).ToNanoseconds() == moment
    assert from_duration("f", to_duration(length)) == length
    assert to_duration(length).ToNanoseconds() == length


@pytest.mark.parametrize("kind", [InsertionKind, Placement, Lifetime])
def test_enums_are_numbered_as_on_the_wire(kind: type[InsertionKind | Placement | Lifetime]) -> None:
    wire = getattr(insertion_pb2, kind.__name__)
    prefix = wire.Name(0).removesuffix("UNSPECIFIED")
    assert {f"{prefix}{value.name}": value.value for value in kind} | {wire.Name(0): 0} == dict(wire.items())


@pytest.mark.parametrize("sounded", Sounded)
def test_what_has_sounded_is_named_as_on_the_wire(sounded: Sounded) -> None:
    assert run_pb2.Sounded.Name(sounded_to(sounded)) == f"SOUNDED_{sounded.name}"
