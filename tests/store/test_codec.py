"""What goes into the ledger comes out of it as it was, in this version and in those to come."""

import pytest
from hypothesis import given
from msgspec import msgpack

from tests.core.kept import records, states
from tests.core.runs import report, started, stated
from ullage.v1 import ledger_pb2
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.exchange.classes import ContentClass
from ullage_server.core.exchange.plan import Outcome
from ullage_server.core.exchange.verdict import TextVerdict
from ullage_server.core.fold import fold
from ullage_server.core.observe import observe
from ullage_server.core.records import ExchangeCompacted, Record
from ullage_server.core.state import State
from ullage_server.store.codec import (
    KINDS,
    decode_record,
    decode_state,
    encode_plan,
    encode_record,
    encode_state,
    turn_of,
)


@given(records)
def test_a_record_comes_back_from_its_bytes(record: Record) -> None:
    assert decode_record("r", encode_record(record)) == record
    assert turn_of(record) == getattr(record, "turn", 0)


def test_every_kind_is_named_as_on_the_wire() -> None:
    fields = {field.name for field in ledger_pb2.LedgerRecord.DESCRIPTOR.oneofs_by_name["happened"].fields}
    assert set(KINDS.values()) <= fields


def test_a_record_is_written_as_it_was_written_first() -> None:
    """What is stored is read for ever: a change of these bytes is a change of every ledger there is."""
    run = started(stated(window=1000))
    record = observe(run, report(1, 305, output=5), None, None, at=7)
    assert msgpack.decode(encode_record(record)) == [
        "usage_observed",
        2,
        7,
        1,
        [305, 5, "input"],
        False,
        False,
        "",
        None,
        None,
        [
            "1/context/first",
            ["context/first"],
            1,
            2,
            2,
            "[context] 30% of the window used (305 of 1000 input tokens).",
            15,
        ],
        [1, 305, 1000, 310, "input", False],
        2,
    ]


def test_a_compacted_exchange_is_written_as_it_was_written_first() -> None:
    verdict = TextVerdict(True, 1, 0, ContentClass.LOG, Outcome.CUT, 40_000, 16_384, 23_640)
    kept = TextVerdict(False, 0, 0, None, Outcome.KEPT, 5, 5, 0)
    record = ExchangeCompacted(2, 7, 1, b"s" * 32, b"r" * 32, 40_005, 16_389, False, (kept, verdict))
    assert msgpack.decode(encode_record(record)) == [
        "exchange_compacted",
        2,
        7,
        1,
        b"s" * 32,
        b"r" * 32,
        40_005,
        16_389,
        False,
        [[False, 0, 0, None, 1, 5, 5, 0], [True, 1, 0, 4, 2, 40_000, 16_384, 23_640]],
    ]


@given(states)
def test_a_state_comes_back_from_its_bytes(state: State) -> None:
    assert decode_state(state.run_id, encode_plan(state), encode_state(state)) == state


def longer(record: Record) -> bytes:
    """`record` as a newer server might write it, with a field that is not known yet."""
    return msgpack.encode([*msgpack.decode(encode_record(record)), "more"])


@pytest.mark.parametrize(
    "payload",
    [b"", msgpack.encode(["moon_risen", 2, 7]), msgpack.encode([]), msgpack.encode({}), b"\xff\xff\xff"],
    ids=["nothing", "a newer kind", "an empty list", "no list", "garbage"],
)
def test_a_record_of_an_unknown_kind_is_never_skipped(payload: bytes) -> None:
    with pytest.raises(Refusal) as caught:
        decode_record("r", payload)
    assert caught.value.reason is Reason.RECORD_UNKNOWN
    assert caught.value.subject == "run r"


@given(records)
def test_a_record_with_a_field_that_a_newer_server_added_is_not_read_in_part(record: Record) -> None:
    with pytest.raises(Refusal) as caught:
        decode_record("r", longer(record))
    assert caught.value.reason is Reason.RECORD_UNKNOWN


def test_a_state_that_cannot_be_read_is_none() -> None:
    run = fold(started(), observe(started(), report(1, 5), None, None, at=7))
    for state in (b"", b"of another time", msgpack.encode([1, 2, 3])):
        assert decode_state("r", encode_plan(run), state) is None
