"""run.prepare and the registry of reminders, against a real server."""

import asyncio
import copy
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ullage
from tests.servers import Server, running_server
from ullage import Edge, Moment

REMINDER = '<system_reminder>\n<reminder type="{label}"{more}>\n{text}\n</reminder>\n</system_reminder>'
#: What only texts have that are for one request alone.
PASSING = ("[time] ", 'type="each"')


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[ullage.Client]:
    with ullage.Client(server.target) as client:
        yield client


def texts(message: dict[str, Any]) -> list[str]:
    """The texts of a message, but those of a tool's."""
    content = message["content"]
    if message["role"] == "tool" or content is None:
        return []
    return [content] if isinstance(content, str) else [part["text"] for part in content if "text" in part]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


class Anthropic:
    """Messages of blocks."""

    def call(self, name: str) -> dict[str, Any]:
        return {"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": "f", "input": {}}]}

    def results(self, name: str, *, fails: bool = False) -> list[dict[str, Any]]:
        result = {"type": "tool_result", "tool_use_id": name, "content": f"result {name}", "is_error": fails}
        return [{"role": "user", "content": [result]}]

    def check(self, messages: list[dict[str, Any]]) -> None:
        """As strict as any server of this shape."""
        roles = [message["role"] for message in messages]
        assert all(one != other for one, other in pairwise(roles)), roles
        for at, message in enumerate(messages):
            uses = [block["id"] for block in message["content"] if block_is(block, "tool_use")]
            if uses:
                after = messages[at + 1]["content"][: len(uses)]
                assert [block.get("tool_use_id") for block in after] == uses, "no text before the results"


