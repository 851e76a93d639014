import pytest
from structlog.testing import capture_logs

from tests.ladder.fakes import ZONES
from ullage_server.ladder.document import parse


def told(text: str, address: str = "lab") -> dict[str, str]:
    """The keys that reading `text` warns of, each with what is said of it."""
    with capture_logs() as logs:
        parse(address, text, ZONES)
    assert all(log["log_level"] == "warning" for log in logs)
    return {log["key"]: f"{log['rung']}: {log['hint']}" for log in logs}


@pytest.mark.parametrize(
    ("text", "key", "nearest"),
    [
        ("[context]\nsecond_treshold = 40\n", "context.second_treshold", "context.second_threshold"),
        ("notices.every_step = 3\n", "notices.every_step", "notices.every_steps"),
        ("[exchange]\nbudget = 3\n", "exchange.budget", "exchange.budget_bytes"),
        ("[contxt]\nsecond_threshold = 40\n", "contxt", "context"),
        ("[model]\nm = 40\n", "model", "models"),
        ("[clock]\nx = 1\n", "clock.x", "clock.zone"),
    ],
)
def test_a_misspelt_key_is_told_with_the_nearest_one(text: str, key: str, nearest: str) -> None:
    for address in ("lab", ""):
        said = told(text, address)
        assert said.keys() == {key}
        assert nearest in said[key]
        assert said[key].startswith("building lab" if address else "the city")


def test_it_is_told_once_for_each_state_of_a_document() -> None:
    text = "[context]\nrearmed = 'once'\n"
    assert told(text, "once")
    assert not told(text, "once")
    assert told(text, "twice")
    assert told(text + "# changed\n", "once")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[deployment]\nowner = 'ops'\n",
        "note = 1\n",
        "[models]\nsecond_treshold = 1\n",
        "[clock]\nzone = 'UTC'\n",
    ],
)
def test_what_is_anybodys_is_not_told(text: str) -> None:
    assert not told(text, "quiet")


@pytest.mark.timeout(20)
def test_of_many_keys_a_few_are_told_and_little_of_each() -> None:
    many = "[context]\n" + "".join(f"second_treshold_{number} = 1\n" for number in range(2500))
    assert len(told(many, "many")) == 5
    assert all(len(key) < 80 for key in told("[context]\n" + "x" * 5000 + " = 1\n", "long"))
    tables = "".join(f"[contexts{number}]\n" for number in range(3500))
    assert len(told(tables, "tables")) <= 5
