"""Lists in pages: whole, in order, once each, while others come in; and tokens that fit one list alone."""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rpc.calls import Wire
from tests.rpc.good_requests import fresh
from tests.rpc.refusals import faults_of
from tests.rpc.situations import commanding, starting
from tests.servers import Server
from ullage.v1 import building_pb2, building_service_pb2, run_pb2, run_service_pb2
from ullage_server.core.errors import Refusal
from ullage_server.rpc.pages import page_token, read_page_token

RUNS = 250
PRINTABLE = "".join(map(chr, range(32, 127)))
#: What gRPC takes of an answer where nobody says otherwise.
USUAL_LIMIT = 4 << 20


class Fleet:
    """Runs of one building: the number n at one of its three residents, every fifth finished, in two teams."""

    def __init__(self, wire: Wire) -> None:
        self.building = fresh()
        self.runs = [f"{self.building}-{n:03}" for n in range(RUNS)]
        for n, run_id in enumerate(self.runs):
            request = starting(
                run_id, address=self.address(n), labels={"team": self.team(n), "all": self.building}
            )
            wire.ask("StartRun", request, run_service_pb2.StartRunResponse)
            if n % 5 == 0:
                finish = run_service_pb2.FinishRunRequest(run_id=run_id)
                wire.ask("FinishRun", finish, run_service_pb2.FinishRunResponse)

    def address(self, n: int) -> str:
        return f"{self.building}/r{n % 3}"

    def team(self, n: int) -> str:
        return "blue" if n % 2 else "rot\u202e 🦉"

    def that(self, holds: Callable[[int], bool]) -> list[str]:
        """Those whose number that holds of, newest first."""
        return [self.runs[n] for n in reversed(range(RUNS)) if holds(n)]


@pytest.fixture(scope="module")
def fleet(wire: Wire) -> Fleet:
    return Fleet(wire)


def pages(
    wire: Wire, request: run_service_pb2.ListRunsRequest, between: Callable[[], object] = lambda: None
) -> Iterator[list[str]]:
    """The ids on each page of a list."""
    asked = run_service_pb2.ListRunsRequest()
    asked.CopyFrom(request)
    while True:
        answer = wire.ask("ListRuns", asked, run_service_pb2.ListRunsResponse)
        yield [run.run_id for run in answer.runs]
        if not answer.next_page_token:
            return
        asked.page_token = answer.next_page_token
        between()


def listed(
    wire: Wire, request: run_service_pb2.ListRunsRequest, between: Callable[[], object] = lambda: None
) -> list[str]:
    """The ids on all pages of a list."""
    return [run_id for page in pages(wire, request, between) for run_id in page]


@pytest.mark.parametrize(
    ("size", "lengths"),
    [
        (0, [100, 100, 50]),
        (1, [1] * RUNS),
        (7, [7] * 35 + [5]),
        (125, [125, 125]),
        (249, [249, 1]),
        (250, [250]),
        (251, [250]),
        (1000, [250]),
        (2**31 - 1, [250]),
    ],
)
def test_pages_hold_what_was_asked_for_newest_first(
    size: int, lengths: list[int], wire: Wire, fleet: Fleet
) -> None:
    found = list(pages(wire, run_service_pb2.ListRunsRequest(address=fleet.building, page_size=size)))
    assert [len(page) for page in found] == lengths
    assert [run_id for page in found for run_id in page] == fleet.runs[::-1]


@pytest.mark.parametrize("size", [3, 100])
def test_filters_hold_alone_and_together(size: int, wire: Wire, fleet: Fleet) -> None:
    def found(**filters: Any) -> list[str]:
        request = run_service_pb2.ListRunsRequest(page_size=size, **filters)
        return listed(wire, request)

    here = fleet.building
    assert found(address=f"{here}/r1") == fleet.that(lambda n: n % 3 == 1)
    assert found(address=here, state=run_pb2.RUN_STATE_FINISHED) == fleet.that(lambda n: n % 5 == 0)
    assert found(address=here, state=run_pb2.RUN_STATE_ACTIVE) == fleet.that(lambda n: n % 5 != 0)
    assert found(labels={"all": here}) == fleet.runs[::-1]
    assert found(labels={"all": here, "team": "blue"}) == fleet.that(lambda n: n % 2 == 1)
    assert found(labels={"all": here, "team": fleet.team(0)}) == fleet.that(lambda n: n % 2 == 0)
    assert found(
        address=f"{here}/r2", state=run_pb2.RUN_STATE_ACTIVE, labels={"team": "blue", "all": here}
    ) == fleet.that(lambda n: n % 3 == 2 and n % 5 != 0 and n % 2 == 1)
    assert found(address=here, labels={"team": "BLUE"}) == []
    assert found(address=here[:-1]) == []
    assert found(address=f"{here}/r9") == []


