"""Callers that compact exchanges, report turns and fork, of a server that keeps going away.

Each knows what it sent and keeps what it was answered; at the end it asks for all of it once more.
"""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import TypeVar

import grpc
from google.protobuf.message import Message

from tests.e2e.killed import Siege
from tests.e2e.ledger_file import Row
from tests.rpc.calls import ANY_SIZE, AsyncWire, path_of
from tests.rpc.exchanges import exchange_not_as_sent, history, result, text, use
from ullage import new_run_id
from ullage.v1.exchange_pb2 import Exchange
from ullage.v1.plan_pb2 import RunPlan
from ullage.v1.run_service_pb2 import (
    CompactExchangeRequest,
    CompactExchangeResponse,
    ForkRunRequest,
    ForkRunResponse,
    ObserveUsageRequest,
    ObserveUsageResponse,
    ReplayExchangesRequest,
    ReplayExchangesResponse,
    ReplayStart,
    StartRunRequest,
    StartRunResponse,
)
from ullage.v1.usage_pb2 import ModelUsage, TurnReport

M = TypeVar("M", bound=Message)

BUDGET = 2000
#: How soon a channel knocks again at a server that is about to be there.
KNOCKING = (*ANY_SIZE, ("grpc.initial_reconnect_backoff_ms", 50), ("grpc.max_reconnect_backoff_ms", 50))
_AWAY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED)

_TEXTS = (
    "It was said that the sea was calm. ",
    "2026-01-01T00:00:00Z INFO the pump is up\n",
    "def f(x):\n    return x + 1\n\n",
    "# A heading\n\nWords below it.\n\n",
    '{"a": 1}\n',
    "港は静かだった。",
)


