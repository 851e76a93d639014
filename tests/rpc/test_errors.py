"""The table of errors: each reason with its code, and a real case of each, told as a caller needs it."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
from google.protobuf.message import Message

from tests.rpc.calls import Wire
from tests.rpc.good_requests import fresh, started
from tests.rpc.refusals import CODES, faults_of
from tests.rpc.situations import commanded, commanding, counted, finished, observed, observing, starting
from tests.servers import Server
from ullage.v1 import building_service_pb2, error_reason_pb2, run_service_pb2
from ullage_server.core.errors import Reason
from ullage_server.rpc.status import CODES as SERVER_CODES

REASONS = [name.removeprefix("ERROR_REASON_") for name, number in error_reason_pb2.ErrorReason.items() if number]

#: Reasons of later work. One that can be had moves to the cases.
NOT_YET = {
    "WAVE_INCOMPLETE",
    "EXCHANGE_ALREADY_COMPACTED",
    "FORK_PAST_END",
    "FORK_BEFORE_ORIGIN",
    "UNAUTHENTICATED",
    "NOT_PERMITTED",
    "OVERLOADED",
    "DEADLINE_PASSED",
}
#: Reasons whose cases need a server that a test reaches into: test_server_faults.py has them.
INSIDE = {"STORE_UNAVAILABLE", "DRAINING", "RECORD_UNKNOWN", "INTERNAL"}


class Case(NamedTuple):
    """A request that is refused, and the words its error must hold; `{}` in them is what `about` gives.

    `about` makes what the request needs, and gives the name it goes by; `request` is made from that name.
    """

    rpc: str
    about: Callable[[Wire, Server], str]
    request: Callable[[str], Message | bytes]
    action: str
    subject: str
    message: tuple[str, ...]
    recovery: tuple[str, ...]
    field: str = ""


def nothing(wire: Wire, server: Server) -> str:
    return fresh()


def broken_building(wire: Wire, server: Server) -> str:
    """A building whose document an operator has spoilt, in its third line."""
    name = fresh()
    folder = server.data / "city" / name
    folder.mkdir(parents=True)
    (folder / "CONFIG.toml").write_text('# ours\n[context]\nfinishing_act = "hand over\n')
    return name


def get_run(run_id: str) -> Message:
    return run_service_pb2.GetRunRequest(run_id=run_id)


def report(run_id: str, turn: int, tokens: int = 100) -> Message:
    return observing(run_id, turn, usage=counted(input_tokens=tokens))


CASES = {
    "ARGUMENT_INVALID": Case(
        "ObserveUsage",
        lambda wire, server: started(wire),
        lambda name: report(name, 1, -5),
        "observing a turn's usage",
        "report.usage.input_tokens",
        ("report.usage.input_tokens is -5", "0 to 9007199254740991"),
        ("correct report.usage.input_tokens",),
        "report.usage.input_tokens",
    ),
    "THRESHOLD_OUT_OF_DOMAIN": Case(
        "StartRun",
        nothing,
        lambda name: starting(name, second_threshold=91),
        "starting a run",
        "plan.second_threshold",
        ("91", "31 to 90"),
        ("31 to 90",),
        "plan.second_threshold",
    ),
    "RUN_NOT_FOUND": Case(
        "GetRun", nothing, get_run, "reading a run", "run {}", ("no run {}",), ("StartRun", "run_id"), "run_id"
    ),
    "BUILDING_NOT_FOUND": Case(
        "GetBuilding",
        nothing,
        lambda name: building_service_pb2.GetBuildingRequest(address=name),
        "reading a building",
        "building {}",
        ("no building {}",),
        ("ConfigureBuilding",),
        "address",
    ),
    "RUN_ALREADY_EXISTS": Case(
        "StartRun",
        lambda wire, server: started(wire),
        lambda name: starting(name, context_tokens=5),
        "starting a run",
        "run {}",
        ("run {} exists already",),
        ("another run_id",),
        "run_id",
    ),
    "RUN_FINISHED": Case(
        "ObserveUsage",
        lambda wire, server: finished(wire),
        lambda name: report(name, 1),
        "observing a turn's usage",
        "run {}",
        ("run {} is finished", "can be forked"),
        ("ForkRun",),
    ),
    "TURN_ALREADY_RECORDED": Case(
        "ObserveUsage",
        lambda wire, server: observed(wire, 1),
        lambda name: report(name, 1, 101),
        "observing a turn's usage",
        "run {}, turn 1",
        ("turn 1 of run {} is recorded",),
        ("do not retry",),
        "report.turn",
    ),
    "TURN_OUT_OF_ORDER": Case(
        "ObserveUsage",
        lambda wire, server: observed(wire, 1, 7),
        lambda name: report(name, 3),
        "observing a turn's usage",
        "run {}, turn 3",
        ("turn 3 of run {}", "the last one observed, 7"),
        ("from 8",),
        "report.turn",
    ),
    "REQUEST_ID_REUSED": Case(
        "ConfigureBuilding",
        lambda wire, server: commanded(wire),
        lambda name: commanding(name, address="lab", notices_every_steps=3),
        "configuring a building",
        "building lab",
        ("request_id {}", "another command"),
        ("new request_id",),
        "request_id",
    ),
    "CONFIG_CHANGED": Case(
        "ConfigureBuilding",
        nothing,
        lambda name: commanding(address=name, etag="0123"),
        "configuring a building",
        "building {}",
        ("building {} has changed",),
        ("GetBuilding", "etag"),
        "etag",
    ),
    "CONFIG_UNREADABLE": Case(
        "StartRun",
        broken_building,
        lambda name: starting(address=f"{name}/ada"),
        "starting a run",
        "building {}",
        ("building {}", "line 3, column"),
        ("line 3",),
    ),
    "MESSAGE_TOO_LARGE": Case(
        "FinishRun",
        lambda wire, server: started(wire),
        lambda name: run_service_pb2.FinishRunRequest(run_id=name, outcome="x" * (1 << 20)),
        "finishing a run",
        "a request of FinishRun",
        ("1048", "at most 1048576"),
        ("send less",),
    ),
    "UNSUPPORTED": Case(
        "/ullage.v1.RunService/BoilRun",
        nothing,
        lambda name: b"",
        "calling an RPC",
        "the RPC",
        ("does not have the RPC",),
        ("newer server",),
    ),
}


@pytest.mark.parametrize("reason", CASES)
def test_an_error_says_what_was_done_to_what_what_is_wrong_and_what_to_do(
    reason: str, wire: Wire, server: Server
) -> None:
    case = CASES[reason]
    about = case.about(wire, server)
    answer = wire.send(case.rpc, case.request(about))
    assert answer.reason == reason, answer.message
    assert answer.code is CODES[reason]
    assert faults_of(answer) == []
    told = answer.info.metadata
    assert (told["action"], told["subject"]) == (case.action, case.subject.replace("{}", about))
    for words in case.message:
        assert words.replace("{}", about) in answer.message
    for words in case.recovery:
        assert words.replace("{}", about) in told["recovery"]
    assert answer.violations == ({case.field: answer.message} if case.field else {})
    assert answer.retry_seconds == 0


def test_a_broken_building_refuses_its_own_runs_and_no_others(wire: Wire, server: Server) -> None:
    name = broken_building(wire, server)
    assert wire.send("StartRun", starting(address=name)).reason == "CONFIG_UNREADABLE"
    assert wire.send("StartRun", starting(address=f"{name}x")).reason == "OK"
    assert wire.send("StartRun", starting()).reason == "OK"


@pytest.mark.parametrize("threshold", [-(2**63), -65, 0, 30, 91, 2**63 - 1])
def test_a_threshold_out_of_its_domain_is_told_alike_in_a_plan_and_in_a_command(
    threshold: int, wire: Wire
) -> None:
    in_plan = wire.send("StartRun", starting(second_threshold=threshold))
    in_command = wire.send("ConfigureBuilding", commanding(context_second_threshold=threshold))
    assert (in_plan.reason, in_command.reason) == ("THRESHOLD_OUT_OF_DOMAIN",) * 2
    assert in_plan.message == in_command.message
    assert "31 to 90" in in_plan.message
    assert list(in_command.violations) == ["command.context_second_threshold"]


def test_every_reason_has_its_code_and_its_number() -> None:
    assert sorted(REASONS) == sorted(CODES)
    assert {reason.name: code for reason, code in SERVER_CODES.items()} == CODES
    numbers = {name.removeprefix("ERROR_REASON_"): number for name, number in error_reason_pb2.ErrorReason.items()}
    assert {"UNSPECIFIED": 0} | {reason.name: reason.value for reason in Reason} == numbers


def test_every_reason_has_a_case_or_belongs_to_later_work() -> None:
    assert sorted([*CASES, *NOT_YET, *INSIDE]) == sorted(REASONS)
