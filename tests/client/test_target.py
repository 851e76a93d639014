"""The address of a server: one that gRPC would take for another is refused before anything is called."""

import pytest

import ullage
from ullage.target import check_target


@pytest.mark.parametrize(
    "target",
    [
        "127.0.0.1:50151",
        "localhost:1",
        "[::1]:65535",
        "a.host-name.example:443",
        "unix:/run/x",
        "unix:x",
        "dns:///h:1",
    ],
)
def test_an_address_is_taken_as_it_is(target: str) -> None:
    assert check_target(target) == target


@pytest.mark.parametrize(
    "target",
    [
        "",
        "localhost",
        "127.0.0.1",
        "http://127.0.0.1:50151",
        "127.0.0.1:0",
        "127.0.0.1:65536",
        "127.0.0.1:99999",
        "/run/x.sock",
        "unix:",
        "host:port",
        " localhost:1",
        "::1:5",
        "unix:/\udcff",
    ],
)
def test_what_is_no_address_is_refused_with_one_that_is(target: str) -> None:
    for client in (ullage.Client, ullage.AsyncClient):
        with pytest.raises(ValueError, match=r"unix:/PATH or HOST:PORT, as 127\.0\.0\.1:50151"):
            client(target)


def test_an_address_of_the_environment_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ULLAGE_TARGET", "bogus")
    with pytest.raises(ValueError, match=r"^ULLAGE_TARGET is 'bogus', which is no address"):
        ullage.Client()
    with pytest.raises(ValueError, match=r"^target is 'elsewhere', which is no address"):
        ullage.Client("elsewhere")


@pytest.mark.parametrize("target", [50151, ("127.0.0.1", 50151), b"unix:/x"])
def test_an_address_is_a_text(target: object) -> None:
    with pytest.raises(TypeError, match="target is an address as text"):
        ullage.Client(target)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("model", 5),
        ("run_id", 5),
        ("labels", {"a": 1}),
        ("labels", ["a"]),
        ("context_tokens", 200_000.0),
        ("context_tokens", 10**20),
        ("second_threshold", 0.65),
        ("second_threshold", "70"),
        ("subagent", "yes"),
    ],
)
def test_an_argument_of_another_type_is_named(argument: str, value: object) -> None:
    with (
        ullage.Client("unix:/nowhere") as client,
        pytest.raises((TypeError, ValueError), match=f"^{argument} takes "),
    ):
        client.start_run(**{argument: value})  # type: ignore[arg-type]
