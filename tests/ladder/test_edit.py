import time

import pytest

from tests.ladder.fakes import ZONES, command, stated, threshold
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.rung import Command
from ullage_server.core.settings import Rearm
from ullage_server.ladder.document import parse
from ullage_server.ladder.edit import edit

TYPED = """\
# The lab's rung. Ask Ada before you change it.

[context] # how full is full
  second_threshold = 40   # the lab hands over early
  rearm = 'per_run'
# a note on the clock
[clock]
zone = "UTC"

[mine]
second_threshold = 1
"""


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        pytest.param("", threshold(50), "[context]\nsecond_threshold = 50\n", id="a first key"),
        pytest.param(
            "# mine\n", threshold(50), "# mine\n\n[context]\nsecond_threshold = 50\n", id="below a comment"
        ),
        pytest.param("x = 1", threshold(50), "x = 1\n\n[context]\nsecond_threshold = 50\n", id="no last newline"),
        pytest.param(TYPED, threshold(50), TYPED.replace("= 40 ", "= 50 "), id="a value in place"),
        pytest.param(
            TYPED,
            command(context__finishing_act="leave"),
            TYPED.replace("'per_run'\n", "'per_run'\nfinishing_act = \"leave\"\n"),
            id="a key behind its table's last, before the next one's comment",
        ),
        pytest.param(
            TYPED,
            command(reset=("context.second_threshold",)),
            TYPED.replace("  second_threshold = 40   # the lab hands over early\n", ""),
            id="a reset takes the line and the comment on it",
        ),
        pytest.param(
            TYPED,
            command(reset=("context.rearm", "clock.zone")),
            TYPED.replace("  rearm = 'per_run'\n", "").replace('zone = "UTC"\n', ""),
            id="a reset takes the line and leaves the header",
        ),
        pytest.param(
            "context.second_threshold = 40\r\ncontext.x = 1\r\ny = 2\r\n",
            command(context__second_threshold=50, context__rearm=Rearm.PER_WINDOW),
            'context.second_threshold = 50\r\ncontext.x = 1\r\ncontext.rearm = "per_window"\r\ny = 2\r\n',
            id="dotted",
        ),
        pytest.param(
            "context.second_threshold = 40 # c\n",
            command(context__rearm=Rearm.PER_RUN, reset=("context.second_threshold",)),
            'context.rearm = "per_run"\n',
            id="the last dotted goes and another comes",
        ),
        pytest.param(
            "context = {second_threshold=40} # c\n",
            command(context__second_threshold=50, context__finishing_act="leave"),
            'context = {second_threshold=50, finishing_act = "leave"} # c\n',
            id="an inline table",
        ),
        pytest.param(
            "context = {}\n", threshold(50), "context = {second_threshold = 50}\n", id="an empty inline one"
        ),
        pytest.param(
            "context = {rearm='per_run', x = 1, second_threshold=40}\n",
            command(reset=("context.rearm", "context.second_threshold")),
            "context = { x = 1 }\n",
            id="inline members go",
        ),
        pytest.param(
            "context = {rearm='per_run', second_threshold=40}\n",
            command(context__finishing_act="leave", reset=("context.rearm", "context.second_threshold")),
            'context = {  finishing_act = "leave"}\n',
            id="inline members go and one comes",
        ),
        pytest.param(
            "context = {x.y = 1, second_threshold=40}\n",
            command(context__second_threshold=55, context__finishing_act="go"),
            'context = {x.y = 1, second_threshold=55, finishing_act = "go"}\n',
            id="an inline member with a dotted neighbour",
        ),
        pytest.param(
            "['context']\n\"second_threshold\" = 0x28 # hex\n",
            threshold(50),
            "['context']\n\"second_threshold\" = 50 # hex\n",
            id="quoted keys",
        ),
        pytest.param(
            "['context']\n\"second_threshold\" = 0x28 # hex\n",
            threshold(40),
            "['context']\n\"second_threshold\" = 0x28 # hex\n",
            id="a value that is there keeps its spelling",
        ),
        pytest.param(
            "[context.sub] # s\nx = 1\n[clock]\n[context] # c\nrearm = 'per_run'\n",
            command(reset=("context.rearm",)),
            "[context.sub] # s\nx = 1\n[clock]\n[context] # c\n",
            id="a table out of order keeps its header's comment",
        ),
        pytest.param(
            "[context.sub]\nx = 1\n",
            threshold(50),
            "[context.sub]\nx = 1\n\n[context]\nsecond_threshold = 50\n",
            id="only a table below is there",
        ),
        pytest.param(
            "[context]\nnote = '''\nsecond_threshold = 3\n'''\n",
            threshold(50),
            "[context]\nnote = '''\nsecond_threshold = 3\n'''\nsecond_threshold = 50\n",
            id="a text that looks like the key",
        ),
        pytest.param(
            "[models]\n'a' = 1 # one\nb = 2\n[models.c]\nx = 1\n[clock]\n",
            command(reset=("models",)),
            "[models]\n[clock]\n",
            id="all models go",
        ),
        pytest.param(
            "models = {a = 1}\nx = 1\n",
            command(reset=("models",)),
            "models = {}\nx = 1\n",
            id="all inline models go",
        ),
        pytest.param("models.a = 1\nx = 1\n", command(reset=("models",)), "x = 1\n", id="all dotted models go"),
        pytest.param(
            "[models]\ngpt-4.1 = 1000\n",
            command(models={"gpt-4.1": 5}, reset=("models.gpt-4",)),
            '[models]\n"gpt-4.1" = 5\n',
            id="a name that lacked its quotes is put right",
        ),
        pytest.param(
            "[models]\na = 1\n\n# a note on the clock\n[clock]\n",
            command(reset=("models",)),
            "[models]\n\n# a note on the clock\n[clock]\n",
            id="all models go and the next heading stays",
        ),
        pytest.param(
            "[context]\nrearm = 'x'\n\n# a note on what is below\n[context.sub]\nx = 1\n",
            command(context__second_threshold=50, context__finishing_act="go"),
            "[context]\nrearm = 'x'\nsecond_threshold = 50\nfinishing_act = \"go\"\n\n"
            "# a note on what is below\n[context.sub]\nx = 1\n",
            id="keys above the heading of a table below",
        ),
        pytest.param(
            "[context]\nnote.x = 1\n\n# a note on the clock\n[clock]\n",
            threshold(50),
            "[context]\nnote.x = 1\nsecond_threshold = 50\n\n# a note on the clock\n[clock]\n",
            id="a key behind a dotted one",
        ),
        pytest.param(
            "[context.sub]\n[clock]\n# c\n[context]\nrearm = 'x'\n# d\n[context.end]\n",
            threshold(50),
            "[context.sub]\n[clock]\n# c\n[context]\nrearm = 'x'\nsecond_threshold = 50\n# d\n[context.end]\n",
            id="a table out of order",
        ),
        pytest.param(
            "[context.sub]\nx = 1\n[clock]\n# c\n[context]\nrearm = 'x' # r\n# d\n[mine]\n",
            command(reset=("context.rearm",)),
            "[context.sub]\nx = 1\n[clock]\n# c\n[context]\n# d\n[mine]\n",
            id="a table out of order is emptied and its comments stay",
        ),
        pytest.param(
            "context.rearm = 'x'\ny = 1\n# c\ncontext.second_threshold = 40\n[context.sub]\n",
            command(context__finishing_act="go", reset=("context.rearm",)),
            'y = 1\n# c\ncontext.second_threshold = 40\ncontext.finishing_act = "go"\n[context.sub]\n',
            id="dotted keys apart",
        ),
        pytest.param(
            "x = '''a\r\nb'''\n[context]\r\n",
            threshold(50),
            "x = '''a\r\nb'''\n[context]\r\nsecond_threshold = 50\n",
            id="mixed line ends stay as they are",
        ),
        pytest.param(
            "[[mine]]\nx = 1\n[[mine]]\nx = 2\n# c\n[[context.sub]]\n[[context.sub]]\n",
            threshold(50),
            "[[mine]]\nx = 1\n[[mine]]\nx = 2\n# c\n[[context.sub]]\n[[context.sub]]\n\n"
            "[context]\nsecond_threshold = 50\n",
            id="arrays of tables",
        ),
        pytest.param("[[context]]\n", command(reset=("context.rearm",)), "[[context]]\n", id="nothing to reset"),
        pytest.param(
            "[context]\nrearm = 'x'", threshold(50), "[context]\nrearm = 'x'\nsecond_threshold = 50\n", id="end"
        ),
        pytest.param(
            "a = nan\nb = 1.5\n", threshold(50), "a = nan\nb = 1.5\n\n[context]\nsecond_threshold = 50\n", id="nan"
        ),
        pytest.param(
            "[context]\nfinishing_act = 1.5\n",
            command(context__finishing_act="1.5"),
            '[context]\nfinishing_act = "1.5"\n',
            id="a number is no text",
        ),
        pytest.param(
            "notices.include_subagents = 1\n",
            command(notices__include_subagents=True),
            "notices.include_subagents = true\n",
            id="a number is no truth",
        ),
    ],
)
def test_an_edit_changes_what_the_command_names(before: str, change: Command, after: str) -> None:
    assert edit(before, change) == after
    assert edit(after, change) == after


