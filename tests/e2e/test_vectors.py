"""The conformance vectors, played against a server over its socket, a test for each case.

Each is played by calls of its own, over one Converse stream, and by calls to three servers on one PostgreSQL, each
to the next of them; it must be answered the same.

A case that calls an RPC which this server does not have waits, by that RPC's name; which those are is asked of the
server itself, and `UNBUILT` says it once more, so that the list is shortened when one is built.
"""

import importlib
import itertools
import queue
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import json_format

from tests.postgres import is_there, migrated
from tests.servers import running_server
from tests.shared_data import shared
from ullage.v1.wire_service_pb2 import Command, ConverseRequest, ConverseResponse
from ullage_server.rpc.methods import METHODS

#: The player comes with the vectors, as it is and untyped.
player: Any = importlib.import_module("tests.vectors.run_vectors")

VECTORS = Path(__file__).resolve().parent.parent / "vectors"
#: The writers of the city's rung come last: `load` sees to it.
CASES: list[tuple[str, dict[str, Any]]] = list(player.load(VECTORS, None))

UNBUILT: list[str] = []

#: Of each topic: how many cases are played now, how many wait for an RPC, how many for tokens.
FIGURES = {
    "converse": (7, 0, 0),
    "domain": (9, 0, 0),
    "errors": (8, 0, 1),
    "exchange": (54, 0, 0),
    "fork_replay": (21, 0, 0),
    "freeze": (22, 0, 0),
    "gauge": (27, 0, 0),
    "idempotency": (17, 0, 0),
    "notice": (17, 0, 0),
    "registry": (39, 0, 0),
    "session_context": (15, 0, 0),
    "status": (8, 0, 0),
    "time_budget": (12, 0, 0),
    "usage_dialects": (37, 0, 0),
}

#: How a case's unary calls are sent.
ON_POSTGRES = "servers on PostgreSQL"
WAYS = ("calls", "one stream", ON_POSTGRES)

#: What a command may ask: the field of each RPC.
COMMANDS = {
    "".join(word.title() for word in field.name.split("_")): field.name
    for field in Command.DESCRIPTOR.oneofs_by_name["request"].fields
}

_played: dict[str, set[str]] = {way: set() for way in WAYS}


class OneStream(player.Client):  # type: ignore[misc]  # the player is untyped
    """Sends whatever a command may ask over one stream for all cases, and the rest as calls."""

    def __init__(self, target: str) -> None:
        super().__init__(target, None, 20.0)
        self.commands: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        stream: grpc.StreamStreamMultiCallable[bytes, bytes] = self.channel.stream_stream(
            "/ullage.v1.WireService/Converse"
        )
        self.answers = stream(iter(self.commands.get, None))

    def call(self, step: dict[str, Any], request: Any) -> tuple[Any, dict[str, Any] | None]:
        field = COMMANDS.get(step["rpc"].partition("/")[2])
        if field is None or "token" in step:
            called: tuple[Any, dict[str, Any] | None] = super().call(step, request)
            return called
        command = {"id": len(step), field: request}
        asked = json_format.ParseDict({"command": command}, ConverseRequest())
        self.commands.put(asked.SerializeToString())
        answer = player.plain(ConverseResponse.FromString(next(self.answers)))
        assert answer.pop("id") == len(step)
        ((answered, response),) = answer.items()
        assert answered in (field, "error")
        return ([], response) if answered == "error" else (response, None)


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    with running_server() as server:
        yield server.target


@pytest.fixture(scope="module")
def unbuilt(target: str) -> list[str]:
    """The RPCs that the server says it does not have."""
    with grpc.insecure_channel(target) as channel:
        return sorted(method.name for method in METHODS if not is_built(channel, method.path))


