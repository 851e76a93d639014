"""PrepareCall over a real socket: what a restart, a branch and many callers at once must not change."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from google.protobuf.duration_pb2 import Duration

from tests.rpc.calls import Wire
from tests.rpc.good_requests import fresh
from tests.rpc.situations import counted, forking, observing, starting
from tests.servers import Server, running_server
from ullage.v1 import insertion_pb2, run_service_pb2
from ullage.v1.insertion_pb2 import Candidate, Insertion, Tail

FIRST = Tail(role=insertion_pb2.TAIL_ROLE_USER)
USER = Tail(role=insertion_pb2.TAIL_ROLE_USER, history_has_model_output=True)
HOUSE = Candidate(
    id="house",
    label="house",
    edge=insertion_pb2.EDGE_SESSION_START,
    lifetime=insertion_pb2.LIFETIME_DURABLE,
    text="Shoes off.",
)


def preparing(run_id: str, turn: int, tail: Tail = USER, **more: Any) -> run_service_pb2.PrepareCallRequest:
    return run_service_pb2.PrepareCallRequest(run_id=run_id, turn=turn, step=1, tail=tail, **more)


def prepared(wire: Wire, request: run_service_pb2.PrepareCallRequest) -> list[Insertion]:
    return list(wire.ask("PrepareCall", request, run_service_pb2.PrepareCallResponse).insertions)


def observed(wire: Wire, run_id: str, turn: int, tokens: int) -> None:
    request = observing(run_id, turn, usage=counted(input_tokens=tokens))
    wire.ask("ObserveUsage", request, run_service_pb2.ObserveUsageResponse)


def woven(wire: Wire) -> str:
    request = starting(
        agent="Weaver", context_tokens=1000, notices_every_steps=1, time_budget=Duration(seconds=3600)
    )
    return wire.ask("StartRun", request, run_service_pb2.StartRunResponse).run.run_id


def lasting(insertions: Sequence[Insertion]) -> list[Insertion]:
    return [one for one in insertions if one.lifetime == insertion_pb2.LIFETIME_DURABLE]


def test_after_a_kill_a_call_is_prepared_again_with_the_same_texts_and_what_found_no_place_comes_again() -> None:
    with running_server() as server:
        with grpc.insecure_channel(server.target) as channel:
            wire = Wire(channel)
            run_id = woven(wire)
            request = preparing(run_id, 1, FIRST, candidates=[HOUSE])
            first = prepared(wire, request)
            assert [one.id for one in first] == ["1/session", "1/registered/house", "1/time"]
        server.kill()
        server.start()
        with grpc.insecure_channel(server.target) as channel:
            wire = Wire(channel)
            assert lasting(prepared(wire, request)) == lasting(first)
            observed(wire, run_id, 1, 310)
            noticed = prepared(wire, preparing(run_id, 2, candidates=[HOUSE]))
            assert [one.id for one in noticed] == ["2/session", "2/notice"]
            observed(wire, run_id, 2, 320)
        server.kill()
        server.start()
        with grpc.insecure_channel(server.target) as channel:
            names = ["1/session", "1/registered/house", "1/context/first", "2/notice", "2/session", "1/time"]
            again = prepared(Wire(channel), preparing(run_id, 3, unplaced_ids=names))
            assert [one.id for one in again] == [
                "1/session",
                "2/session",
                "3/session",
                "1/registered/house",
                "1/context/first",
                "2/notice",
                "3/notice",
                "3/time",
            ]
            given = {one.id: one for one in again}
            assert [given[one.id] for one in lasting(first)] == lasting(first)
            assert given["2/notice"] == noticed[-1]


def test_a_branch_gives_again_what_was_said_in_the_line_it_comes_from(wire: Wire) -> None:
    mother = woven(wire)
    first = prepared(wire, preparing(mother, 1, FIRST, candidates=[HOUSE]))
    observed(wire, mother, 1, 310)
    observed(wire, mother, 2, 320)
    child, grandchild = fresh(), fresh()
    wire.ask("ForkRun", forking(mother, 2, child), run_service_pb2.ForkRunResponse)
    second = prepared(wire, preparing(child, 3))
    observed(wire, child, 3, 330)
    wire.ask("ForkRun", forking(child, 3, grandchild), run_service_pb2.ForkRunResponse)
    asked = preparing(
        grandchild,
        4,
        candidates=[HOUSE],
        unplaced_ids=["1/registered/house", "1/context/first", "3/session", "4/session"],
    )
    again = {one.id: one for one in prepared(wire, asked)}
    assert again["1/registered/house"] == first[1]
    assert again["3/session"] == second[0]
    assert again["1/context/first"].text.startswith("[context] 31%")
    assert "4/registered/house" not in again, "said in its line is said"


def test_many_who_prepare_one_call_at_once_are_given_the_same(wire: Wire, server: Server) -> None:
    for _ in range(10):
        run_id = woven(wire)
        request = preparing(run_id, 1, FIRST, candidates=[HOUSE])
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: prepared(wire, request), range(8)))  # noqa: B023
        assert {tuple(one.id for one in answer) for answer in answers} == {
            ("1/session", "1/registered/house", "1/time")
        }
        assert len({lasting(answer)[0].text for answer in answers}) == 1
        run = wire.ask("GetRun", run_service_pb2.GetRunRequest(run_id=run_id), run_service_pb2.GetRunResponse).run
        assert run.insertions_given == 3