class OpenAI:
    """Messages with calls, and one of a tool for each."""

    def call(self, name: str) -> dict[str, Any]:
        called = {"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}}
        return {"role": "assistant", "content": None, "tool_calls": [called]}

    def results(self, name: str, *, fails: bool = False) -> list[dict[str, Any]]:
        return [{"role": "tool", "tool_call_id": name, "content": f"result {name}"}]

    def check(self, messages: list[dict[str, Any]]) -> None:
        """A call's result comes right behind it."""
        for at, message in enumerate(messages):
            for call in message.get("tool_calls", ()):
                assert messages[at + 1]["tool_call_id"] == call["id"]


def block_is(block: Any, kind: str) -> bool:
    return isinstance(block, dict) and block.get("type") == kind


Shape = Anthropic | OpenAI


def started(client: ullage.Client, **plan: Any) -> ullage.Run:
    return client.start_run(agent="Weaver", context_tokens=1000, notices_every_steps=1, time_budget=3600, **plan)


def ids(prepared: ullage.PreparedCall) -> list[str]:
    return [one.id for one in prepared.insertions]


@pytest.mark.parametrize("shape", [Anthropic(), OpenAI()])
def test_the_insertions_stand_where_they_belong(client: ullage.Client, shape: Shape) -> None:
    run = started(client)
    run.reminders.register(id="house", on=Edge.SESSION_START, content="Shoes off.")
    run.reminders.register(id="each", on="every_call", content=lambda moment: f"turn {moment.turn}")
    history = [{"role": "system", "content": "You sail."}, user("go")]
    before = copy.deepcopy(history)
    prepared = run.prepare(history)
    assert history == before
    assert ids(prepared) == ["1/session", "1/registered/house", "1/registered/each", "1/time"]
    house = REMINDER.format(label="house", more=' durable="true"', text="Shoes off.")
    assert texts(prepared.request[-1])[1:] == [
        house,
        REMINDER.format(label="each", more="", text="turn 1"),
        "go",
        prepared.insertions[-1].text,
    ]
    assert texts(prepared.history[-1])[1:] == [house, "go"]
    history = [*prepared.history, shape.call("a"), *shape.results("a")]
    run.observe(310)
    prepared = run.prepare(history)
    assert ids(prepared) == ["1/context/first", "2/notice", "2/registered/each"]
    assert prepared.request[: len(history) - 1] == history[:-1]
    assert [text for message in prepared.request[3:] for text in texts(message)] == [
        one.text for one in prepared.insertions
    ]
    shape.check(prepared.request)
    # Kept or not, a retried call is the same but for what is for it alone.
    for again in (run.prepare(history), run.prepare(prepared.history)):
        assert again.history == prepared.history
        assert again.request == prepared.request


def test_a_reminder_that_the_caller_placed_by_hand_is_not_placed_again(client: ullage.Client) -> None:
    run = client.start_run(context_tokens=1000, notices_every_steps=0)
    reminder = run.observe(310).reminder
    assert reminder is not None
    history = [user("go"), Anthropic().call("a"), *Anthropic().results("a"), user(reminder.text)]
    assert run.prepare(history).request == history
    assert ids(run.prepare([user("go"), {"role": "assistant", "content": "done"}, user("more")])) == []


def test_what_the_caller_did_not_keep_comes_again(client: ullage.Client) -> None:
    run = started(client)
    history = [user("go")]
    assert ids(run.prepare(history))[0] == "1/session"
    run.observe(310)
    history += [{"role": "assistant", "content": "done"}, user("more")]
    prepared = run.prepare(history)
    assert ids(prepared) == ["2/session", "1/context/first", "2/notice"]
    run.observe(320)
    kept = [*prepared.history, {"role": "assistant", "content": "done"}, user("again")]
    assert ids(run.prepare(kept)) == ["3/session", "3/notice"]


def test_where_nothing_is_ever_kept_nothing_piles_up(client: ullage.Client) -> None:
    run = client.start_run(agent="scout", context_tokens=1000, notices_every_steps=1)
    run.reminders.register(id="house", on=Edge.SESSION_START, content="Shoes off.")
    history: list[dict[str, Any]] = []
    for turn in range(1, 9):
        history.append(user("go"))
        call = run.prepare(history)
        kinds = [one.kind for one in call.insertions]
        assert kinds.count("session_context") == 1
        assert kinds.count("notice") == (turn > 1)
        assert kinds.count("registered") == 1, "what is said once stays due until it is kept"
        assert f"session: {run.plan.session_id}" in call.insertions[0].text
        run.observe(10 * turn)
        history.append({"role": "assistant", "content": "done"})


def test_another_process_goes_on_from_the_history(client: ullage.Client, server: Server) -> None:
    run = started(client)
    run.reminders.register(id="house", on=Edge.SESSION_START, content="Shoes off.")
    kept = run.prepare([user("go")]).history
    with ullage.Client(server.target) as other:
        resumed = other.resume_run(run.run_id)
        again = resumed.prepare(kept)
        assert again.history == kept, "what stands there already is not placed twice"
        assert ids(again) == ["1/time"]
        resumed.observe(310)
        history = [*kept, {"role": "assistant", "content": "done"}, user("more")]
        blocks = resumed.prepare(history).request[-1]["content"]
        assert "session: " not in blocks[0]["text"], "the id stands in the history"
        summarised = [*kept, {"role": "user", "content": "All went well.", "isCompactSummary": True}, user("more")]
        session = (
            ullage.Client(server.target).resume_run(run.run_id).prepare(summarised, turn=3, window_reset=True)
        )
        assert "session: " in session.insertions[0].text


def test_a_tools_error_and_the_words_of_a_moment(client: ullage.Client) -> None:
    run, moments = client.start_run(), list[Moment]()

    def heard(moment: Moment) -> str:
        moments.append(moment)
        return "Look up."

    run.reminders.register(id="oops", on=Edge.TOOL_ERROR, content=heard)
    run.reminders.register(id="start", on=Edge.PROMPT_START, content=heard)
    history = [user("go"), Anthropic().call("a"), *Anthropic().results("a", fails=True)]
    prepared = run.prepare(history, turn=2)
    assert ids(prepared) == ["2/registered/oops"]
    (moment,) = moments
    assert (moment.turn, moment.step, moment.edge) == (2, 2, Edge.TOOL_ERROR)
    assert moment.messages is history
    run.reminders.remove("oops")
    assert run.prepare(history, turn=2).request == history


def test_a_callback_that_fails_breaks_no_request_and_is_logged_once(
    client: ullage.Client, caplog: pytest.LogCaptureFixture
) -> None:
    run = client.start_run()
    given: list[Any] = [ZeroDivisionError("no"), None, "  ", 7, "Mind the gate."]

    def content(moment: Moment) -> str:
        one = given.pop(0)
        if isinstance(one, Exception):
            raise one
        return one  # type: ignore[no-any-return]  # as callers do

    run.reminders.register(id="each", on=Edge.EVERY_CALL, content=content)
    with caplog.at_level(logging.WARNING):
        heard = [ids(run.prepare([user("go")])) for _ in range(5)]
    assert heard == [[], [], [], [], ["1/registered/each"]]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "each" in caplog.text


def test_arguments_that_are_none_are_refused(client: ullage.Client) -> None:
    run = client.start_run(time_budget=60)
    for wrong in ("go", {"role": "user"}, 7):
        with pytest.raises(TypeError, match="list of messages"):
            run.prepare(wrong)  # type: ignore[arg-type]  # as callers do
    with pytest.raises(TypeError, match=r"^message 0 \(str\) has no role; messages is a list"):
        run.prepare(["go"])
    with pytest.raises(ValueError, match="time zone"):
        run.prepare([user("go")], now=datetime(2026, 1, 1))  # noqa: DTZ001  # that is what is refused
    with pytest.raises(TypeError, match="time_remaining"):
        run.prepare([user("go")], time_remaining="soon")  # type: ignore[arg-type]  # as callers do
    with pytest.raises(ValueError, match="no_edge"):
        run.reminders.register(id="x", on="no_edge", content="x")
    with pytest.raises(TypeError, match="content"):
        run.reminders.register(id="x", on=Edge.EVERY_CALL, content=7)  # type: ignore[arg-type]  # as callers do
    now = datetime(2026, 10, 9, 5, 23, tzinfo=UTC)
    assert (
        run.prepare([user("go")], now=now, time_remaining=timedelta(seconds=31))
        .insertions[0]
        .text.endswith("30 s left")
    )


def saying(text: str | None, moment: Moment) -> str | None:
    return text


def test_what_the_budget_of_characters_left_out_is_told(client: ullage.Client) -> None:
    run = client.start_run(reminders_budget_chars=10)
    for priority, (id, text) in enumerate((("none", None), ("blank", " "), ("low", "123456"), ("high", "123456"))):
        run.reminders.register(id=id, on=Edge.EVERY_CALL, content=partial(saying, text), priority=priority)
    run.reminders.register(id="once", on=Edge.SESSION_START, content="as long as it likes")
    run.reminders.register(id="other", on=Edge.TOOL_ERROR, content="as long as it likes")
    call = run.prepare([user("go")])
    assert ids(call) == ["1/registered/once", "1/registered/high"]
    assert call.dropped == ("low",)
    run.observe(5)
    run.reminders.remove("high")
    call = run.prepare([*call.history, {"role": "assistant", "content": "x"}, user("on")])
    assert (ids(call), call.dropped) == (["2/registered/low"], ())


@pytest.mark.parametrize(
    ("message", "whose"),
    [
        ({"role": "user", "content": [{"type": "input_text", "text": "go"}]}, "OpenAI's Responses"),
        ({"role": "assistant", "content": [{"type": "output_text", "text": "gone"}]}, "OpenAI's Responses"),
        ({"role": "user", "parts": [{"text": "go"}]}, "Gemini's"),
        ({"role": "user", "content": [{"text": "go"}]}, "Bedrock's Converse"),
        ({"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": []}}]}, "Bedrock's Converse"),
    ],
)
def test_the_messages_of_other_providers_are_refused_by_name(
    client: ullage.Client, message: dict[str, Any], whose: str
) -> None:
    run = client.start_run(time_budget=60)
    with pytest.raises(TypeError, match=f"message 1 is in the shape of {whose}.*Chat Completions"):
        run.prepare([user("go"), message])
    with pytest.raises(TypeError, match=f"message 1 is in the shape of {whose}.*Chat Completions"):
        run.compact([{"role": "assistant", "content": "x"}, message], turn=1)


