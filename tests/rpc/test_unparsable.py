"""What is no request at all: garbled, cut short, too large, or of an RPC that is not there."""

import random
from collections.abc import Iterator

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor as Field

from tests.rpc.calls import RPCS, Answer, Wire
from tests.rpc.fields import entry_of, holder, name_of, ways, with_field
from tests.rpc.good_requests import GOOD
from tests.rpc.hostile import MIB, NO_TEXTS
from tests.rpc.recorded import Records
from tests.rpc.refusals import DUE_TO_THE_REQUEST, faults_of
from tests.rpc.refused_values import LARGE
from tests.rpc.wire_bytes import LENGTH_DELIMITED, VARINT, bytes_field, number_field, tag, varint
from ullage_server.rpc.parsing import MAX_RECEIVED_BYTES


def is_unparsable(answer: Answer) -> bool:
    """Whether an answer says, as it should, that the request does not parse."""
    said = answer.reason == "ARGUMENT_INVALID" and "the request is no" in answer.message
    return said and not answer.violations and not faults_of(answer)


def garbled(rpc: str) -> Iterator[tuple[str, bytes]]:
    """Bytes that are no message of any kind."""
    yield "a tag and no value", b"\x0a"
    yield "a length beyond the end", b"\x0a\x7fa"
    yield "a length beyond 2^31", tag(1, LENGTH_DELIMITED) + varint(2**31) + b"a"
    yield "a length of 2^64-1", tag(1, LENGTH_DELIMITED) + varint(-1)
    yield "a varint without end", tag(900, VARINT) + b"\xff" * 11
    yield "field 0", number_field(0, 1)
    yield "a group without end", tag(900, 3)
    yield "a group's end alone", tag(900, 4)
    yield "wire type 6", tag(900, 6)
    yield "wire type 7", tag(900, 7)
    yield "groups a thousand deep", tag(900, 3) * 1000 + tag(900, 4) * 1000
    yield "text", b"GET / HTTP/1.1\r\n\r\n"
    yield "JSON", b'{"run_id": "r"}'


@pytest.mark.parametrize("rpc", GOOD)
def test_what_does_not_parse_is_an_invalid_argument(rpc: str, wire: Wire, records: Records) -> None:
    before = records.now()
    told = {name: wire.send(rpc, data) for name, data in garbled(rpc)}
    assert {name: answer.message for name, answer in told.items() if not is_unparsable(answer)} == {}
    assert records.now() == before


@pytest.mark.parametrize("rpc", GOOD)
def test_a_message_cut_short_is_read_as_far_as_it_goes_or_refused(rpc: str, wire: Wire) -> None:
    for make in GOOD[rpc]:
        whole = make(wire).SerializeToString()
        for end in range(len(whole)):
            answer = wire.send(rpc, whole[:end])
            if answer.code is not grpc.StatusCode.OK:
                assert answer.reason in DUE_TO_THE_REQUEST, whole[:end]
                assert faults_of(answer) == [], whole[:end]


@pytest.mark.parametrize("rpc", GOOD)
def test_random_bytes_are_refused_by_a_documented_reason(rpc: str, wire: Wire, records: Records) -> None:
    chance = random.Random(rpc)
    good = GOOD[rpc][0](wire).SerializeToString()
    for _ in range(300):
        if chance.random() < 0.5:
            data = chance.randbytes(chance.randrange(1, 80))
        else:  # a good request, a few of whose bytes are not as they were
            changed = bytearray(good)
            for _ in range(chance.randrange(1, 4)):
                changed[chance.randrange(len(changed))] = chance.randrange(256)
            data = bytes(changed)
        before = records.now()
        answer = wire.send(rpc, data)
        if answer.code is not grpc.StatusCode.OK:
            assert answer.reason in DUE_TO_THE_REQUEST, data
            assert faults_of(answer) == [], data
            assert records.now() == before


