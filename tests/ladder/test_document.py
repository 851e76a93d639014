import pytest

from tests.ladder.fakes import ZONES, stated
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.settings import Rearm
from ullage_server.ladder.document import MAX_KEY_PARTS, etag, parse


def refused(text: str, address: str = "lab") -> Refusal:
    with pytest.raises(Refusal) as caught:
        parse(address, text, ZONES)
    assert caught.value.reason is Reason.CONFIG_UNREADABLE
    assert caught.value.recovery
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        "[context]\nsecond_threshold = 40\nrearm = 'per_window'\n",
        "context.second_threshold = 40\ncontext.rearm = 'per_window'\n",
        "context = {second_threshold = 40, rearm = 'per_window'}\n",
        "['context']\n\"second_threshold\" = 4_0\nrearm = '''per_window'''\n",
        '"context" . second_threshold = 0x28\n"context"."rearm" = "per\\u005fwindow"\r\n',
        "[context.note]\nx = 1\n[clock]\n[context]\nrearm = 'per_window'\nsecond_threshold = 40\n[z]\n"
        "context.rearm = 1\n",
    ],
)
def test_every_spelling_of_a_key_is_read(text: str) -> None:
    assert stated(parse("lab", text, ZONES)) == {
        "context.second_threshold": 40,
        "context.rearm": Rearm.PER_WINDOW,
    }


def test_all_keys_are_read_and_others_are_left_alone() -> None:
    text = """
        note = "mine"
        [context]
        second_threshold = 90
        finishing_act = "close_up"
        colour = "green"
        [exchange]
        budget_bytes = 0
        [notices]
        every_steps = 3
        include_subagents = false
        [reminders]
        budget_chars = 10
        [clock]
        zone = "Asia/Tokyo"
        [models]
        "gpt-4.1" = 1000
        'a "b" ü' = 1
    """
    assert stated(parse("", text, ZONES)) == {
        "context.second_threshold": 90,
        "context.finishing_act": "close_up",
        "exchange.budget_bytes": 0,
        "notices.every_steps": 3,
        "notices.include_subagents": False,
        "reminders.budget_chars": 10,
        "clock.zone": "Asia/Tokyo",
        "models.gpt-4.1": 1000,
        'models.a "b" ü': 1,
    }


def test_an_empty_text_states_nothing() -> None:
    assert stated(parse("lab", "", ZONES)) == {}
    assert stated(parse("lab", "# to do\n\n[context]\n", ZONES)) == {}


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a = \n", 1, 5),
        ("[context\n", 1, 9),
        ("x = 1\ny = = 2\n", 2, 5),
        ("a = 1\na = 2\n", 2, 6),
        ("[context]\n[clock]\n[context]\n", 3, 9),
        ("x = [1,\n# open\n", 3, 1),
        ("x = 'open", 1, 10),
        ("\ufeffx = 1\n", 1, 1),
        ("ok = 1\nx = " + "9" * 5000 + "\n", 2, 5),
        ("ok = 1\nx = " + "[" * 9000 + "\n", 2, 5),
        ("x = 1979-99-99\n", 1, 9),
    ],
)
def test_no_toml_is_refused_with_its_place(text: str, line: int, column: int) -> None:
    refusal = refused(text)
    assert refusal.subject == "building lab"
    assert f"line {line}, column {column};" in refusal.message
    assert f"line {line}" in refusal.recovery


@pytest.mark.timeout(20)  # the parser takes half a minute for each
@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("x = 1\n  " + "a." * 31_000 + "a = 1\n", 2, 3),
        ("x = 1\n[" + "a." * 31_000 + "a]\n", 2, 2),
        ("[[" + "a." * 31_000 + "a", 1, 3),
        ("x = { y = 1, " + "'a' . " * 10_000 + "a = 1 }\n", 1, 14),
    ],
)
def test_a_key_of_more_parts_than_anybody_writes_is_refused_with_its_place(
    text: str, line: int, column: int
) -> None:
    refusal = refused(text)
    assert f"of more than {MAX_KEY_PARTS} parts at line {line}, column {column};" in refusal.message
    assert f"line {line}" in refusal.recovery


def test_a_key_may_have_as_many_parts_as_are_read() -> None:
    assert stated(parse("lab", "a." * (MAX_KEY_PARTS - 1) + "a = 1\n", ZONES)) == {}
    refused("a." * MAX_KEY_PARTS + "a = 1\n")


