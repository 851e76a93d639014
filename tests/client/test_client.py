"""The synchronous client against scripted answers: what goes out, what is sent again, and what comes back."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

import ullage
from tests.client.scripted import Scripted
from tests.client.wire import BUILDINGS, CANCELLED, NOTHING, RUNS, UNREACHABLE, Failing, started
from ullage.standing import status_of
from ullage.v1 import building_pb2, building_service_pb2, insertion_pb2, reading_pb2, run_pb2, run_service_pb2

START, OBSERVE, GET, LIST = RUNS["StartRun"], RUNS["ObserveUsage"], RUNS["GetRun"], RUNS["ListRuns"]

OBSERVED = run_service_pb2.ObserveUsageRequest

pytestmark = pytest.mark.timeout(20)


def refused(reason: str, code: grpc.StatusCode = grpc.StatusCode.INVALID_ARGUMENT) -> Failing:
    return Failing(code, reason)


def test_a_run_from_start_to_finish() -> None:
    answer = run_service_pb2.ObserveUsageResponse(
        reminder=insertion_pb2.Insertion(
            id="1/context/handover",
            keys=["context/handover"],
            kind=insertion_pb2.INSERTION_KIND_HANDOVER,
            placement=insertion_pb2.PLACEMENT_AFTER_TAIL,
            lifetime=insertion_pb2.LIFETIME_DURABLE,
            text="write a handoff",
            estimated_tokens=4,
        ),
        reading=reading_pb2.ContextReading(
            turn=1, used_tokens=70, context_tokens=100, percent=70, counted_as="input"
        ),
        sounded=run_pb2.SOUNDED_HANDOVER,
    )
    finished = run_pb2.Run(run_id="r1", state=run_pb2.RUN_STATE_FINISHED)
    server = Scripted(
        (START, started()),
        (OBSERVE, answer),
        (GET, run_service_pb2.GetRunResponse(run=run_pb2.Run(run_id="r1", last_turn=1))),
        (RUNS["FinishRun"], run_service_pb2.FinishRunResponse(run=finished)),
    )
    with server.serving() as client:
        run = client.start_run("r1", model="m")
        seen = run.observe({"input_tokens": 70})
        assert run.status().last_turn == 1
        assert run.finish("done") == status_of(finished)
    assert seen.reminder is not None
    assert dataclasses.asdict(seen.reminder) == {
        "id": "1/context/handover",
        "keys": ("context/handover",),
        "kind": "handover",
        "placement": "after_tail",
        "lifetime": "durable",
        "text": "write a handoff",
        "estimated_tokens": 4,
    }
    assert seen.reading == ullage.Reading(1, 70, 100, 70, None, None, False, False, "input")
    assert seen.sounded is ullage.Sounded.HANDOVER
    assert not seen.replayed
    assert server.requests[3] == run_service_pb2.FinishRunRequest(run_id="r1", outcome="done")


def test_unavailable_is_sent_again_unchanged_until_it_is_answered() -> None:
    server = Scripted((START, UNREACHABLE), (START, UNREACHABLE), (START, started()))
    with server.serving() as client:
        client.start_run(labels={"a": "1", "b": "2"})
    first, second, third = (request.SerializeToString() for request in server.requests)
    assert first == second == third
    assert server.pauses == [0.025, 0.05]


def test_a_call_that_a_server_going_down_cancels_is_sent_again_under_its_number() -> None:
    server = Scripted((START, started()), (OBSERVE, CANCELLED), (OBSERVE, CANCELLED), (OBSERVE, NOTHING))
    with server.serving() as client:
        run = client.start_run()
        run.observe(7)
    assert turns(server) == [1, 1, 1]
    assert server.requests[1] == server.requests[2] == server.requests[3]
    assert server.pauses == [0.025, 0.05]


def test_a_server_that_only_cancels_is_told_as_unreachable() -> None:
    server = Scripted(*[(START, CANCELLED)] * 8, timeout=100)
    with server.serving() as client, pytest.raises(ullage.ServerUnreachable) as raised:
        client.start_run("r1")
    assert server.time.time() <= 2
    assert raised.value.code is grpc.StatusCode.CANCELLED
    assert "unix:/nowhere" in raised.value.message
    assert "send the same again" in raised.value.recovery


def test_a_made_request_id_is_one_per_call() -> None:
    answer = building_service_pb2.ConfigureBuildingResponse(building=building_pb2.Building(address="lab"))
    method = BUILDINGS["ConfigureBuilding"]
    server = Scripted((method, UNREACHABLE), (method, answer), (method, answer), (method, answer))
    with server.serving() as client:
        assert client.configure_building("lab", clock_zone="UTC").address == "lab"
        client.configure_building("lab", clock_zone="UTC")
        client.configure_building("lab", request_id="mine")
    ids = [r.request_id for r in server.requests if isinstance(r, building_service_pb2.ConfigureBuildingRequest)]
    assert ids[0] == ids[1] != ids[2]
    assert len(ids[0]) == 36
    assert ids[3] == "mine"


@pytest.mark.parametrize(
    "code",
    [
        code
        for code in grpc.StatusCode
        if code not in (grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
    ],
)
def test_nothing_else_is_sent_again(code: grpc.StatusCode) -> None:
    server = Scripted((START, Failing(code)))
    with server.serving() as client, pytest.raises(ullage.UllageError) as raised:
        client.start_run()
    assert raised.value.code is code
    assert server.pauses == []


def test_an_overloaded_server_is_left_alone() -> None:
    server = Scripted((START, Failing(grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED", retry=1)))
    with server.serving() as client, pytest.raises(ullage.Overloaded) as raised:
        client.start_run()
    assert raised.value.retry_delay == 1
    assert server.pauses == []


def test_a_server_that_says_how_long_to_wait_is_obeyed() -> None:
    draining = Failing(grpc.StatusCode.UNAVAILABLE, "DRAINING", retry=3.5)
    server = Scripted((START, draining), (START, draining), (START, draining), timeout=10)
    with server.serving() as client, pytest.raises(ullage.Draining) as raised:
        client.start_run()
    assert server.pauses == [3.5, 3.5]  # a third one would end behind the deadline
    assert raised.value.retry_delay == 3.5


def test_no_server_at_all_is_given_up_soon() -> None:
    server = Scripted(*[(START, UNREACHABLE)] * 8, timeout=100)
    with server.serving() as client, pytest.raises(ullage.ServerUnreachable) as raised:
        client.start_run("r1")
    assert server.time.time() <= 2
    error = raised.value
    assert error.reason == ""
    assert "unix:/nowhere" in error.message
    assert "Connection refused" in error.message
    assert "ullage serve" in error.recovery
    assert "ULLAGE_TARGET" in error.recovery
    assert (error.action, error.subject) == ("starting a run", "run r1")


def test_a_server_that_was_there_is_waited_for_to_the_deadline() -> None:
    server = Scripted((START, started()), *[(OBSERVE, UNREACHABLE)] * 24, timeout=10)
    with server.serving() as client, pytest.raises(ullage.ServerUnreachable):
        client.start_run().observe(1)
    assert 9 < server.time.time() < 10


def test_no_answer_in_time_is_told_as_such_and_may_be_sent_again() -> None:
    server = Scripted((START, Failing(grpc.StatusCode.DEADLINE_EXCEEDED)), timeout=10)
    with server.serving() as client, pytest.raises(ullage.DeadlinePassed) as raised:
        client.start_run()
    assert raised.value.reason == "DEADLINE_PASSED"
    assert "send the same again; that is safe" in raised.value.recovery
    assert "unix:/nowhere within 10 s" in str(raised.value)


def test_turns_are_counted_from_the_last_accepted() -> None:
    invalid = refused("ARGUMENT_INVALID")
    server = Scripted(
        (START, started(last_turn=4)),
        (OBSERVE, NOTHING),
        (OBSERVE, invalid),
        (OBSERVE, NOTHING),
        (OBSERVE, NOTHING),
        (OBSERVE, NOTHING),
        (OBSERVE, NOTHING),
    )
    with server.serving() as client:
        run = client.start_run()
        assert run.last_turn == 4
        run.observe(1)
        with pytest.raises(ullage.ArgumentInvalid):
            run.observe(-1)
        assert run.last_turn == 5
        run.observe(1)
        run.observe(1, turn=9)
        run.observe(1, turn=3)
        assert run.last_turn == 9
        run.observe(1)
    assert turns(server) == [5, 6, 6, 9, 3, 10]


def turns(server: Scripted) -> list[int]:
    return [r.report.turn for r in server.requests if isinstance(r, run_service_pb2.ObserveUsageRequest)]


def test_a_branch_counts_on_from_where_it_left_its_mother() -> None:
    branch = run_pb2.Run(run_id="b", origin=run_pb2.Origin(run_id="r1", through_turn=7))
    server = Scripted((GET, run_service_pb2.GetRunResponse(run=branch)), (OBSERVE, NOTHING))
    with server.serving() as client:
        run = client.resume_run("b")
        assert (run.run_id, run.last_turn, run.settled, run.replayed) == ("b", 7, (), False)
        run.observe(None)
    assert turns(server) == [8]


def test_a_report_that_failed_goes_again_under_its_number() -> None:
    server = Scripted(
        (START, started()), (OBSERVE, Failing(grpc.StatusCode.DEADLINE_EXCEEDED)), (OBSERVE, NOTHING)
    )
    with server.serving() as client:
        run = client.start_run()
        with pytest.raises(ullage.DeadlinePassed):
            run.observe(5)
        run.observe(5)
    assert turns(server) == [1, 1]
    assert server.requests[1] == server.requests[2]


TAKEN = Failing(grpc.StatusCode.ALREADY_EXISTS, "TURN_ALREADY_RECORDED")


def test_a_caller_that_goes_on_after_a_lost_answer_is_not_stuck_on_its_number() -> None:
    lost = Failing(grpc.StatusCode.DEADLINE_EXCEEDED)
    server = Scripted((START, started()), (OBSERVE, lost), (OBSERVE, TAKEN), (OBSERVE, NOTHING))
    with server.serving() as client:
        run = client.start_run()
        with pytest.raises(ullage.DeadlinePassed):
            run.observe(5)
        run.observe(6)
        assert run.last_turn == 2
    assert turns(server) == [1, 1, 2]


def test_a_number_taken_by_another_is_told() -> None:
    refusal = refused("ARGUMENT_INVALID")
    lost = Failing(grpc.StatusCode.DEADLINE_EXCEEDED)
    server = Scripted(
        (START, started()),
        (OBSERVE, TAKEN),
        (OBSERVE, refusal),
        (OBSERVE, TAKEN),
        (OBSERVE, lost),
        (OBSERVE, TAKEN),
    )
    with server.serving() as client:
        run = client.start_run()
        with pytest.raises(ullage.TurnAlreadyRecorded):  # no answer of ours was lost
            run.observe(5)
        with pytest.raises(ullage.ArgumentInvalid):
            run.observe(-5)
        with pytest.raises(ullage.TurnAlreadyRecorded):  # a refusal is an answer
            run.observe(5)
        with pytest.raises(ullage.DeadlinePassed):
            run.observe(5, turn=1)
        with pytest.raises(ullage.TurnAlreadyRecorded):  # a turn that the caller names is the caller's
            run.observe(6, turn=1)


def test_reports_of_several_threads_are_turns_of_their_own() -> None:
    server = Scripted((START, started()), *[(OBSERVE, NOTHING)] * 40)
    with server.serving() as client:
        run = client.start_run()
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(run.observe, range(100, 140)))
        assert run.last_turn == 40
    assert turns(server) == list(range(1, 41))
    sent = [r.report.usage.input_tokens for r in server.requests if isinstance(r, OBSERVED)]
    assert sorted(sent) == list(range(100, 140))


def test_what_is_no_usage_never_leaves_and_takes_no_number() -> None:
    server = Scripted((START, started()), (OBSERVE, NOTHING))
    with server.serving() as client:
        run = client.start_run()
        with pytest.raises(TypeError):
            run.observe(object())
        run.observe(1)
    assert turns(server) == [1]


def test_lists_go_through_all_pages() -> None:
    pages = [
        run_service_pb2.ListRunsResponse(
            runs=[run_pb2.Run(run_id="a"), run_pb2.Run(run_id="b")], next_page_token="2"
        ),
        run_service_pb2.ListRunsResponse(next_page_token="3"),
        run_service_pb2.ListRunsResponse(runs=[run_pb2.Run(run_id="c")]),
    ]
    server = Scripted(*[(LIST, page) for page in pages])
    with server.serving() as client:
        assert [r.run_id for r in client.list_runs("lab", state="finished", labels={"k": "v"})] == ["a", "b", "c"]
    expected = run_service_pb2.ListRunsRequest(address="lab", state=run_pb2.RUN_STATE_FINISHED, labels={"k": "v"})
    for request, token in zip(server.requests, ("", "2", "3"), strict=True):
        expected.page_token = token
        assert request == expected


def test_buildings_are_read_and_listed() -> None:
    def page(address: str, token: str) -> building_service_pb2.ListBuildingsResponse:
        building = building_pb2.Building(address=address)
        return building_service_pb2.ListBuildingsResponse(buildings=[building], next_page_token=token)

    read = building_service_pb2.GetBuildingResponse(building=building_pb2.Building(etag="e"))
    server = Scripted(
        (BUILDINGS["GetBuilding"], read),
        (BUILDINGS["ListBuildings"], page("", "x")),
        (BUILDINGS["ListBuildings"], page("lab", "")),
    )
    with server.serving() as client:
        assert client.get_building("").etag == "e"
        assert [b.address for b in client.list_buildings()] == ["", "lab"]


def test_a_list_with_a_wrong_filter_fails_at_once() -> None:
    with ullage.Client("unix:/nowhere") as client, pytest.raises(ValueError, match="'active', 'finished'"):
        client.list_runs(state="over")  # type: ignore[arg-type]


def test_a_closed_client_says_so() -> None:
    client = ullage.Client("unix:/nowhere")
    with client:
        pass
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.get_run("r1")
    with pytest.raises(RuntimeError, match="closed"):
        next(client.list_runs())


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 10**400, "5", None])
def test_a_timeout_is_a_time(timeout: Any) -> None:
    for kind in (ullage.Client, ullage.AsyncClient):
        with pytest.raises((TypeError, ValueError), match=r"^timeout is a number of seconds above 0; not "):
            kind("unix:/nowhere", timeout=timeout)


def test_the_target_is_the_environments_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ULLAGE_TARGET", "127.0.0.1:9")
    assert ullage.Client().target == "127.0.0.1:9"
    monkeypatch.delenv("ULLAGE_TARGET")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    assert ullage.Client().target == ullage.AsyncClient().target == "unix:/run/user/7/ullage/ullage.sock"
    assert ullage.Client("unix:/x").target == "unix:/x"
