"""CompactExchange, ReplayExchanges and ReadLedger over the wire: what is large, odd or half there."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.rpc.calls import Wire
from tests.rpc.exchanges import digest, edited, exchange_not_as_sent, history, result, text, use
from tests.rpc.good_requests import fresh
from tests.rpc.recorded import Records
from tests.rpc.refusals import faults_of
from tests.rpc.wire_bytes import bytes_field, number_field
from tests.shared_data import shared
from ullage.v1 import plan_pb2
from ullage.v1.exchange_pb2 import Block, Exchange, Opaque, Part, Thinking, ToolResult, ToolUse
from ullage.v1.run_service_pb2 import (
    CompactExchangeRequest,
    CompactExchangeResponse,
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


def compact(wire: Wire, run_id: str, turn: int, exchange: Exchange) -> CompactExchangeResponse:
    request = CompactExchangeRequest(run_id=run_id, turn=turn, exchange=exchange)
    return wire.ask("CompactExchange", request, CompactExchangeResponse)


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


def test_an_exchange_of_more_pieces_than_one_has_is_refused_at_once(wire: Wire, records: Records) -> None:
    """Sixteen mebibytes of them would keep the server busy for minutes, and all others waiting."""
    run_id = started(wire, 1 << 20)
    most = Exchange(assistant=[use("a")], results=[result("a", *["x"] * (65_536 - 2))])
    assert len(compact(wire, run_id, 1, most).verdicts) == 65_534
    before = records.now()
    of_the_turn = number_field(2, 2) + bytes_field(1, run_id.encode())
    for exchange in (
        Exchange(assistant=[use("a")], results=[result("a", *["x"] * (65_536 - 1))]).SerializeToString(),
        bytes_field(1, b"") * 65_537,
        bytes_field(2, b"") * (8 << 20),
    ):
        answer = wire.send("CompactExchange", of_the_turn + bytes_field(3, exchange))
        assert answer.reason == "MESSAGE_TOO_LARGE"
        assert "65536 blocks" in answer.message
        assert faults_of(answer) == []
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


def test_real_exchanges_live_and_replayed_are_the_same_and_the_ledgers(wire: Wire) -> None:
    runs: dict[str, str] = {}
    histories: dict[str, list[ReplayExchangesRequest]] = {}
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
        assert exchange_not_as_sent(request, told) == []
        large += told.source_bytes > 32768
        outcomes = {verdict.outcome for verdict in told.verdicts}
        assert not told.over_budget or outcomes & {3, 4}, "only what is left whole keeps it over its budget"
        histories.setdefault(name, []).extend(history(turn, exchange))
        live.setdefault(name, []).append((turn, told.digest, told.exchange))
    assert whole >= 298
    assert large >= 51
    for name, run_id in runs.items():
        start = ReplayExchangesRequest(start=ReplayStart(run_id=run_id))
        answers = [
            ReplayExchangesResponse.FromString(answer.payload).exchange
            for answer in wire.stream("ReplayExchanges", [start, *histories[name]])
        ]
        assert [(one.turn, one.digest, one.exchange) for one in answers] == live[name]
        assert all(one.matches_ledger and not one.wave_incomplete for one in answers)
        kept = [
            ReadLedgerResponse.FromString(answer.payload).record
            for answer in wire.stream("ReadLedger", [ReadLedgerRequest(run_id=run_id)])
        ]
        digests = [record.exchange_compacted.result_digest for record in kept[1:]]
        assert digests == [digest for _, digest, _ in live[name]]


def test_an_empty_exchange_is_one_and_is_recorded_once(wire: Wire, records: Records) -> None:
    run_id = started(wire, 0)
    before = records.now().rows["ledger"]
    first, again = (compact(wire, run_id, 1, Exchange()) for _ in range(2))
    assert first.digest == again.digest == digest(Exchange())
    assert (first.replayed, again.replayed) == (False, True)
    assert (first.source_bytes, first.result_bytes, first.over_budget) == (0, 0, False)
    assert records.now().rows["ledger"] == before + 1


def test_what_is_in_no_text_is_given_back_as_it_came(wire: Wire) -> None:
    """Lone surrogates as escapes, NUL, no JSON at all: the service looks at no call and at no unknown block."""
    odd = ['{"a": "\\ud800"}', "\\ud83d", "\x00", "no JSON", "{" * 5000, "", "\u0301" * 900]
    exchange = Exchange()
    for number, words in enumerate(odd):
        exchange.assistant.add().tool_use.MergeFrom(ToolUse(id=f"t{number}", name=words, input_json=words))
        exchange.assistant.add().opaque.MergeFrom(Opaque(type=words, json=words))
        exchange.assistant.add().thinking.MergeFrom(Thinking(text=words, signature=b"\xff\x00"))
        exchange.results.append(result(f"t{number}", words, "", words))
    request = CompactExchangeRequest(run_id=started(wire, 10), turn=1, exchange=exchange)
    answer = wire.ask("CompactExchange", request, CompactExchangeResponse)
    assert exchange_not_as_sent(request, answer) == []


MANY_KINDS = Exchange(
    assistant=[
        text("It was said that the sea was calm. " * 200),
        use("a"),
        use("b"),
        text("# One\n\nWords.\n" * 300),
    ],
    results=[
        result("b", "2026-01-01T00:00:00Z INFO up\n" * 300, "", "港は静かだった。" * 400),
        result("a", '{"a": [' + "1, " * 2000 + "1]}", "def f(x):\n    return x\n" * 300),
    ],
)


def test_with_edits_only_the_bytes_are_those_of_the_whole_answer(wire: Wire) -> None:
    full, edits = (
        CompactExchangeRequest(run_id=started(wire), turn=1, exchange=MANY_KINDS, edits_only=only)
        for only in (False, True)
    )
    whole = wire.ask("CompactExchange", full, CompactExchangeResponse)
    short = wire.ask("CompactExchange", edits, CompactExchangeResponse)
    assert exchange_not_as_sent(full, whole) == exchange_not_as_sent(edits, short) == []
    assert len(short.edits) == 5
    assert edited(MANY_KINDS, short.edits) == whole.exchange
    assert (short.verdicts, short.digest) == (whole.verdicts, whole.digest)
    # Asked again the other way it is the same turn's record, answered in that way.
    full.run_id = edits.run_id
    again = wire.ask("CompactExchange", full, CompactExchangeResponse)
    assert (again.replayed, again.exchange) == (True, whole.exchange)


def test_of_many_callers_with_one_exchange_one_records_it(wire: Wire, records: Records) -> None:
    """Short ones are worked on where they come in, long ones in a thread: both ways meet one record."""
    for exchange in (MANY_KINDS, Exchange(assistant=[text("The sea was calm. " * 30_000)])):
        request = CompactExchangeRequest(run_id=started(wire), turn=1, exchange=exchange)
        before = records.now().rows["ledger"]
        with ThreadPoolExecutor(8) as callers:
            asked = [
                callers.submit(wire.ask, "CompactExchange", request, CompactExchangeResponse) for _ in range(24)
            ]
        answers = [each.result() for each in asked]
        assert sum(not answer.replayed for answer in answers) == 1
        assert records.now().rows["ledger"] == before + 1
        for answer in answers:
            answer.replayed = False
        assert all(answer == answers[0] for answer in answers)


def test_of_many_callers_with_exchanges_of_one_turn_one_is_taken(wire: Wire, records: Records) -> None:
    run_id = started(wire)
    requests = [
        CompactExchangeRequest(run_id=run_id, turn=1, exchange=Exchange(assistant=[text(f"{number}")]))
        for number in range(24)
    ]
    before = records.now().rows["ledger"]
    with ThreadPoolExecutor(8) as callers:
        reasons = [
            answer.reason for answer in callers.map(lambda one: wire.send("CompactExchange", one), requests)
        ]
    assert sorted(reasons) == ["EXCHANGE_ALREADY_COMPACTED"] * 23 + ["OK"]
    assert records.now().rows["ledger"] == before + 1


def test_a_ledger_is_read_from_any_position_and_not_without_its_run(wire: Wire) -> None:
    run_id = started(wire)
    for turn in (1, 2):
        compact(wire, run_id, turn, Exchange(assistant=[text("Hi.")]))

    def positions(start: int) -> list[int]:
        answers = wire.stream("ReadLedger", [ReadLedgerRequest(run_id=run_id, from_position=start)])
        return [ReadLedgerResponse.FromString(answer.payload).record.position for answer in answers]

    assert positions(0) == positions(1) == [1, 2, 3]
    assert positions(3) == [3]
    assert positions(4) == [0], "an answer without a record stands for none"
    (answer,) = wire.stream("ReadLedger", [ReadLedgerRequest(run_id=fresh())])
    assert answer.reason == "RUN_NOT_FOUND"
    assert faults_of(answer) == []