def test_a_list_is_stable_while_new_runs_start(wire: Wire, fleet: Fleet) -> None:
    def comes_in() -> None:
        request = starting(address=f"{fleet.building}/r0", labels={"late": fleet.building})
        wire.ask("StartRun", request, run_service_pb2.StartRunResponse)

    request = run_service_pb2.ListRunsRequest(address=fleet.building, labels={"all": fleet.building}, page_size=20)
    assert listed(wire, request, comes_in) == fleet.runs[::-1]
    unfiltered = run_service_pb2.ListRunsRequest(address=fleet.building, page_size=20)
    first = next(pages(wire, unfiltered))
    found = listed(wire, unfiltered, comes_in)
    assert found[:20] == first
    assert [run_id for run_id in found if run_id in set(fleet.runs)] == fleet.runs[::-1]
    assert len(set(found)) == len(found)


def test_a_token_fits_its_own_list_alone(wire: Wire, fleet: Fleet) -> None:
    filters: dict[str, Any] = {"address": fleet.building, "labels": {"all": fleet.building}}
    first = run_service_pb2.ListRunsRequest(page_size=2, **filters)
    token = wire.ask("ListRuns", first, run_service_pb2.ListRunsResponse).next_page_token
    same = run_service_pb2.ListRunsRequest(page_token=token, page_size=9, **filters)
    assert wire.send("ListRuns", same).reason == "OK", "another size is no other list"
    others: dict[str, dict[str, Any]] = {
        "another address": filters | {"address": f"{fleet.building}/r1"},
        "the city": filters | {"address": ""},
        "another state": filters | {"state": run_pb2.RUN_STATE_ACTIVE},
        "other labels": filters | {"labels": {"all": fleet.building, "team": "blue"}},
        "no labels": filters | {"labels": {}},
    }
    for name, other in others.items():
        request = run_service_pb2.ListRunsRequest(page_token=token, **other)
        assert wire.send("ListRuns", request).reason == "ARGUMENT_INVALID", name
    among = building_service_pb2.ListBuildingsRequest(page_token=token)
    assert wire.send("ListBuildings", among).reason == "ARGUMENT_INVALID"


def test_a_token_that_was_changed_is_refused(wire: Wire, fleet: Fleet) -> None:
    request = run_service_pb2.ListRunsRequest(address=fleet.building, page_size=2)
    token = wire.ask("ListRuns", request, run_service_pb2.ListRunsResponse).next_page_token
    version, of_list, (at, last) = json.loads(base64.urlsafe_b64decode(token))
    inside = [
        [version + 1, of_list, [at, last]],
        [version, of_list + "0", [at, last]],
        [version, of_list, [str(at), last]],
        [version, of_list, [at, 7]],
        [version, of_list, [at]],
        [version, of_list, [at, last, last]],
        [version, of_list, [True, last]],
        [version, of_list, [2**70, last]],
        [version, of_list, [-(2**70), last]],
        [version, of_list, [1e300, last]],
        [version, of_list, None],
        {"version": version},
        [],
    ]
    forged = [base64.urlsafe_b64encode(json.dumps(what).encode()).decode() for what in inside]
    deep = base64.urlsafe_b64encode(b"[" * 20_000).decode()
    changed = {"cut": token[:-5], "begun late": token[1:], "other letters": token.swapcase(), "deep": deep}
    changed |= {"a mark before it": "!" + token, "a space in it": f"{token[:9]} {token[9:]}"}
    changed |= {str(what): text for what, text in zip(inside, forged, strict=True)}
    told = {}
    for name, text in changed.items():
        request.page_token = text
        answer = wire.send("ListRuns", request)
        told[name] = (answer.reason, list(answer.violations), faults_of(answer))
    wrong = {name: it for name, it in told.items() if it != ("ARGUMENT_INVALID", ["page_token"], [])}
    assert wrong == {}


@given(st.text() | st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode()))
def test_any_other_text_is_no_token(text: str) -> None:
    if not text:
        return
    with pytest.raises(Refusal):
        read_page_token(["runs"], text, (int, str))


@given(st.integers(0, 2**63 - 1), st.text(PRINTABLE, max_size=128))
def test_a_token_brings_back_what_it_was_made_of(at: int, last: str) -> None:
    assert read_page_token(["runs", "lab"], page_token(["runs", "lab"], [at, last]), (int, str)) == [at, last]


