"""When a call is sent again: in figures, without a channel."""

from typing import Any

import grpc
import pytest

import ullage
from ullage.calls import Calls
from ullage.channels import channel_options
from ullage.requests import get_run
from ullage.retries import Attempts

GONE = ullage.ServerUnreachable("gone", code=grpc.StatusCode.UNAVAILABLE)


def pauses(error: ullage.UllageError, timeout: float, chance: float, *, met: bool) -> list[float]:
    """The pauses of a call that fails at once each time."""
    attempts, now, made = Attempts(timeout, 100.0), 100.0, list[float]()
    while (pause := attempts.pause(error, now, chance, met=met)) is not None:
        now += pause
        made.append(pause)
    assert attempts.left(now) > 0
    return made


def test_pauses_grow_to_a_second_and_end_within_the_deadline() -> None:
    assert pauses(GONE, 5, 1.0, met=True) == [0.05, 0.1, 0.2, 0.4, 0.8, 1, 1, 1]
    assert pauses(GONE, 5, 0.0, met=True) == [0.025, 0.05, 0.1, 0.2, 0.4, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]


def test_a_server_never_met_is_waited_for_two_seconds() -> None:
    assert sum(pauses(GONE, 60, 0.5, met=False)) < 2
    assert sum(pauses(GONE, 60, 0.5, met=True)) > 58
    assert sum(pauses(GONE, 1, 0.5, met=False)) < 1


def test_an_ullage_that_says_unavailable_is_no_stranger() -> None:
    draining = ullage.Draining("later", reason="DRAINING", code=grpc.StatusCode.UNAVAILABLE, retry_delay=1.0)
    assert pauses(draining, 5.5, 0.0, met=False) == [1, 1, 1, 1, 1]
    assert pauses(draining, 5, 1.0, met=False) == [1.2, 1.2, 1.2, 1.2]


def test_a_delay_of_nothing_is_no_licence_to_hammer() -> None:
    error = ullage.Draining("now", code=grpc.StatusCode.UNAVAILABLE, retry_delay=0.0)
    assert pauses(error, 1, 0.0, met=True)[:3] == [0.025, 0.05, 0.1]


@pytest.mark.parametrize("code", [code for code in grpc.StatusCode if code is not grpc.StatusCode.UNAVAILABLE])
def test_only_unavailable_is_sent_again(code: grpc.StatusCode) -> None:
    error = ullage.UllageError("no", code=code, retry_delay=0.1)
    assert Attempts(10, 0).pause(error, 0, 0, met=True) is None


class Refusal(grpc.RpcError):
    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.UNAVAILABLE

    def details(self) -> str:
        return "gone"

    def trailing_metadata(self) -> tuple[()]:
        return ()


def test_each_attempt_may_take_what_is_left_of_the_calls_time() -> None:
    now = 0.0
    timeouts: list[float] = []

    def rpc(request: object, timeout: float) -> object:
        nonlocal now
        timeouts.append(timeout)
        now += 1.0
        raise Refusal

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    calls = Calls("unix:/t", 4.0, clock=lambda: now, sleep=sleep, chance=lambda: 1.0)
    calls._met = True
    stub: Any = rpc
    with pytest.raises(ullage.ServerUnreachable):
        calls(stub, get_run("r1"))
    assert timeouts == pytest.approx([4, 2.95, 1.85, 0.65])


@pytest.mark.parametrize(
    "target",
    [
        "localhost:1",
        "127.0.0.1:50151",
        "[::1]:5",
        "dns:localhost:1",
        "dns:///127.0.0.1:1",
        "ipv4:127.9.9.9:1",
        "ipv6:[::1]:5",
    ],
)
def test_no_proxy_stands_before_a_server_of_this_machine(target: str) -> None:
    assert ("grpc.enable_http_proxy", 0) in channel_options(target)


@pytest.mark.parametrize(
    "target", ["unix:/run/x", "ullage.example:443", "10.0.0.1:1", "dns:///10.0.0.1:1", "[fe80::1]:1", ""]
)
def test_what_is_elsewhere_is_reached_as_the_environment_says(target: str) -> None:
    assert "grpc.enable_http_proxy" not in dict(channel_options(target))
