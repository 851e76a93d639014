"""CompactExchange, ReplayExchanges and ReadLedger over the wire: what is large, odd or half there."""

import hashlib
import json
from collections.abc import Iterator

import grpc
import pytest

from tests.rpc.calls import TIMEOUT, Wire, answer_of, path_of
from tests.rpc.good_requests import fresh
from tests.rpc.recorded import Records
from tests.rpc.refusals import faults_of
from tests.shared_data import shared
from ullage.v1 import plan_pb2
from ullage.v1.exchange_pb2 import Block, Exchange, Part, Text, Thinking, ToolResult, ToolUse
from ullage.v1.run_service_pb2 import (
    CompactExchangeRequest,
    CompactExchangeResponse,
    ModelReturned,
    ReadLedgerRequest,
    ReadLedgerResponse,
    ReplayExchangesRequest,
    ReplayExchangesResponse,
    ReplayStart,
    StartRunRequest,
    StartRunResponse,
)

BUDGET = 2000


def started(wire: Wire, budget: int = BUDGET) -> str:
    request = StartRunRequest(run_id=fresh(), plan=plan_pb2.RunPlan(exchange_budget_bytes=budget))
    return wire.ask("StartRun", request, StartRunResponse).run.run_id


def text(words: str) -> Block:
    return Block(text=Text(text=words))


def use(name: str) -> Block:
    return Block(tool_use=ToolUse(id=name, name="read", input_json="{}"))


def result(name: str, *texts: str) -> Block:
    return Block(tool_result=ToolResult(tool_use_id=name, parts=[Part(text=words) for words in texts]))


def compact(wire: Wire, run_id: str, turn: int, exchange: Exchange) -> CompactExchangeResponse:
    request = CompactExchangeRequest(run_id=run_id, turn=turn, exchange=exchange)
    return wire.ask("CompactExchange", request, CompactExchangeResponse)


def stream(channel: grpc.Channel, rpc: str, requests: list[bytes]) -> list[bytes]:
    call: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(path_of(rpc))
    return list(call(iter(requests), timeout=TIMEOUT))


def history(turn: int, exchange: Exchange) -> Iterator[bytes]:
    """An exchange as a harness that replays its history streams it."""
    calls = sum(block.WhichOneof("content") == "tool_use" for block in exchange.assistant)
    reply = ModelReturned(turn=turn, blocks=exchange.assistant, calls=calls)
    yield ReplayExchangesRequest(model_returned=reply).SerializeToString()
    for block in exchange.results:
        yield ReplayExchangesRequest(tool_result=block).SerializeToString()


ODD = {
    "only combining marks": "\u0301" * 4000,
    "NUL bytes": "\x00" * 5000,
    "one line without an end": "word " * 2000,
    "line ends of another system": "It was said.\r\n" * 500,
    "wide characters": "港は静かだった。" * 300,
    "blank": " \n" * 3000,
    "an escape of a lone surrogate": json.dumps({"a": "\ud800" * 600}),
}


@pytest.mark.parametrize("name", ODD)
def test_a_text_of_any_kind_is_answered_and_adds_up(name: str, wire: Wire) -> None:
    answer = compact(wire, started(wire), 1, Exchange(assistant=[text(ODD[name])]))
    (verdict,) = answer.verdicts
    kept = answer.exchange.assistant[0].text.text
    assert verdict.source_bytes == len(ODD[name].encode())
    assert verdict.result_bytes == len(kept.encode()) <= verdict.source_bytes
    assert answer.over_budget == (verdict.result_bytes > BUDGET)
    if not verdict.dropped_bytes:
        assert kept == ODD[name]


def test_ten_thousand_blocks_keep_their_order(wire: Wire) -> None:
    exchange = Exchange(
        assistant=[use(f"t{n}") for n in range(5000)],
        results=[result(f"t{n}", f"{n} was read.") for n in range(5000)],
    )
    answer = compact(wire, started(wire, 10), 1, exchange)
    assert [block.tool_result.tool_use_id for block in answer.exchange.results] == [f"t{n}" for n in range(5000)]
    assert len(answer.verdicts) == 5000