def exchange(chance: Random) -> Exchange:
    """A reply and the results of its calls, some within the budget, some far beyond it."""
    reach = 400_000 if chance.random() < 0.05 else 4000
    words = [chance.choice(_TEXTS) * (chance.randrange(reach) // 30) for _ in range(chance.randint(1, 4))]
    calls = [f"call-{chance.getrandbits(32):x}" for _ in words[1:]]
    results = [result(name, answer) for name, answer in zip(calls, words[1:], strict=True)]
    return Exchange(assistant=[text(words[0]), *map(use, calls)], results=results)


class Compactor:
    """One run, and the branches of it: what was sent of each turn, and what was answered."""

    def __init__(self, siege: Siege, chance: Random) -> None:
        self.siege = siege
        self.chance = chance
        self.run_id = new_run_id()
        self.sent: dict[tuple[str, int], Exchange] = {}
        self.heard: dict[tuple[str, int], CompactExchangeResponse] = {}
        self.rows: dict[str, list[Row]] = {}

    async def live(self, wire: AsyncWire) -> None:
        """Starts the run and compacts turn after turn; reports some of them, and forks at some."""
        plan = RunPlan(exchange_budget_bytes=BUDGET, context_tokens=1000)
        await self.persist(wire, "StartRun", StartRunRequest(run_id=self.run_id, plan=plan), StartRunResponse)
        self.rows[self.run_id] = [Row(1, "run_started", 0)]
        for turn in range(1, self.chance.randint(3, 8)):
            if self.chance.random() < 0.5:
                report = TurnReport(turn=turn, usage=ModelUsage(input_tokens=100 * turn))
                observe = ObserveUsageRequest(run_id=self.run_id, report=report)
                await self.persist(wire, "ObserveUsage", observe, ObserveUsageResponse)
                self._row(self.run_id, "usage_observed", turn)
            await self.compact(wire, self.run_id, turn)
            if self.chance.random() < 0.3:
                branch = new_run_id()
                fork = ForkRunRequest(parent_run_id=self.run_id, through_turn=turn, run_id=branch)
                begun = await self.persist(wire, "ForkRun", fork, ForkRunResponse)
                self.rows[branch] = [Row(1, "run_forked", 0)]
                if (begun.run.last_turn, begun.run.origin.run_id) != (turn, self.run_id):
                    self.blame(f"fork at turn {turn}", begun.run)
                await self.compact(wire, branch, turn + 1)

    async def compact(self, wire: AsyncWire, run_id: str, turn: int) -> None:
        """Compacts a new exchange; now and then it is sent by several at once."""
        request = CompactExchangeRequest(
            run_id=run_id, turn=turn, exchange=exchange(self.chance), edits_only=self.chance.random() < 0.5
        )
        self.sent[run_id, turn] = request.exchange
        times = self.chance.choice([1, 1, 3])
        answers = await asyncio.gather(
            *(self.persist(wire, "CompactExchange", request, CompactExchangeResponse) for _ in range(times))
        )
        self.siege.met["replayed"] += sum(answer.replayed for answer in answers)
        if sum(not answer.replayed for answer in answers) > 1:
            self.blame(f"turn {turn} of {run_id}", "recorded twice", fault="doubled")
        for answer in answers:
            if wrong := exchange_not_as_sent(request, answer):
                self.blame(f"turn {turn} of {run_id}", wrong)
            if not _same(answer, answers[0]):
                self.blame(f"turn {turn} of {run_id}", "answers differ")
        request.edits_only = False
        self.heard[run_id, turn] = await self.persist(wire, "CompactExchange", request, CompactExchangeResponse)
        if not self.heard[run_id, turn].replayed or self.heard[run_id, turn].digest != answers[0].digest:
            self.blame(f"turn {turn} of {run_id}", "not the recorded answer")
        self._row(run_id, "exchange_compacted", turn)

    async def ask_again(self, wire: AsyncWire) -> None:
        """Sends every exchange once more; each is answered from the record, with the same bytes."""
        for (run_id, turn), sent in self.sent.items():
            request = CompactExchangeRequest(run_id=run_id, turn=turn, exchange=sent)
            again = await self.persist(wire, "CompactExchange", request, CompactExchangeResponse)
            if not again.replayed:
                self.blame(f"turn {turn} of {run_id}", "was not recorded", fault="missing")
            if not _same(again, self.heard[run_id, turn]):
                self.blame(f"turn {turn} of {run_id}", "answered otherwise than before")

    def history(self, run_id: str) -> list[ReplayExchangesRequest]:
        """The exchanges of one of the runs, as its harness streams them."""
        return [
            one for (of_run, turn), sent in self.sent.items() if of_run == run_id for one in history(turn, sent)
        ]

    async def replay(self, channel: grpc.aio.Channel, *, by_name: bool) -> None:
        """Streams the histories: by the runs' names, or to a server that never heard of them."""
        for run_id in self.rows:
            start = ReplayStart(run_id=run_id) if by_name else ReplayStart(exchange_budget_bytes=BUDGET)
            answers = await replayed(channel, [ReplayExchangesRequest(start=start), *self.history(run_id)])
            told = [(one.exchange.turn, one.exchange.exchange, one.exchange.digest) for one in answers]
            live = [(turn, one.exchange, one.digest) for (of, turn), one in self.heard.items() if of == run_id]
            if told != live:
                self.blame(f"replay of {run_id}", "other bytes than live")
            if by_name and not all(one.exchange.matches_ledger for one in answers):
                self.blame(f"replay of {run_id}", "does not match its ledger")

    async def persist(self, wire: AsyncWire, rpc: str, request: Message, response: type[M]) -> M:
        """The answer to a request, sent again and again for as long as no server is there to give it."""
        while True:
            self.siege.met["attempts"] += 1
            answer = await wire.send(rpc, request)
            if answer.code is grpc.StatusCode.OK:
                self.siege.met["answers"] += 1
                return response.FromString(answer.payload)
            if answer.code not in _AWAY:
                raise AssertionError(f"{rpc}: {answer.reason}: {answer.message}")
            self.siege.met[answer.reason] += 1
            await asyncio.sleep(0.01)

    def blame(self, what: str, got: object, fault: str = "wrong") -> None:
        self.siege.blame(fault, f"{what}: {got}")

    def _row(self, run_id: str, kind: str, turn: int) -> None:
        self.rows[run_id].append(Row(len(self.rows[run_id]) + 1, kind, turn))


async def replayed(
    channel: grpc.aio.Channel, requests: Sequence[ReplayExchangesRequest]
) -> list[ReplayExchangesResponse]:
    call: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(path_of("ReplayExchanges"))
    answers = call(iter([request.SerializeToString() for request in requests]))
    return [ReplayExchangesResponse.FromString(answer) async for answer in answers]


def _same(one: CompactExchangeResponse, other: CompactExchangeResponse) -> bool:
    """Whether two answers say the same; one of them may say that it is a replay."""
    copies = [CompactExchangeResponse(), CompactExchangeResponse()]
    for copy, answer in zip(copies, (one, other), strict=True):
        copy.CopyFrom(answer)
        copy.ClearField("replayed")
    return copies[0] == copies[1]
