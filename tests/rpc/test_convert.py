"""What goes into the ledger comes out of it as it was: plans, records, readings, insertions, over their bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rpc.wire_bytes import bytes_field, number_field
from ullage.v1 import insertion_pb2, ledger_pb2, plan_pb2, reading_pb2, run_pb2
from ullage_server.convert.gauge import insertion_from, insertion_to, reading_from, reading_to, sounded_to
from ullage_server.convert.ledger import KINDS, decode_record, encode_record, turn_of
from ullage_server.convert.plan import (
    plan_from,
    plan_to,
    settled_from,
    settled_to,
    stated_from,
    stated_to,
)
from ullage_server.convert.times import from_duration, from_timestamp, put_timestamp, to_duration, to_timestamp
from ullage_server.core.domain import MAX_INT32, MAX_TOKENS
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.gauge import Reading, Sounded
from ullage_server.core.insertion import Insertion, InsertionKind, Lifetime, Placement
from ullage_server.core.plan import Plan, Settled, Stated
from ullage_server.core.records import Record, RunFinished, RunStarted, UsageObserved
from ullage_server.core.settings import Rearm, Settings
from ullage_server.core.usage import CountedUsage

# What core may hold in each place.
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
names = st.text("abcXYZ019._:-", min_size=1, max_size=128)
name_or_none = st.just("") | names
tokens = st.integers(0, MAX_TOKENS) | st.sampled_from([0, 1, MAX_TOKENS])
counts = st.integers(0, MAX_INT32)
turns = st.integers(1, MAX_INT32)
moments = st.integers(0, 253_402_300_799 * 10**9)  # to the end of the year 9999
budgets = st.none() | st.integers(1, 315_576_000_000 * 10**9)
labels = st.dictionaries(words, words, max_size=16)
settings = st.builds(
    Settings,
    second_threshold=st.integers(31, 90),
    context_rearm=st.sampled_from(Rearm),
    context_finishing_act=names,
    exchange_budget_bytes=tokens,
    notices_every_steps=counts,
    notices_include_subagents=st.booleans(),
    reminders_budget_chars=counts,
    clock_zone=names,
)
plans = st.builds(
    Plan,
    address=words,
    agent=name_or_none,
    session_id=names,
    parent_session_id=name_or_none,
    subagent=st.booleans(),
    model=words,
    context_tokens=tokens,
    time_budget=budgets,
    exchange_rules=turns,
    labels=labels,
    settings=settings,
)
# A 0 and a false are statements; an empty text is none.
stated_settings = st.fixed_dictionaries(
    {},
    optional={
        "context.second_threshold": st.integers(31, 90),
        "context.rearm": st.sampled_from(Rearm),
        "context.finishing_act": names,
        "exchange.budget_bytes": tokens,
        "notices.every_steps": counts,
        "notices.include_subagents": st.booleans(),
        "reminders.budget_chars": counts,
        "clock.zone": names,
    },
)
stated_plans = st.builds(
    Stated,
    address=words,
    agent=name_or_none,
    session_id=name_or_none,
    parent_session_id=name_or_none,
    subagent=st.booleans(),
    model=words,
    context_tokens=tokens,
    time_budget=budgets,
    labels=labels,
    settings=stated_settings,
)
settled = st.lists(st.builds(Settled, key=words, value=words, source=words), max_size=9).map(tuple)
readings = st.builds(
    Reading,
    turn=turns,
    used_tokens=st.integers(1, MAX_TOKENS),
    context_tokens=tokens,
    projected_tokens=st.none() | tokens,
    counted_as=words,
    stale=st.booleans(),
)
insertions = st.builds(
    Insertion,
    id=words,
    keys=st.lists(words, max_size=3).map(tuple),
    kind=st.sampled_from(InsertionKind),
    placement=st.sampled_from(Placement),
    lifetime=st.sampled_from(Lifetime),
    text=words,
    estimated_tokens=counts,
)
usages = st.builds(
    CountedUsage,
    prompt_tokens=st.integers(1, MAX_TOKENS),
    output_tokens=st.none() | tokens,
    counted_as=words,
)
records: st.SearchStrategy[Record] = st.one_of(
    st.builds(
        RunStarted,
        position=turns,
        at=moments,
        run_id=st.just("r"),
        stated=stated_plans,
        plan=plans,
        settled=settled,
    ),
    st.builds(
        UsageObserved,
        position=turns,
        at=moments,
        turn=turns,
        usage=st.none() | usages,
        window_reset=st.booleans(),
        opens_window=st.booleans(),
        model=words,
        context_tokens=st.none() | tokens,
        found_context_tokens=st.none() | tokens,
        reminder=st.none() | insertions,
        reading=st.none() | readings,
        sounded=st.sampled_from(Sounded),
    ),
    st.builds(RunFinished, position=turns, at=moments, outcome=words),
)


@given(plans)
def test_a_frozen_plan_comes_back(plan: Plan) -> None:
    assert plan_from(plan_pb2.RunPlan.FromString(plan_to(plan).SerializeToString())) == plan


@given(stated_plans)
def test_what_was_stated_comes_back(stated: Stated) -> None:
    assert stated_from(plan_pb2.RunPlan.FromString(stated_to(stated).SerializeToString())) == stated


@given(settled)
def test_settled_values_come_back(values: tuple[Settled, ...]) -> None:
    assert settled_from(settled_to(values)) == values


@given(readings)
def test_a_reading_comes_back_and_shows_what_follows_from_it(reading: Reading) -> None:
    shown = reading_pb2.ContextReading.FromString(reading_to(reading).SerializeToString())
    assert reading_from(shown) == reading
    known = reading.context_tokens > 0
    assert shown.HasField("percent") == shown.HasField("remaining_tokens") == known
    if known:
        assert shown.percent == min(reading.used_tokens * 100 // reading.context_tokens, MAX_INT32)
        assert shown.remaining_tokens == max(reading.context_tokens - reading.used_tokens, 0)
    assert shown.window_exceeded == (known and reading.used_tokens > reading.context_tokens)
    assert shown.HasField("projected_tokens") == (reading.projected_tokens is not None)


@given(insertions)
def test_an_insertion_comes_back(insertion: Insertion) -> None:
    assert (
        insertion_from(insertion_pb2.Insertion.FromString(insertion_to(insertion).SerializeToString()))
        == insertion
    )


@given(records)
def test_a_record_comes_back_from_its_bytes(record: Record) -> None:
    payload = encode_record(record)
    assert decode_record("r", payload) == record
    shown = ledger_pb2.LedgerRecord.FromString(payload)
    assert shown.WhichOneof("happened") == KINDS[type(record)]
    assert shown.position == record.position
    assert shown.at.ToNanoseconds() == record.at
    assert turn_of(record) == (record.turn if isinstance(record, UsageObserved) else 0)


@given(records)
def test_fields_that_a_newer_server_adds_to_a_kind_do_not_hinder(record: Record) -> None:
    assert decode_record("r", encode_record(record) + number_field(900, 1)) == record


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        number_field(1, 2),
        number_field(1, 2) + bytes_field(2000, b"\x08\x01"),
        ledger_pb2.LedgerRecord(position=2, run_forked=ledger_pb2.RunForked()).SerializeToString(),
        ledger_pb2.LedgerRecord(position=2, window_reset=ledger_pb2.WindowReset(turn=1)).SerializeToString(),
        ledger_pb2.LedgerRecord(position=2, exchange_compacted=ledger_pb2.ExchangeCompacted()).SerializeToString(),
        ledger_pb2.LedgerRecord(position=2, call_prepared=ledger_pb2.CallPrepared()).SerializeToString(),
        b"\xff\xff\xff",
    ],
    ids=["nothing", "no kind", "a newer kind", "a fork", "a reset", "an exchange", "a preparation", "garbage"],
)
def test_a_record_of_an_unknown_kind_is_never_skipped(payload: bytes) -> None:
    with pytest.raises(Refusal) as caught:
        decode_record("r", payload)
    assert caught.value.reason is Reason.RECORD_UNKNOWN
    assert caught.value.subject == "run r"


@given(moments, st.integers(0, 315_576_000_000 * 10**9))
def test_times_keep_their_nanoseconds(moment: int, length: int) -> None:
    assert from_timestamp(to_timestamp(moment)) == moment
    put = to_timestamp(0)
    put_timestamp(put, moment)
    assert put == to_timestamp(moment)
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