def test_many_new_tables_stand_in_the_ladders_order() -> None:
    everything = command(
        clock__zone="Asia/Tokyo",
        notices__include_subagents=False,
        notices__every_steps=0,
        context__rearm=Rearm.PER_WINDOW,
        models={"z": 1, "a": 2},
    )
    assert edit("", everything) == (
        '[context]\nrearm = "per_window"\n\n[notices]\nevery_steps = 0\ninclude_subagents = false\n\n'
        '[clock]\nzone = "Asia/Tokyo"\n\n[models]\nz = 1\na = 2\n'
    )


@pytest.mark.parametrize(
    "name", ["gpt-4.1", "a.b.c", 'say "hi"', "it's", "back\\slash", "ü/模型", "a b", "=#[]{}", "zone"]
)
@pytest.mark.parametrize("before", ["", "[models]\nx = 1\n", "models = {x = 1}\n", "models.x = 1\n"])
def test_a_models_name_is_quoted_right(before: str, name: str) -> None:
    after = edit(before, command(models={name: 5}))
    assert parse("lab", after, ZONES).models[name] == 5
    assert edit(after, command(models={name: 6})) == after.replace("= 5", "= 6")
    gone = edit(after, command(reset=(f"models.{name}",)))
    assert name not in parse("lab", gone, ZONES).models