@pytest.mark.parametrize("version", ["1.0", "true", "1 "])
def test_a_token_is_taken_as_it_was_written_alone(version: str) -> None:
    token = page_token(["runs"], [7, "r"])
    held = json.dumps([1, *json.loads(base64.urlsafe_b64decode(token))[1:]])
    other = base64.urlsafe_b64encode(held.replace("[1,", f"[{version},", 1).encode()).decode()
    with pytest.raises(Refusal):
        read_page_token(["runs"], other, (int, str))


def test_a_page_of_large_runs_fits_what_a_client_takes(wire: Wire) -> None:
    place = fresh()
    large = {f"{n:02}" + "k" * 126: "🦉" * 1024 for n in range(16)}
    for _ in range(80):
        wire.ask("StartRun", starting(address=place, labels=large), run_service_pb2.StartRunResponse)
    request = run_service_pb2.ListRunsRequest(address=place, page_size=1000)
    assert len(wire.send("ListRuns", request).payload) < USUAL_LIMIT
    assert len(list(pages(wire, request))) > 1
    assert len(set(listed(wire, request))) == 80


def buildings(wire: Wire, size: int) -> list[building_pb2.Building]:
    """All buildings, in pages of that size."""
    found: list[building_pb2.Building] = []
    request = building_service_pb2.ListBuildingsRequest(page_size=size)
    while True:
        answer = wire.ask("ListBuildings", request, building_service_pb2.ListBuildingsResponse)
        assert 0 < len(answer.buildings) <= (size or 100)
        found += answer.buildings
        if not answer.next_page_token:
            return found
        request.page_token = answer.next_page_token


@pytest.mark.parametrize("size", [0, 1, 3])
def test_buildings_come_in_the_order_of_their_addresses_the_city_first(size: int, wire: Wire) -> None:
    names = [f"b{n}{fresh()[:8]}" for n in range(4)]
    made = [*names, f"{names[0]}/ada", f"{names[0]}/bob", f"{names[3]}-x"]
    for address in reversed(made):
        request = commanding(address=address, notices_every_steps=3)
        wire.ask("ConfigureBuilding", request, building_service_pb2.ConfigureBuildingResponse)
    found = buildings(wire, size)
    addresses = [building.address for building in found]
    assert addresses[0] == ""
    assert addresses == sorted(set(addresses))
    assert set(made) <= set(addresses)
    for building in found:
        read = building_service_pb2.GetBuildingRequest(address=building.address)
        assert wire.ask("GetBuilding", read, building_service_pb2.GetBuildingResponse).building == building


def test_a_broken_document_is_listed_with_nothing_and_hides_no_other(wire: Wire, server: Server) -> None:
    whole, broken = fresh(), fresh()
    for address in (whole, broken, f"{broken}/ada"):
        request = commanding(address=address, notices_every_steps=3)
        wire.ask("ConfigureBuilding", request, building_service_pb2.ConfigureBuildingResponse)
    document = server.data / "city" / broken / "CONFIG.toml"
    document.write_text("[notices\nevery_steps = 3\n")
    found = {building.address: building for building in buildings(wire, 0)}
    assert (len(found[broken].stated), len(found[broken].settled)) == (0, 0)
    assert (len(found[f"{broken}/ada"].stated), len(found[f"{broken}/ada"].settled)) == (0, 0)
    assert found[broken].etag
    assert [settled.key for settled in found[whole].stated] == ["notices.every_steps"]
    assert found[whole].settled
    read = building_service_pb2.GetBuildingRequest(address=broken)
    assert wire.send("GetBuilding", read).reason == "CONFIG_UNREADABLE"
    document.write_text("[notices]\nevery_steps = 3\n")
    assert {building.address: building for building in buildings(wire, 0)}[broken].settled


def test_a_page_of_large_buildings_fits_what_a_client_takes(wire: Wire) -> None:
    """Each building is told with the windows that the city states."""
    models = {f"model-{n:04}-" + "x" * 200: 1000 for n in range(270)}
    request = commanding(address="", models=models)
    wire.ask("ConfigureBuilding", request, building_service_pb2.ConfigureBuildingResponse)
    try:
        for n in range(80):
            request = commanding(address=f"large-{n}", notices_every_steps=3)
            wire.ask("ConfigureBuilding", request, building_service_pb2.ConfigureBuildingResponse)
        answer = wire.send("ListBuildings", building_service_pb2.ListBuildingsRequest(page_size=1000))
        assert len(answer.payload) < USUAL_LIMIT
        assert len([one for one in buildings(wire, 1000) if one.address.startswith("large-")]) == 80
    finally:
        request = commanding(address="", reset=["models"])
        wire.ask("ConfigureBuilding", request, building_service_pb2.ConfigureBuildingResponse)