@pytest.mark.parametrize(
    ("text", "line", "column", "key"),
    [
        ("# head\n\n[context]\nsecond_threshold = 91\n", 4, 1, "context.second_threshold"),
        ("[context]\n  second_threshold = 30\n", 2, 3, "context.second_threshold"),
        ("[context]\r\nrearm = 'per_run'\r\nsecond_threshold = -1\r\n", 3, 1, "context.second_threshold"),
        ("[context]\nsecond_threshold = 'forty'\n", 2, 1, "context.second_threshold"),
        ("[context]\nsecond_threshold = 40.0\n", 2, 1, "context.second_threshold"),
        ("[context]\nsecond_threshold = true\n", 2, 1, "context.second_threshold"),
        ("x = 1\ncontext.second_threshold = 0\n", 2, 1, "context.second_threshold"),
        ("context = {rearm = 'per_run', second_threshold = 0}\n", 1, 31, "context.second_threshold"),
        ("'context' = { \"second_threshold\" = 0 }\n", 1, 15, "context.second_threshold"),
        ('["context"]\n"second\\u005fthreshold" = 0\n', 2, 1, "context.second_threshold"),
        ("[context.second_threshold]\n", 1, 1, "context.second_threshold"),
        ("[context]\n[[context.second_threshold]]\n", 2, 1, "context.second_threshold"),
        # What only looks like the key is passed over.
        (
            "n = '''\n[context]\nsecond_threshold = 3\n'''\n[context]\nsecond_threshold = 3\n",
            6,
            1,
            "context.second",
        ),
        (
            'n = """\n\\"""\nsecond_threshold = 3"""""\n[context]\nsecond_threshold = 3 # "\n',
            5,
            1,
            "context.second",
        ),
        (
            "# second_threshold\n[clock]\nsecond_threshold = 1\n[context]\nsecond_threshold = 1\n",
            5,
            1,
            "context.se",
        ),
        ("a = [ {second_threshold = 1}, ']', # ]\n ]\n[context]\nsecond_threshold = 1\n", 4, 1, "context.second"),
        ("[x]\ncontext.second_threshold = 1\n[context]\nsecond_threshold = 1\n", 4, 1, "context.second_threshold"),
        ("context = 3\n", 1, 1, "context"),
        ("x = 1\n[[context]]\nrearm = 1\n", 2, 1, "context"),
        ("models = []\n", 1, 1, "models"),
        ("[context]\nrearm = 'sometimes'\n", 2, 1, "context.rearm"),
        ("[context]\nfinishing_act = 'close up'\n", 2, 1, "context.finishing_act"),
        ("[exchange]\nbudget_bytes = 9007199254740992\n", 2, 1, "exchange.budget_bytes"),
        ("[exchange]\nbudget_bytes = 0x" + "f" * 9000 + "\n", 2, 1, "exchange.budget_bytes"),
        ("[notices]\nevery_steps = 2147483648\n", 2, 1, "notices.every_steps"),
        ("[notices]\ninclude_subagents = 1\n", 2, 1, "notices.include_subagents"),
        ("[clock]\nzone = 'Mars/Olympus'\n", 2, 1, "clock.zone"),
        ("[models]\na = 1\n'b.c' = 0\n", 3, 1, "models.b.c"),
        ("[models]\ngpt-4.1 = 1000\n", 2, 1, "models.gpt-4"),
        ("[models.gpt]\nx = 1000\n", 1, 1, "models.gpt"),
        ("[models]\nm = 0x" + "f" * 9000 + "\n", 2, 1, "models.m"),
        ("[models]\n'' = 5\n", 2, 1, "a name in models"),
        ('[models]\n"a\\nb" = 5\n', 2, 1, "a name in models"),
        ("[models]\n'" + "m" * 5000 + "' = 5\n", 2, 1, "a name in models"),
    ],
)
def test_a_wrong_value_is_refused_with_its_place_and_key(text: str, line: int, column: int, key: str) -> None:
    refusal = refused(text, "lab/alice")
    assert refusal.subject == "building lab/alice"
    assert f"line {line}, column {column}: " in refusal.message
    assert key in refusal.message
    assert len(refusal.message) < 500
    assert refusal.message.isprintable()
    assert refusal.field == ""


def test_a_threshold_out_of_its_domain_names_the_domain() -> None:
    message = refused("[context]\nsecond_threshold = 95\n").message
    assert "31" in message
    assert "90" in message
    assert "context.second_threshold" in message


@pytest.mark.parametrize(
    "text",
    [
        "password = 'hunter2'\n[context]\nrearm = 'hunter2'\n",
        "[context]\nfinishing_act = 'hunter2 !'\n",
        "[clock]\nzone = 'hunter2'\n",
        "[context]\nsecond_threshold = 'hunter2'\n",
        "token = hunter2\n",
    ],
)
def test_a_refusal_tells_nothing_of_the_text(text: str) -> None:
    refusal = refused(text)
    assert "hunter2" not in refusal.message + refusal.recovery + refusal.subject


def test_the_city_is_named_as_such() -> None:
    assert refused("x", "").subject == "the city"
    assert "the city" in refused("x", "").message


def test_a_name_with_a_dot_is_told_to_stand_in_quotes() -> None:
    assert "quotes" in refused("[models]\ngpt-4.1 = 1000\n").message


def test_an_etag_changes_with_the_text() -> None:
    assert etag("a = 1\n") == etag("a = 1\n")
    assert len({etag(None), etag(""), etag("\n"), etag("a = 1\n"), etag("a = 1\r\n"), etag("ü")}) == 6