@pytest.mark.parametrize(
    "words",
    [
        {"id": "two words"},
        {"id": ""},
        {"id": "x" * 129},
        {"id": "a:b"},
        {"id": "x", "label": "a:b"},
        {"id": "x", "label": "y" * 65},
        {"id": "x", "priority": 2**31},
    ],
)
def test_a_reminder_that_no_call_could_carry_is_refused_when_it_is_registered(
    client: ullage.Client, words: dict[str, Any]
) -> None:
    run = client.start_run(time_budget=60)
    with pytest.raises(ValueError, match="reminder"):
        run.reminders.register(on=Edge.EVERY_CALL, content="x", **words)
    assert run.prepare([user("go")]).insertions[0].kind == "time_budget"


async def test_an_async_run_awaits_its_callbacks(server: Server) -> None:
    async def content(moment: Moment) -> str:
        await asyncio.sleep(0)
        return f"turn {moment.turn}"

    async with ullage.AsyncClient(server.target) as client:
        run = await client.start_run(context_tokens=1000)
        run.reminders.register(id="awaited", on=Edge.EVERY_CALL, content=content)
        run.reminders.register(id="plain", on=Edge.EVERY_CALL, content=lambda moment: "plain")
        prepared = await run.prepare([user("go")])
        assert prepared.insertions[0].keys == ("registered/awaited", "registered/plain")
        assert (await run.observe(310)).reminder is not None
        prepared = await run.prepare([user("go"), {"role": "assistant", "content": "x"}, user("on")])
        assert ids(prepared) == ["2/registered", "1/context/first", "2/notice"]