@pytest.fixture(scope="module", params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def client(way: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    # Cases write to the rungs of buildings: each way has a city of its own.
    if way == ON_POSTGRES:
        store = ("--store", migrated(request.getfixturevalue("postgres")))
        with ExitStack() as up:
            turns = InTurns([up.enter_context(running_server(*store)).target for _ in range(3)])
            yield turns
            turns.close()
        return
    with running_server() as server:
        client = OneStream(server.target) if way == "one stream" else player.Client(server.target, None, 20.0)
        yield client
        client.channel.close()


class InTurns:
    """Sends each call to the next of several servers."""

    def __init__(self, targets: list[str]) -> None:
        self.clients = [player.Client(target, None, 20.0) for target in targets]
        self.turns = itertools.cycle(self.clients)

    def call(self, step: dict[str, Any], request: Any) -> tuple[Any, dict[str, Any] | None]:
        called: tuple[Any, dict[str, Any] | None] = next(self.turns).call(step, request)
        return called

    def close(self) -> None:
        for client in self.clients:
            client.channel.close()


def is_built(channel: grpc.Channel, path: str) -> bool:
    """Whether the server does anything else with an empty message than to say that it does not have the RPC."""
    # Called as a stream both ways, which an RPC of any kind takes.
    stream: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(path)
    call = stream(iter([b""]), timeout=20)
    try:
        next(call)
    except StopIteration:
        return True
    except grpc.RpcError:
        return bool(call.code() is not grpc.StatusCode.UNIMPLEMENTED)
    finally:
        call.cancel()
    return True


def waits_for(case: dict[str, Any], unbuilt: list[str]) -> list[str]:
    """The RPCs that the case calls and the server does not have."""
    called = {step["rpc"].partition("/")[2] for step in [*case["steps"], *case.get("finally", [])]}
    return sorted(called & set(unbuilt))


def test_these_rpcs_and_no_others_are_not_yet_built(unbuilt: list[str]) -> None:
    assert unbuilt == UNBUILT


@pytest.mark.parametrize(("topic", "case"), CASES, ids=[f"{topic} / {case['name']}" for topic, case in CASES])
def test_vector(
    topic: str,
    case: dict[str, Any],
    way: str,
    client: Any,
    unbuilt: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    if "token" in case.get("requires", []):
        pytest.skip("waits for tokens")
    if waiting := waits_for(case, unbuilt):
        pytest.skip(f"not yet built: {', '.join(waiting)}")
    _played[way].add(f"{topic} / {case['name']}")
    held = player.run_case(client, topic, case)
    assert held, f"{case['why']}\n{capsys.readouterr().out}"


def test_every_case_is_played_both_ways_or_waits_by_name(
    unbuilt: list[str], request: pytest.FixtureRequest
) -> None:
    played, waiting, tokens = Counter[str](), Counter[str](), Counter[str]()
    due = set()
    for topic, case in CASES:
        if "token" in case.get("requires", []):
            tokens[topic] += 1
        elif waits_for(case, unbuilt):
            waiting[topic] += 1
        else:
            played[topic] += 1
            due.add(f"{topic} / {case['name']}")
    topics = sorted(played | waiting | tokens)
    assert {topic: (played[topic], waiting[topic], tokens[topic]) for topic in topics} == FIGURES
    # Whoever selects some tests by name has not lost the others.
    specs = [item.callspec for item in request.session.items if hasattr(item, "callspec")]
    for way, played_so in _played.items():
        if way == ON_POSTGRES and not is_there():
            continue  # they were skipped, each with that reason
        selected = {spec.id.partition("-")[2] for spec in specs if spec.params.get("way") == way}
        assert due & selected == played_so


def test_the_vectors_are_those_that_all_implementations_share() -> None:
    theirs = {path.name: path.read_bytes() for path in shared("vectors").glob("*.json")}
    ours = {path.name: path.read_bytes() for path in VECTORS.glob("*.json")}
    assert sorted(ours) == sorted(theirs)
    assert [name for name in ours if ours[name] != theirs[name]] == []