def test_set_and_reset_bring_the_text_back_where_the_table_was_there() -> None:
    text = edit(TYPED, command(context__finishing_act="leave"))
    assert edit(text, command(reset=("context.finishing_act",))) == TYPED


@pytest.mark.parametrize("before", ["context = 3\n", "[[context]]\nx = 1\n", "context = []\n"])
def test_what_is_no_table_is_refused(before: str) -> None:
    with pytest.raises(Refusal, match="line 1, column 1: context is not a table") as caught:
        edit(before, threshold(50))
    assert caught.value.reason is Reason.CONFIG_UNREADABLE


@pytest.mark.parametrize(
    "before",
    [
        "[models.m]\nx = 1\n",
        "[models]\nm.x = 1\n",
        "models.m.x = 1\n",
        "models = {m = {x = 1}}\n",
        "[[models.m]]\nx = 1\n",
        "[models]\nm = [1, # one\n2]\n",
    ],
)
def test_a_key_that_has_no_single_value_is_refused(before: str) -> None:
    with pytest.raises(Refusal, match="in place") as caught:
        edit(before, command(models={"m": 5}))
    assert caught.value.reason is Reason.CONFIG_UNREADABLE
    assert "by hand" in caught.value.recovery


@pytest.mark.parametrize(
    "before",
    [
        "[models.c]\nx = 1\n# a note on the clock\n[clock]\n",
        "[models.c]\n[models.c.d] # c\n[clock]\n",
        "[models]\nc = [\n# mine\n]\n",
    ],
)
def test_a_reset_that_would_lose_a_comment_of_others_is_refused(before: str) -> None:
    with pytest.raises(Refusal, match="in place") as caught:
        edit(before, command(reset=("models",)))
    assert caught.value.reason is Reason.CONFIG_UNREADABLE