@pytest.mark.parametrize("rpc", GOOD)
def test_a_text_that_is_no_utf8_is_refused_in_every_field(rpc: str, wire: Wire, records: Records) -> None:
    tried = 0
    for way in ways(RPCS[rpc].input_type):
        if way[-1].type != Field.TYPE_STRING:
            continue
        for make in GOOD[rpc]:
            good = make(wire)
            if holder(way, good) is None:
                continue
            before = records.now()
            for name, data in NO_TEXTS.items():
                tried += 1
                answer = wire.send(rpc, with_field(good, way, bytes_field(way[-1].number, data)))
                assert is_unparsable(answer), f"{name_of(way)}: {name}: {answer.message}"
            assert records.now() == before
    assert tried


@pytest.mark.parametrize("rpc", GOOD)
def test_a_field_of_another_wire_type_is_one_that_nobody_knows(rpc: str, wire: Wire) -> None:
    for way in ways(RPCS[rpc].input_type):
        number = way[-1].number
        is_number = way[-1].type not in (Field.TYPE_STRING, Field.TYPE_BYTES, Field.TYPE_MESSAGE)
        other = bytes_field(number, b"12") if is_number else number_field(number, 12)
        if any(entry_of(field) for field in way[:-1]) or (is_number and way[-1].is_repeated):
            continue  # an entry with anything unknown is passed over whole; a list of numbers knows both types
        for make in GOOD[rpc]:
            good = make(wire)
            if holder(way, good) is None:
                continue
            without = wire.send(rpc, with_field(good, way, b""))
            answer = wire.send(rpc, with_field(make(wire), way, other))
            assert answer.reason == without.reason, name_of(way)


@pytest.mark.parametrize("rpc", GOOD)
def test_fields_that_nobody_knows_are_passed_over(rpc: str, wire: Wire) -> None:
    unknown = (
        number_field(900, 2**63) + bytes_field(901, b"\xff\xfe") + number_field(19_999, 1) + tag(902, 5) + b"1234"
    )
    nested = b""
    for _ in range(1000):  # bytes to whom they are unknown
        nested = bytes_field(903, nested)
    for make in GOOD[rpc]:
        answer = wire.send(rpc, make(wire).SerializeToString() + unknown + nested)
        assert answer.code is grpc.StatusCode.OK, answer.message


@pytest.mark.parametrize("rpc", GOOD)
def test_a_request_of_more_than_its_rpc_takes_is_too_large(rpc: str, wire: Wire, records: Records) -> None:
    most = 17 * MIB if rpc in LARGE else MIB
    good = GOOD[rpc][0](wire).SerializeToString()
    room = most - len(good) - len(bytes_field(900, bytes(most // 2))) + most // 2
    just = good + bytes_field(900, bytes(room))
    assert len(just) == most
    before = records.now()
    answer = wire.send(rpc, just + number_field(901, 1))
    assert answer.reason == "MESSAGE_TOO_LARGE"
    assert str(most) in answer.message
    assert faults_of(answer) == []
    assert records.now() == before
    assert wire.send(rpc, just).code is grpc.StatusCode.OK


@pytest.mark.parametrize("rpc", GOOD)
def test_what_exceeds_the_transports_own_limit_is_refused_by_it(rpc: str, wire: Wire) -> None:
    answer = wire.send(rpc, bytes(MAX_RECEIVED_BYTES + 1))
    assert (answer.code, answer.details) == (grpc.StatusCode.RESOURCE_EXHAUSTED, None)
    assert wire.send(rpc, GOOD[rpc][0](wire)).code is grpc.StatusCode.OK


def is_unsupported(answer: Answer) -> bool:
    return (answer.code, answer.reason) == (grpc.StatusCode.UNIMPLEMENTED, "UNSUPPORTED") and not faults_of(answer)


@pytest.mark.parametrize(
    "path", ["/ullage.v1.RunService/BoilRun", "/ullage.v1.TeaService/BoilWater", "/ullage.v9.RunService/GetRun"]
)
def test_an_rpc_that_is_in_no_proto_is_unsupported(path: str, wire: Wire) -> None:
    for data in (b"", b"\xff\xff", bytes(100_000)):
        assert is_unsupported(wire.send(path, data))
