"""ReplayExchanges: a history, in its order, gives what was answered live; what is no history is refused."""

import random
from collections.abc import Sequence

import pytest

from tests.rpc.calls import Wire
from tests.rpc.exchanges import digest, history, result, text, use
from tests.rpc.good_requests import fresh
from tests.rpc.recorded import Records
from tests.rpc.refusals import faults_of
from tests.rpc.test_exchanges import MANY_KINDS, ODD
from ullage.v1 import plan_pb2
from ullage.v1.exchange_pb2 import Block, Exchange
from ullage.v1.run_service_pb2 import (
    CompactExchangeRequest,
    CompactExchangeResponse,
    ForkRunRequest,
    ForkRunResponse,
    ModelReturned,
    ReplayedExchange,
    ReplayExchangesRequest,
    ReplayExchangesResponse,
    ReplayStart,
    StartRunRequest,
    StartRunResponse,
)

BUDGET = 2000
START = ReplayExchangesRequest(start=ReplayStart(exchange_budget_bytes=BUDGET))


def reply(turn: int, calls: int = 0, *blocks: Block) -> ReplayExchangesRequest:
    return ReplayExchangesRequest(model_returned=ModelReturned(turn=turn, blocks=blocks, calls=calls))


def answered(name: str, *texts: str) -> ReplayExchangesRequest:
    return ReplayExchangesRequest(tool_result=result(name, *texts))


def replayed(wire: Wire, requests: Sequence[ReplayExchangesRequest]) -> list[ReplayExchangesResponse]:
    answers = wire.stream("ReplayExchanges", requests)
    assert [answer.message for answer in answers if answer.message] == []
    return [ReplayExchangesResponse.FromString(answer.payload) for answer in answers]


#: What a stream holds, which of its answers come before the refusal, and the field that is blamed.
NO_HISTORIES: dict[str, tuple[list[ReplayExchangesRequest | bytes], int, str]] = {
    "nothing": ([], 0, "start"),
    "no start": ([reply(1)], 0, "start"),
    "a result first": ([answered("a")], 0, "start"),
    "an empty message first": ([b""], 0, "start"),
    "two starts": ([START, START], 0, "start"),
    "a start in the middle": ([START, reply(1), START, reply(2)], 1, "start"),
    "an empty message": ([START, b"", reply(1)], 0, "item"),
    "an item of another version": ([START, b"\xa2\x06\x00", reply(1)], 0, "item"),
    "a result before any reply": ([START, answered("a")], 0, "tool_result"),
    "a result after a reply without calls": ([START, reply(1), answered("a")], 1, "tool_result"),
    "a result too many": (
        [START, reply(1, 1, use("a")), answered("a"), answered("a"), reply(2)],
        1,
        "tool_result",
    ),
    "a turn twice": ([START, reply(1), reply(1)], 1, "model_returned.turn"),
    "a turn that falls": ([START, reply(3), reply(2)], 1, "model_returned.turn"),
    "turn 0": ([START, reply(0)], 0, "model_returned.turn"),
    "calls below 0": ([START, reply(1, -1)], 0, "model_returned.calls"),
    "a result in a reply": ([START, reply(1, 0, result("a", "x"))], 0, "model_returned.blocks"),
    "a text as a result": (
        [START, reply(1, 1, use("a")), ReplayExchangesRequest(tool_result=text("x"))],
        0,
        "tool_result",
    ),
    "a block without content": ([START, reply(1, 0, Block())], 0, "model_returned.blocks"),
    "a malformed wave, at its end": (
        [START, reply(1, 2, Block()), reply(2)],
        0,
        "model_returned.blocks",
    ),
    "rules that nobody knows": (
        [ReplayExchangesRequest(start=ReplayStart(exchange_rules=2))],
        0,
        "start.exchange_rules",
    ),
    "a budget below 0": (
        [ReplayExchangesRequest(start=ReplayStart(exchange_budget_bytes=-1))],
        0,
        "start.exchange_budget_bytes",
    ),
}


@pytest.mark.parametrize("name", NO_HISTORIES)
def test_what_is_no_history_is_refused_where_it_ceases_to_be_one(name: str, wire: Wire, records: Records) -> None:
    requests, before, field = NO_HISTORIES[name]
    recorded = records.now()
    answers = wire.stream("ReplayExchanges", requests)
    assert [answer.reason for answer in answers] == ["OK"] * before + ["ARGUMENT_INVALID"]
    assert list(answers[-1].violations) == [field]
    assert faults_of(answers[-1]) == []
    assert records.now() == recorded


def test_a_run_that_is_not_there_and_terms_beside_a_runs_own_are_refused(wire: Wire) -> None:
    run_id = started(wire)
    for start, reason, field in (
        (ReplayStart(run_id=fresh()), "RUN_NOT_FOUND", "start.run_id"),
        (ReplayStart(run_id="no id"), "ARGUMENT_INVALID", "start.run_id"),
        (ReplayStart(run_id=run_id, exchange_budget_bytes=0), "ARGUMENT_INVALID", "start.exchange_budget_bytes"),
        (ReplayStart(run_id=run_id, exchange_rules=1), "ARGUMENT_INVALID", "start.exchange_rules"),
    ):
        (answer,) = wire.stream("ReplayExchanges", [ReplayExchangesRequest(start=start), reply(1)])
        assert (answer.reason, list(answer.violations)) == (reason, [field])
        assert faults_of(answer) == []


def test_a_wave_beyond_what_an_exchange_holds_is_too_large(wire: Wire) -> None:
    """Each message is within the limit; the exchange that they add up to is not."""
    words = "The sea was calm. " * 300_000
    requests = [START, reply(4, 5, *(use(f"{n}") for n in range(5))), *(answered(f"{n}", words) for n in range(5))]
    (answer,) = wire.stream("ReplayExchanges", requests)
    assert answer.reason == "MESSAGE_TOO_LARGE"
    assert str(17 << 20) in answer.message
    assert "turn 4" in answer.message
    assert faults_of(answer) == []