@pytest.mark.parametrize("table", ["context = 3\n", "context = 'rearm'\n", "[[context]]\n", "models = 3\n"])
def test_what_is_no_table_has_nothing_to_reset(table: str) -> None:
    assert edit(table, command(reset=("context.rearm", "models", "models.m"))) == table


@pytest.mark.parametrize(
    "before",
    [
        "x = " + "[" * 200 + "]" * 200 + "\n",
        "".join("a." * 29 + f"k{number} = 1\n" for number in range(900)),
        "[" + "h." * 9 + "h]\n" + "".join("a." * 9 + f"k{number} = 1\n" for number in range(200)),
        "".join("[" + "a." * 29 + f"k{number}]\n" for number in range(900)),
        "[[mine]]\nx = 1\n[clock]\n[[mine]]\nx = 2\n",  # it would move the second one up
    ],
)
@pytest.mark.timeout(20)  # the library takes a minute and more for some of them
def test_what_the_library_cannot_follow_is_refused(before: str) -> None:
    with pytest.raises(Refusal, match="in place") as caught:
        edit(before, threshold(50))
    assert caught.value.reason is Reason.CONFIG_UNREADABLE


@pytest.mark.timeout(20)
def test_each_key_to_reset_is_looked_for_once() -> None:
    text = "[models]\n" + "".join(f"m{number} = 1\n" for number in range(5000))
    gone = tuple(f"models.m{number}" for number in range(4000)) + ("models.other",) * 16_000
    assert len(parse("lab", edit(text, command(reset=gone)), ZONES).models) == 1000


@pytest.mark.parametrize(
    "result",
    [
        "x = 1\n[context]\nsecond_threshold = 50\n",
        "# mine\nx = 2\n[context]\nsecond_threshold = 50\n",
        "# mine\n[context]\nx = 1\nsecond_threshold = 50\n",
        "# mine\nx = 1\n[context]\nsecond_threshold = 51\n",
        "# mine\nx = 1\n[context]\nsecond_threshold = 50.0\n",
        "# mine\nx = 1\n",
        "# mine\nx = \n",
        ValueError(),
        RecursionError(),
        KeyError(),
    ],
)
def test_what_the_library_does_wrong_is_refused(result: str | Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def dumps(document: object) -> str:
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr("tomlkit.dumps", dumps)
    with pytest.raises(Refusal, match="in place") as caught:
        edit("# mine\nx = 1\n", threshold(50))
    assert caught.value.reason is Reason.CONFIG_UNREADABLE


def test_no_toml_is_refused() -> None:
    with pytest.raises(Refusal, match="line 2, column 3") as caught:
        edit("x = 1\n= 2\n"[:6] + "y 2\n", threshold(50))
    assert caught.value.reason is Reason.CONFIG_UNREADABLE


def test_a_wrong_value_may_be_put_right_by_a_command() -> None:
    text = "[context] # c\nsecond_threshold = 95 # too late\n"
    assert stated(parse("lab", edit(text, threshold(50)), ZONES)) == {"context.second_threshold": 50}
    assert edit(text, command(reset=("context.second_threshold",))) == "[context] # c\n"


@pytest.mark.parametrize("row", ['"model-{}" = 1\n', 'models."model-{}" = 1\n'])
def test_a_command_on_many_models_takes_no_longer_than_their_number(row: str) -> None:
    text = "".join(row.format(number) for number in range(1000))
    text = text if row.startswith("models") else f"[models]\n{text}"
    started = time.process_time()
    after = edit(text, command(models={f"new-{number}": 7 for number in range(1000)}, reset=("models.model-7",)))
    assert len(parse("lab", after, ZONES).models) == 1999
    assert parse("lab", edit(after, command(reset=("models",))), ZONES).models == {}
    assert time.process_time() - started < 10  # a second or two, where it was half a minute