steps = st.fixed_dictionaries(
    {
        "ends": st.booleans(),
        "retries": st.integers(0, 2),
        "keeps": st.sampled_from([True, True, True, False]),
        "used": st.integers(1, 1000),
    }
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=st.lists(steps, max_size=7), shape=st.sampled_from([Anthropic(), OpenAI()]))
def test_a_history_only_grows_at_its_end_and_each_durable_text_comes_to_stand_once(
    actions: list[dict[str, Any]], shape: Shape, client: ullage.Client
) -> None:
    run = started(client)
    run.reminders.register(id="each", on=Edge.EVERY_CALL, content="Mind the gate.")
    run.reminders.register(id="house", on=Edge.SESSION_START, content="Shoes off.")
    history: list[dict[str, Any]] = []
    durable: list[str] = []
    calls = False
    for turn, action in enumerate(actions, 1):
        ends = action["ends"]
        sent = [*history, *([user(f"prompt {turn}")] if not calls else shape.results(f"call {turn - 1}"))]
        before = copy.deepcopy(sent)
        prepared = run.prepare(sent)
        for _ in range(action["retries"]):
            again = run.prepare(prepared.history if action["keeps"] else sent)
            assert again.history == prepared.history
        assert sent == before
        shape.check(prepared.request)
        shape.check(prepared.history)
        assert prepared.history[: len(history)] == history, "nothing already sent is changed"
        stands = [text for message in prepared.history for text in texts(message)]
        assert not any(mark in text for text in stands for mark in PASSING)
        if action["keeps"]:
            durable += [one.id for one in prepared.insertions if one.lifetime == "durable"]
        reply = {"role": "assistant", "content": "done"} if ends else shape.call(f"call {turn}")
        history = [*(prepared.history if action["keeps"] else sent), reply]
        calls = not ends
        run.observe(action["used"])
    assert len(durable) == len(set(durable)), "none is placed twice where it is kept"