def test_sixteen_mebibytes_are_taken_and_more_is_told_so(wire: Wire, records: Records) -> None:
    run_id = started(wire)
    answer = compact(wire, run_id, 1, Exchange(assistant=[text("The sea was calm. " * 932_068)]))
    assert answer.verdicts[0].source_bytes == 18 * 932_068 >= 16 << 20
    assert answer.result_bytes <= BUDGET
    before = records.now()
    request = CompactExchangeRequest(run_id=run_id, turn=2, exchange=Exchange(assistant=[text("a" * (17 << 20))]))
    refused = wire.send("CompactExchange", request)
    assert refused.reason == "MESSAGE_TOO_LARGE"
    assert str(17 << 20) in refused.message
    assert faults_of(refused) == []
    assert records.now() == before


REFUSED = {
    "half a wave": (Exchange(assistant=[use("a"), use("b")], results=[result("a", "x")]), "WAVE_INCOMPLETE"),
    "two results for one call": (
        Exchange(assistant=[use("a")], results=[result("a", "x"), result("a", "x")]),
        "WAVE_INCOMPLETE",
    ),
    "a result nobody asked for": (Exchange(results=[result("a", "x")]), "WAVE_INCOMPLETE"),
    "two calls of one id": (
        Exchange(assistant=[use("a"), use("a")], results=[result("a", "x")]),
        "ARGUMENT_INVALID",
    ),
    "a block without content": (Exchange(assistant=[Block()]), "ARGUMENT_INVALID"),
    "a part without content": (
        Exchange(assistant=[use("a")], results=[Block(tool_result=ToolResult(tool_use_id="a", parts=[Part()]))]),
        "ARGUMENT_INVALID",
    ),
    "a result in the reply": (Exchange(assistant=[result("a", "x")]), "ARGUMENT_INVALID"),
    "a text among the results": (Exchange(results=[text("x")]), "ARGUMENT_INVALID"),
    "ids that are no line of text": (Exchange(assistant=[use("a\nb\x00" * 100)]), "WAVE_INCOMPLETE"),
    "many ids": (Exchange(assistant=[use(f"{n}" * 60) for n in range(1000)]), "WAVE_INCOMPLETE"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_exchange_that_is_none_is_refused_and_leaves_no_trace(name: str, wire: Wire, records: Records) -> None:
    exchange, reason = REFUSED[name]
    run_id = started(wire)
    before = records.now()
    answer = wire.send("CompactExchange", CompactExchangeRequest(run_id=run_id, turn=1, exchange=exchange))
    assert answer.reason == reason, answer.message
    assert faults_of(answer) == []
    assert records.now() == before


def real_exchanges() -> list[tuple[str, int, Exchange]]:
    """Every exchange of the recordings, each recording's turns rising."""
    found = []
    for file in sorted(shared("data/exchanges").glob("*.jsonl")):
        for turn, line in enumerate(file.read_text().splitlines(), 1):
            said = json.loads(line)
            exchange = Exchange()
            for block in said["assistant"]:
                exchange.assistant.append(_block(block))
            asked = {block["id"] for block in said["assistant"] if block["type"] == "tool_use"}
            for block in said["results"]:
                if block["tool_use_id"] not in asked:  # a harness without calls: what was added was asked for
                    exchange.assistant.append(use(block["tool_use_id"]))
                exchange.results.append(result(block["tool_use_id"], block["text"]))
            found.append((file.stem, turn, exchange))
    return found


def _block(said: dict[str, str]) -> Block:
    if said["type"] == "text":
        return text(said["text"])
    if said["type"] == "thinking":
        signature = said.get("signature", "").encode()
        return Block(thinking=Thinking(text=said["thinking"], signature=signature))
    if said["type"] == "tool_use":
        return Block(tool_use=ToolUse(id=said["id"], name=said["name"], input_json=json.dumps(said["input"])))
    block = Block()
    block.redacted_thinking.data = said["data"].encode()
    return block


def untouched(exchange: Exchange) -> list[bytes]:
    """All of an exchange but its texts."""
    blocks = []
    for block in [*exchange.assistant, *exchange.results]:
        rest = Block()
        rest.CopyFrom(block)
        if rest.WhichOneof("content") == "text":
            rest.text.text = ""
        for part in rest.tool_result.parts if rest.WhichOneof("content") == "tool_result" else ():
            part.text = ""
        blocks.append(rest.SerializeToString())
    return blocks


def test_real_exchanges_live_and_replayed_are_the_same_and_the_ledgers(wire: Wire, channel: grpc.Channel) -> None:
    runs: dict[str, str] = {}
    histories: dict[str, list[bytes]] = {}
    live: dict[str, list[tuple[int, bytes, Exchange]]] = {}
    whole = large = 0
    for name, turn, exchange in real_exchanges():
        run_id = runs.setdefault(name, started(wire, 32768))
        request = CompactExchangeRequest(run_id=run_id, turn=turn, exchange=exchange)
        answer = wire.send("CompactExchange", request)
        if answer.reason == "WAVE_INCOMPLETE":
            continue  # a call that was broken off has no answer
        whole += 1
        told = CompactExchangeResponse.FromString(answer.payload)
        assert untouched(told.exchange) == untouched(exchange)
        large += told.source_bytes > 32768
        outcomes = {verdict.outcome for verdict in told.verdicts}
        assert not told.over_budget or outcomes & {3, 4}, "only what is left whole keeps it over its budget"
        histories.setdefault(name, []).extend(history(turn, exchange))
        live.setdefault(name, []).append((turn, told.digest, told.exchange))
    assert whole >= 298
    assert large >= 51
    for name, run_id in runs.items():
        start = ReplayExchangesRequest(start=ReplayStart(run_id=run_id)).SerializeToString()
        answers = [
            ReplayExchangesResponse.FromString(answer).exchange
            for answer in stream(channel, "ReplayExchanges", [start, *histories[name]])
        ]
        assert [(one.turn, one.digest, one.exchange) for one in answers] == live[name]
        assert all(one.matches_ledger and not one.wave_incomplete for one in answers)
        kept = [
            ReadLedgerResponse.FromString(row).record
            for row in stream(channel, "ReadLedger", [ReadLedgerRequest(run_id=run_id).SerializeToString()])
        ]
        digests = [record.exchange_compacted.result_digest for record in kept[1:]]
        assert digests == [digest for _, digest, _ in live[name]]


def test_a_digest_can_be_computed_by_anyone(wire: Wire) -> None:
    answer = compact(
        wire, started(wire), 1, Exchange(assistant=[text("Hi."), use("a")], results=[result("a", "x")])
    )

    def field(data: bytes) -> bytes:
        return len(data).to_bytes(8, "big") + data

    number = (2).to_bytes(8, "big"), (1).to_bytes(8, "big")
    plain = b"ullage.exchange.1" + number[0] + b"T" + field(b"Hi.") + b"U" + field(b"a") + field(b"read")
    plain += field(b"{}") + number[1] + b"R" + field(b"a") + field(b"\x00") + number[1] + b"T" + field(b"x")
    assert answer.digest == hashlib.sha256(plain).digest()


def test_a_ledger_is_read_from_any_position_and_not_without_its_run(wire: Wire, channel: grpc.Channel) -> None:
    run_id = started(wire)
    for turn in (1, 2):
        compact(wire, run_id, turn, Exchange(assistant=[text("Hi.")]))

    def positions(start: int) -> list[int]:
        request = ReadLedgerRequest(run_id=run_id, from_position=start).SerializeToString()
        return [
            ReadLedgerResponse.FromString(row).record.position for row in stream(channel, "ReadLedger", [request])
        ]

    assert positions(0) == positions(1) == [1, 2, 3]
    assert positions(3) == [3]
    assert positions(4) == []
    for request, reason in (
        (ReadLedgerRequest(run_id=fresh()), "RUN_NOT_FOUND"),
        (ReadLedgerRequest(run_id=run_id, from_position=-1), "ARGUMENT_INVALID"),
    ):
        with pytest.raises(grpc.RpcError) as caught:
            stream(channel, "ReadLedger", [request.SerializeToString()])
        answer = answer_of(caught.value)
        assert answer.reason == reason
        assert faults_of(answer) == []
