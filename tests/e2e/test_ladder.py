"""The ladder through a server: what a write, a hand edit and a broken document do to going runs and new ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import Server, running_server
from ullage import (
    ArgumentInvalid,
    Building,
    BuildingNotFound,
    Client,
    ConfigChanged,
    ConfigUnreadable,
    RequestIdReused,
    Run,
    Sounded,
    ThresholdOutOfDomain,
)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server.target, timeout=60) as client:
        yield client


def document(server: Server, rung: str) -> Path:
    return server.data / "city" / rung / "CONFIG.toml"


def written(server: Server, rung: str, text: str) -> Path:
    """The rung's document, as an operator writes it."""
    path = document(server, rung)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def stated(building: Building) -> dict[str, str]:
    return {settled.key: settled.value for settled in building.stated}


def second_threshold(run: Run) -> tuple[int, str]:
    """The frozen second threshold, and where it came from."""
    source = next(settled.source for settled in run.settled if settled.key == "context.second_threshold")
    return run.plan.second_threshold, source


def test_a_write_changes_no_going_run_is_frozen_by_the_next_and_survives_a_restart(server: Server) -> None:
    with Client(server.target, timeout=60) as client:
        before = client.start_run(address="lab", context_tokens=1000)
        client.configure_building("lab", context_second_threshold=40)
        after = client.start_run(address="lab", context_tokens=1000)
        assert before.observe(500).sounded == Sounded.FIRST
        assert after.observe(500).sounded == Sounded.HANDOVER
    server.kill()
    server.start()
    with Client(server.target, timeout=60) as client:
        stands = client.get_run(before.run_id)
        assert stands.plan == before.plan
        going = client.resume_run(before.run_id)
        assert going.observe(640).sounded == Sounded.FIRST
        assert going.observe(650).sounded == Sounded.HANDOVER
        assert second_threshold(before) == (65, "default")
        assert second_threshold(after) == (40, "lab")
        assert second_threshold(client.start_run(address="lab/alice")) == (40, "lab")
        assert second_threshold(client.start_run(address="yard")) == (65, "default")
        assert second_threshold(client.start_run(before.run_id, address="lab", context_tokens=1000)) == (
            65,
            "default",
        )


def test_what_is_written_twice_under_one_request_id_is_written_once(server: Server) -> None:
    with Client(server.target, timeout=60) as client:
        first = client.configure_building("twice", request_id="w-1", context_second_threshold=40)
        client.configure_building("twice", request_id="w-2", context_second_threshold=70)
        text = document(server, "twice").read_bytes()
        assert client.configure_building("twice", request_id="w-1", context_second_threshold=40) == first
        with pytest.raises(RequestIdReused):
            client.configure_building("twice", request_id="w-1", context_second_threshold=41)
    server.kill()
    server.start()
    with Client(server.target, timeout=60) as client:
        assert client.configure_building("twice", request_id="w-1", context_second_threshold=40) == first
        with pytest.raises(RequestIdReused):
            client.configure_building("elsewhere", request_id="w-1", context_second_threshold=40)
        assert document(server, "twice").read_bytes() == text
        assert second_threshold(client.start_run(address="twice")) == (70, "twice")


def test_a_hand_edit_is_seen_by_the_next_start(server: Server, client: Client) -> None:
    written(server, "hand", "[context]\nsecond_threshold = 50\n")
    going = client.start_run(address="hand", context_tokens=1000)
    written(server, "hand", '[context]\nsecond_threshold = 55\n[models]\n"own model" = 4000\n')
    assert second_threshold(going) == (50, "hand")
    assert going.observe(520).sounded == Sounded.HANDOVER
    following = client.start_run(address="hand", model="own model")
    assert second_threshold(following) == (55, "hand")
    assert following.plan.context_tokens == 4000
    document(server, "hand").unlink()
    assert second_threshold(client.start_run(address="hand")) == (65, "default")
    with pytest.raises(BuildingNotFound):
        client.get_building("hand")


BROKEN = "# ours\n[context]\nsecond_threshold = = 50\n"