def test_waves_that_are_not_whole_are_put_out_as_they_are(wire: Wire) -> None:
    long = "The sea was calm. " * 200
    waves = {
        1: [reply(1, 1, use("a")), answered("b", long)],
        2: [reply(2, 2, use("a"), use("b")), answered("a", long), answered("a", long)],
        3: [reply(3, 2, text(long), use("a"), use("b")), answered("b", long)],  # the next reply closes it
        4: [reply(4, 1, use("a"), use("b")), answered("a", long)],
        5: [reply(5, 0, text(long), use("a"))],
        6: [reply(6, 2, use("a"), use("a")), answered("a", long), answered("a", long)],
    }
    whole = [reply(7, 1, text(long), use("a")), answered("a", long)]
    half = [reply(9, 2, use("a"), use("b")), answered("a", long)]
    said = [START, *(one for wave in waves.values() for one in wave), *whole, *half]
    *answers, dropped = replayed(wire, said)
    assert dropped.dropped_half_wave.turn == 9
    assert [answer.exchange.turn for answer in answers] == [1, 2, 3, 4, 5, 6, 7]
    for answer in answers[:-1]:
        wave = waves[answer.exchange.turn]
        sent = Exchange(assistant=wave[0].model_returned.blocks, results=[one.tool_result for one in wave[1:]])
        assert answer.exchange == ReplayedExchange(
            turn=answer.exchange.turn, exchange=sent, digest=digest(sent), wave_incomplete=True
        )
    assert not answers[-1].exchange.wave_incomplete
    assert len(answers[-1].exchange.verdicts) == 2


def started(wire: Wire) -> str:
    request = StartRunRequest(run_id=fresh(), plan=plan_pb2.RunPlan(exchange_budget_bytes=BUDGET))
    return wire.ask("StartRun", request, StartRunResponse).run.run_id


def compacted(wire: Wire, run_id: str, turns: dict[int, Exchange]) -> list[ReplayedExchange]:
    """What was answered live, as a replay tells it."""
    live = []
    for turn, exchange in turns.items():
        request = CompactExchangeRequest(run_id=run_id, turn=turn, exchange=exchange)
        answer = wire.ask("CompactExchange", request, CompactExchangeResponse)
        live.append(
            ReplayedExchange(
                turn=turn,
                exchange=answer.exchange,
                verdicts=answer.verdicts,
                digest=answer.digest,
                matches_ledger=True,
            )
        )
    return live


def exchanges() -> dict[int, Exchange]:
    """Odd ones and ordinary ones, by turns with gaps."""
    chance = random.Random(3)
    turns = {}
    for number, words in enumerate([*ODD.values(), ""]):
        sent = Exchange(assistant=[text(words), use("a")], results=[result("a", words[: chance.randrange(5000)])])
        turns[2 * number + 1] = sent
    return turns | {40: MANY_KINDS, 41: Exchange()}


def test_what_is_replayed_is_what_was_answered_live(wire: Wire) -> None:
    turns = exchanges()
    run_id = started(wire)
    live = compacted(wire, run_id, turns)
    said = [one for turn, exchange in turns.items() for one in history(turn, exchange)]
    by_name = replayed(wire, [ReplayExchangesRequest(start=ReplayStart(run_id=run_id)), *said])
    assert [answer.exchange for answer in by_name] == live
    by_terms = replayed(wire, [START, *said])
    for one in live:
        one.ClearField("matches_ledger")
    assert [answer.exchange for answer in by_terms] == live


def test_a_wave_of_ten_thousand_blocks_is_replayed_as_it_was_answered(wire: Wire) -> None:
    exchange = Exchange(
        assistant=[use(f"t{number}") for number in range(5000)],
        results=[result(f"t{number}", f"{number} was read.") for number in reversed(range(5000))],
    )
    run_id = started(wire)
    live = compacted(wire, run_id, {1: exchange})
    said = [ReplayExchangesRequest(start=ReplayStart(run_id=run_id)), *history(1, exchange)]
    assert [answer.exchange for answer in replayed(wire, said)] == live


def test_a_history_that_is_another_does_not_match_the_ledger(wire: Wire) -> None:
    run_id = started(wire)
    compacted(wire, run_id, {1: MANY_KINDS, 3: Exchange(assistant=[text("Hi.")])})
    start = ReplayExchangesRequest(start=ReplayStart(run_id=run_id))
    said = [*history(1, MANY_KINDS), reply(2, 0, text("Never compacted.")), reply(3, 0, text("Ho."))]
    answers = [answer.exchange for answer in replayed(wire, [start, *said])]
    told = [one.matches_ledger if one.HasField("matches_ledger") else None for one in answers]
    assert told == [True, None, False]


def test_a_branchs_own_turns_are_checked_and_her_mothers_are_not(wire: Wire) -> None:
    mother, branch = started(wire), fresh()
    turns = exchanges()
    live = compacted(wire, mother, {turn: turns[turn] for turn in (1, 3)})
    wire.ask("ForkRun", ForkRunRequest(parent_run_id=mother, through_turn=1, run_id=branch), ForkRunResponse)
    live = [live[0], *compacted(wire, branch, {turn: turns[turn] for turn in (3, 5, 40)})]
    live[0].ClearField("matches_ledger")
    said = [one for turn in (1, 3, 5, 40) for one in history(turn, turns[turn])]
    answers = replayed(wire, [ReplayExchangesRequest(start=ReplayStart(run_id=branch)), *said])
    assert [answer.exchange for answer in answers] == live
