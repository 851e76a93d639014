import socket
import subprocess
import sys
from typing import Any

import pytest

from ullage_server.ladder import catalogue
from ullage_server.ladder.catalogue import packaged_windows


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("the catalogue asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("claude-sonnet-4-5-20250929", 200_000),
        ("claude-sonnet-4-5", 200_000),
        ("Claude-Sonnet-4-5", 200_000),
        ("anthropic/claude-sonnet-4-5", 200_000),
        ("anthropic/claude-sonnet-4.5", 200_000),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000),
        ("anthropic.claude-3-5-sonnet-20240620-v1:0", 200_000),
        ("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000),
        ("gpt-4o", 128_000),
        ("gpt-4o-2024-08-06", 128_000),
        ("openai/gpt-4o", 128_000),
        ("azure/gpt-4o", 128_000),
        ("gemini-2.5-pro", 1_048_576),
        ("models/gemini-2.5-pro", 1_048_576),
        ("google/gemini-2.5-pro", 1_048_576),
        ("openrouter/google/gemini-2.5-pro", 1_048_576),
    ],
)
def test_a_model_is_known_as_people_state_it(name: str, window: int) -> None:
    assert packaged_windows()(name) == window


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "/",
        "anthropic/",
        "m",
        "nobody-knows",
        "nobody/nothing",
        "claude-nobody",
        "gpt-4o-nonsense",
        "ü" * 256,
        "claude-sonnet-4-5[1m]",  # a variant of another window than the plain name's
    ],
)
def test_an_unknown_model_has_no_window(name: str) -> None:
    assert packaged_windows()(name) is None


def test_every_window_it_gives_is_one() -> None:
    look_up = packaged_windows()
    for provider in catalogue._providers():
        for model in provider.models:
            window = look_up(model.id)
            assert window is None or window > 0


def test_its_memory_is_bounded() -> None:
    look_up = packaged_windows()
    for number in range(3000):
        look_up(f"nobody-{number}")
    assert look_up.cache_info().currsize == catalogue._REMEMBERED  # type: ignore[attr-defined]


def test_a_library_that_is_missing_says_so_and_does_not_pass_for_one_that_knows_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices.data", None)
    with pytest.raises(ImportError):
        packaged_windows()("gpt-4o")


def test_the_library_is_not_loaded_before_the_first_question() -> None:
    code = (
        "import sys; from ullage_server.ladder.catalogue import packaged_windows; look_up = packaged_windows();"
        "assert 'genai_prices' not in sys.modules; print(look_up('gpt-4o'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "128000\n"