def test_a_broken_document_refuses_with_its_place_and_harms_nobody_else(server: Server, client: Client) -> None:
    client.configure_building("broken", context_second_threshold=50)
    client.configure_building("broken/bob", context_second_threshold=60)
    client.configure_building("sound", context_second_threshold=70)
    going = client.start_run(address="broken", context_tokens=1000)
    bobs = client.start_run(address="broken/bob", context_tokens=1000)
    assert going.observe(400).sounded == Sounded.FIRST

    written(server, "broken", BROKEN)
    for refused in (
        lambda: client.start_run(address="broken"),
        lambda: client.start_run(address="broken/bob"),
        lambda: client.start_run(address="broken/nobody"),
        lambda: client.get_building("broken"),
        lambda: client.get_building("broken/bob"),
        lambda: client.configure_building("broken", context_second_threshold=55),
    ):
        with pytest.raises(ConfigUnreadable) as caught:
            refused()
        told = f"{caught.value.subject}: {caught.value.message}"
        assert "building broken" in told
        assert "line 3" in told
        assert "column 20" in told
        assert str(server.data) not in f"{told} {caught.value.recovery}"
    assert document(server, "broken").read_text() == BROKEN

    assert going.observe(500).sounded == Sounded.HANDOVER
    assert bobs.observe(650).sounded == Sounded.HANDOVER
    assert client.get_run(going.run_id).plan.second_threshold == 50
    again = client.start_run(going.run_id, address="broken", context_tokens=1000)
    assert (again.replayed, again.last_turn) == (True, 2)
    assert second_threshold(client.start_run(address="sound")) == (70, "sound")
    assert stated(client.configure_building("sound", context_second_threshold=71)) == {
        "context.second_threshold": "71"
    }
    listed = {building.address: building for building in client.list_buildings()}
    assert {"broken", "broken/bob", "sound"} <= listed.keys()
    assert (len(listed["broken"].stated), len(listed["sound"].stated)) == (0, 1)

    written(server, "broken", BROKEN.replace("= =", "="))
    assert second_threshold(client.start_run(address="broken")) == (50, "broken")
    assert second_threshold(client.start_run(address="broken/bob")) == (60, "broken/bob")


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("[context]\nsecond_threshold = 95\n", 2, 1),
        ("[context]\n\n\nrearm = 'sometimes'\n", 4, 1),
        ("[context]\nfinishing_act = 'a'\n[context]\nfinishing_act = 'b'\n", 3, 9),
        ("[clock]\nzone = 'Mars/Olympus'\n", 2, 1),
    ],
)
def test_a_value_that_no_document_may_hold_is_named_by_its_place(
    server: Server, client: Client, text: str, line: int, column: int
) -> None:
    written(server, "wrong", text)
    with pytest.raises(ConfigUnreadable, match=f"line {line}, column {column}"):
        client.start_run(address="wrong")


def test_a_write_that_fits_no_more_is_refused(server: Server, client: Client) -> None:
    absent = client.configure_building("tag", context_second_threshold=40, validate_only=True)
    assert not document(server, "tag").exists()
    with pytest.raises(BuildingNotFound):
        client.get_building("tag")
    with pytest.raises(ConfigChanged):
        client.configure_building("tag", etag=absent.etag, context_second_threshold=40)
    first = client.configure_building("tag", context_second_threshold=40)
    assert client.get_building("tag").etag == first.etag == absent.etag
    second = client.configure_building("tag", etag=first.etag, context_second_threshold=41)
    with pytest.raises(ConfigChanged):
        client.configure_building("tag", etag=first.etag, context_second_threshold=42)
    path = written(server, "tag", document(server, "tag").read_text() + "# by hand\n")
    with pytest.raises(ConfigChanged):
        client.configure_building("tag", etag=second.etag, context_second_threshold=43)
    assert path.read_text().endswith("# by hand\n")
    client.configure_building("tag", etag=client.get_building("tag").etag, context_second_threshold=44)
    assert second_threshold(client.start_run(address="tag")) == (44, "tag")


BY_HAND = """\
# The lab's rules.   Ask before you change them.

[context]   # the gauge
second_threshold   =   50   # half is enough
finishing_act = 'handover'

  [exchange]
  budget_bytes = 0x8000

[deployment]      # not ours to read
owner = "ops"
tags = [ "a" ,
         "b", ]

[models]
"gpt-5" = 400_000
# the end
"""


def test_comments_order_and_other_keys_survive_a_write_byte_for_byte(server: Server, client: Client) -> None:
    path = written(server, "kept", BY_HAND)
    client.configure_building("kept", context_second_threshold=70)
    changed = BY_HAND.replace("50   # half", "70   # half")
    assert path.read_text() == changed
    client.configure_building("kept", context_second_threshold=70)
    assert path.read_text() == changed
    client.configure_building("kept", notices_every_steps=3, models={"own": 5})
    left = path.read_text()
    for line in changed.splitlines():
        assert line in left
        left = left[left.index(line) + len(line) :]
    client.configure_building("kept", reset=["notices.every_steps", "models.own"])
    assert stated(client.get_building("kept")) == {
        "context.second_threshold": "70",
        "context.finishing_act": "handover",
        "exchange.budget_bytes": "32768",
        "models.gpt-5": "400000",
    }
    for line in changed.splitlines():
        assert line in path.read_text()


def test_a_write_that_is_refused_leaves_no_trace(server: Server, client: Client) -> None:
    path = written(server, "same", BY_HAND)
    before = path.read_bytes()
    with pytest.raises(ThresholdOutOfDomain, match="31 to 90"):
        client.configure_building("same", request_id="refused-1", context_second_threshold=91)
    with pytest.raises(ArgumentInvalid):
        client.configure_building("same", clock_zone="Mars/Olympus")
    with pytest.raises(ArgumentInvalid):
        client.configure_building("same", notices_every_steps=1, reset=["notices.every_steps"])
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["CONFIG.toml"]
    # The id of a command that was refused is free.
    client.configure_building("same", request_id="refused-1", context_second_threshold=90)
    assert stated(client.get_building("same"))["context.second_threshold"] == "90"
