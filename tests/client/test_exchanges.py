"""`compact`, `replay` and `fork` on a real server: nothing but texts changes, and nothing of them is lost."""

import asyncio
import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import grpc
import pydantic
import pytest
from hypothesis import given

import ullage
from tests.client.exchange_shapes import (
    JSON,
    LOG,
    PROSE,
    all_texts,
    anthropic,
    as_objects,
    at,
    containers,
    openai,
    told,
    with_text,
)
from tests.servers import running_server
from tests.shared_data import shared
from ullage.messages import taken
from ullage.v1 import exchange_pb2, run_service_pb2
from ullage.v1.run_service_pb2_grpc import RunServiceStub

pytestmark = pytest.mark.timeout(120)
TURNS = count(1)


@pytest.fixture(scope="module")
def client() -> Iterator[ullage.Client]:
    with running_server() as server, ullage.Client(server.target, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def run(client: ullage.Client) -> ullage.Run:
    """A run with a budget so small that most exchanges exceed it."""
    return client.start_run(exchange_budget_bytes=600)


def called(name: str = "a", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "run", "input": {}, **more}


def result(content: Any, name: str = "a") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": content}


def exchange(content: Any, *reply: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": [*reply, called()]}, {"role": "user", "content": [result(content)]}]


@given(messages=anthropic() | openai() | anthropic().map(as_objects) | openai().map(as_objects))
def test_only_texts_differ_and_they_are_those_of_the_full_answer(run: ullage.Run, messages: list[Any]) -> None:
    before = told(messages)
    turn = next(TURNS)
    answer = run.compact(messages, turn=turn)
    assert told(messages) == before, "the caller's own were changed"
    assert set(containers(messages)).isdisjoint(containers(answer.messages))
    assert [type(message) for message in answer.messages] == [type(message) for message in messages]
    after = told(answer.messages)
    assert [verdict.place for verdict in answer.verdicts] == all_texts(before)
    for verdict in answer.verdicts:
        source, text = at(before, verdict.place), at(after, verdict.place)
        assert len(source.encode()) == verdict.source_bytes
        assert len(text.encode()) == verdict.result_bytes
        assert (text != source) is (verdict.outcome == "cut") is (verdict.dropped_bytes > 0)
        with_text(after, verdict.place, source)
    assert after == before
    full = full_answer(run, turn, messages)
    assert full.replayed
    assert taken(answer.messages).exchange == full.exchange
    assert answer.digest == full.digest
    assert answer.dropped_bytes == sum(verdict.dropped_bytes for verdict in full.verdicts)
    assert (answer.source_bytes, answer.result_bytes) == (full.source_bytes, full.result_bytes)
    assert answer.over_budget is full.over_budget is (answer.result_bytes > 600)


def full_answer(run: ullage.Run, turn: int, messages: list[Any]) -> run_service_pb2.CompactExchangeResponse:
    """What the server answers where the whole exchange is asked for."""
    request = run_service_pb2.CompactExchangeRequest(
        run_id=run.run_id, turn=turn, exchange=taken(messages).exchange
    )
    with grpc.insecure_channel(run._client.target) as channel:
        return RunServiceStub(channel).CompactExchange(request, timeout=20)


@given(messages=anthropic() | openai())
def test_a_history_that_went_through_a_file_is_the_same_history(messages: list[Any]) -> None:
    """An SDK's objects, the same as dicts, in another order and with other marks are one exchange."""
    stored = json.loads(json.dumps(messages, sort_keys=True))
    for message in stored:
        for block in message["content"] if isinstance(message["content"], list) else ():
            block.pop("cache_control", None)
    of_objects = taken(as_objects(messages)).exchange
    assert taken(messages).exchange == of_objects == taken(stored).exchange


def test_the_shapes_that_sdks_hand_out_come_back_as_they_were(run: ullage.Run) -> None:
    class Block(pydantic.BaseModel, frozen=True, extra="allow"):
        type: str

    class Message(pydantic.BaseModel):
        role: str
        content: list[Block]

    @dataclass(frozen=True, slots=True)
    class Tool:
        role: str
        tool_call_id: str
        content: str

    reply = Message(role="assistant", content=[Block(type="text", text=PROSE), Block(**called())])  # type: ignore[call-arg]
    before = reply.model_dump()
    answer = run.compact([reply, Tool("tool", "a", LOG)], turn=next(TURNS))
    said, landed = answer.messages
    assert (type(said), type(landed)) == (Message, Tool)
    assert said.content[0].model_dump()["text"] == said.content[0].text
    assert said.content[0].text.endswith(f"[truncated: {answer.verdicts[0].dropped_bytes} bytes]")
    assert said.content[1] == reply.content[1]
    assert landed.content.startswith("[truncated: ")
    assert landed.tool_call_id == "a"
    assert reply.model_dump() == before


def test_one_object_in_two_places_is_two_texts(run: ullage.Run) -> None:
    """Before a thinking block a text is bound; the same object behind it is cut."""
    text = {"type": "text", "text": PROSE}
    thought = {"type": "thinking", "thinking": "so", "signature": "sig"}
    answer = run.compact([{"role": "assistant", "content": [text, thought, text]}], turn=next(TURNS))
    assert [verdict.outcome for verdict in answer.verdicts] == ["bound", "cut"]
    first, _, last = answer.messages[0]["content"]
    assert first["text"] == PROSE != last["text"]
    assert answer.over_budget


def test_what_must_be_stored_elsewhere_is_named(run: ullage.Run) -> None:
    answer = run.compact(
        exchange([{"type": "text", "text": JSON}, {"type": "text", "text": LOG}]), turn=next(TURNS)
    )
    assert [(v.tool_use_id, v.place, v.content) for v in answer.must_offload] == [
        ("a", (1, "content", 0, "content", 0, "text"), "structured")
    ]
    assert answer.over_budget


def test_an_exchange_is_the_last_observed_turns_unless_said_otherwise(client: ullage.Client) -> None:
    run = client.start_run(exchange_budget_bytes=100)
    with pytest.raises(ValueError, match="no turn of this run was observed yet"):
        run.compact(exchange(LOG))
    run.observe(100)
    first = run.compact(exchange(LOG))
    again = run.compact(exchange(LOG))
    assert (first.turn, first.replayed, again.replayed) == (1, False, True)
    assert (again.messages, again.digest, again.verdicts) == (first.messages, first.digest, first.verdicts)
    run.observe(100)
    assert run.compact(exchange(PROSE)).turn == 2
    assert run.compact(exchange(PROSE), turn=7).turn == 7
    assert run.last_turn == 2


def test_an_exchange_after_a_lost_answer_is_that_turns(client: ullage.Client) -> None:
    run = client.start_run()
    run.observe(100)
    run._sent(2)  # and the answer was lost
    assert run.compact(exchange("ok")).turn == 2
    run.observe(300)
    assert run.last_turn == 3


def test_what_is_wrong_is_refused_with_its_reason(client: ullage.Client) -> None:
    run = client.start_run()
    run.observe(1)
    with pytest.raises(ullage.WaveIncomplete, match='no result for "a"'):
        run.compact(exchange("ok")[:1])
    run.compact(exchange("ok"))
    with pytest.raises(ullage.ExchangeAlreadyCompacted):
        run.compact(exchange("another"))
    with pytest.raises(ullage.MessageTooLarge, match="takes at most"):
        run.compact(exchange("x" * (18 << 20)), turn=2)
    with pytest.raises(ullage.MessageTooLarge, match="larger than max"):
        run.compact(exchange("x" * (33 << 20)), turn=2)
    answer = run.compact(exchange("x" * (16 << 20)), turn=2)
    assert answer.source_bytes == 16 << 20
    run.finish()
    with pytest.raises(ullage.RunFinished):
        run.compact(exchange("ok"), turn=3)


@pytest.mark.parametrize(
    ("messages", "error", "says"),
    [
        ("text", TypeError, "an exchange is a list of messages.*; not str"),
        (b"text", TypeError, "not bytes"),
        ({"role": "assistant"}, TypeError, "not dict"),
        (iter([]), TypeError, "not list_iterator"),
        ([{"content": "no role"}], TypeError, "message 0 .dict. has no role"),
        ([7], TypeError, "message 0 .int. has no role"),
        ([{"role": "user", "content": "hi"}], ValueError, "message 0 is of the role 'user'.*it comes first"),
        ([{"role": "assistant"}] * 2, ValueError, "message 1 is of the role 'assistant'.*one reply"),
        ([{"role": "assistant"}, {"role": "system", "content": ""}], ValueError, "'system', which no exchange"),
        ([{"role": "assistant", "content": 7}], TypeError, r"message 0\.content is int; it is a text or a list"),
        ([{"role": "assistant", "content": {"type": "text"}}], TypeError, r"message 0\.content is dict"),
        ([{"role": "assistant", "tool_calls": "x"}], TypeError, r"message 0\.tool_calls\[0\]|tool_calls is str"),
        (exchange("a\ud800b"), ValueError, r"message 1\.content\[0\]\.content holds half of a character.*ud800"),
        (exchange("ok", {**called(), "id": 5}), TypeError, r"message 0\.content\[0\]\.id is int; it is a text"),
    ],
)
def test_what_is_no_exchange_is_refused_before_it_is_sent(
    messages: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        taken(messages)


def test_messages_that_hold_themselves_are_refused() -> None:
    block: dict[str, Any] = {"type": "odd"}
    block["itself"] = block
    with pytest.raises(TypeError, match="nests without end"):
        taken([{"role": "assistant", "content": [block]}])


def test_an_image_is_known_again_without_being_sent() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 10_000_000}}
    other = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "B" * 10_000_000}}
    one, same, two = (
        taken(exchange([each, {"type": "text", "text": "ok"}])).exchange for each in (image, image, other)
    )
    assert one.ByteSize() < 300
    assert one == same != two
    assert one.results[0].tool_result.parts[0].attachment.media_type == "image/png"


def test_kinds_that_the_wire_has_no_word_for_are_sent_as_opaque() -> None:
    block = {"type": "server_tool_use", "id": "s", "input": {"q": "é"}, "nothing": None}
    sent = taken([{"role": "assistant", "content": [block, "bare"]}]).exchange.assistant
    assert sent[0].opaque == exchange_pb2.Opaque(
        type="server_tool_use", json='{"id":"s","input":{"q":"\\u00e9"},"type":"server_tool_use"}'
    )
    assert sent[1].opaque == exchange_pb2.Opaque(type="", json='"bare"')


FILES = [
    "aider-history",
    "anthropic-redacted-thinking",
    "claude-code-2b48f6",
    "claude-code-3f4ae5",
    "claude-code-64fce2",
    "claude-code-6b93f2-2",
    "claude-code-730c66",
    "claude-code-b42542",
    "claude-code-de29e2-1",
    "codex-acidic",
    "gemini-cli-vibe",
    "mini-swe-deepseek-django-13265",
    "pi-before-compaction",
]


def test_all_that_is_recorded_is_tried() -> None:
    assert {file.stem for file in shared("data/exchanges").iterdir()} == set(FILES)


def in_anthropics_shape(line: dict[str, Any]) -> list[dict[str, Any]]:
    results = [
        {
            "type": "tool_result",
            "tool_use_id": each["tool_use_id"],
            "is_error": each["is_error"],
            "content": [
                {"type": "text", "text": each["text"]},
                *[{"type": "image", "source": None}] * int(each.get("other_blocks") or 0),
            ],
        }
        for each in line["results"]
    ]
    reply = {"role": "assistant", "content": line["assistant"]}
    return [reply, {"role": "user", "content": results}] if results else [reply]


def in_openais_shape(line: dict[str, Any]) -> list[dict[str, Any]]:
    said = [block for block in line["assistant"] if block["type"] == "text"]
    calls = [
        {
            "id": use["id"],
            "type": "function",
            "function": {"name": use["name"], "arguments": json.dumps(use["input"])},
        }
        for use in line["assistant"]
        if use["type"] == "tool_use"
    ]
    return [
        {"role": "assistant", "content": said or None, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": r["tool_use_id"], "content": r["text"]} for r in line["results"]),
    ]


def recorded(name: str) -> Iterator[dict[str, Any]]:
    """A recording's exchanges. A harness without calls has results that were not asked for; here they were."""
    with (shared("data/exchanges") / f"{name}.jsonl").open(encoding="utf-8") as file:
        for line in map(json.loads, file):
            asked = [block["id"] for block in line["assistant"] if block["type"] == "tool_use"]
            missing = [each["tool_use_id"] for each in line["results"] if each["tool_use_id"] not in asked]
            line["assistant"] += map(called, missing)
            yield line


@pytest.mark.parametrize("shape", [in_anthropics_shape, in_openais_shape])
@pytest.mark.parametrize("name", FILES)
def test_recorded_exchanges_keep_all_but_their_texts_and_come_again_from_a_replay(
    client: ullage.Client, name: str, shape: Any
) -> None:
    run = client.start_run()
    history: list[Any] = [{"role": "user", "content": "go on"}]
    answers: dict[int, ullage.CompactedExchange | None] = {}
    for turn, line in enumerate(recorded(name), 1):
        messages = shape(line)
        history += messages
        calls = [block for block in line["assistant"] if block["type"] == "tool_use"]
        if len(calls) != len(line["results"]):
            with pytest.raises(ullage.WaveIncomplete):
                run.compact(messages, turn=turn)
            answers[turn] = None
            continue
        before = copy.deepcopy(messages)
        answer = answers[turn] = run.compact(messages, turn=turn)
        assert messages == before
        after = copy.deepcopy(answer.messages)
        assert [verdict.place for verdict in answer.verdicts] == all_texts(before)
        for verdict in answer.verdicts:
            assert (at(after, verdict.place) != at(before, verdict.place)) is (verdict.outcome == "cut")
            with_text(after, verdict.place, at(before, verdict.place))
        assert after == before
        assert not answer.over_budget or {"must_offload", "bound"} & {v.outcome for v in answer.verdicts}
    replayed = list(client.replay(history, run_id=run.run_id))
    assert [each.turn for each in replayed] == list(answers)
    for again in replayed:
        live = answers[again.turn]
        if live is None:
            assert isinstance(again, ullage.DroppedHalfWave) or again.wave_incomplete
            continue
        assert isinstance(again, ullage.ReplayedExchange)
        assert again.matches_ledger
        assert (again.messages, again.verdicts, again.digest) == (live.messages, live.verdicts, live.digest)


def test_a_replay_tells_of_waves_that_are_not_whole(client: ullage.Client) -> None:
    broken = [
        {"role": "assistant", "content": [called("a"), called("b")]},
        {"role": "user", "content": [result(LOG)]},
    ]
    history = [
        {"role": "system", "content": "be good"},
        {"role": "user", "content": "go on"},
        *broken,
        {"role": "user", "content": "never mind"},
        {"role": "assistant", "content": PROSE},
        *exchange(LOG),
        *broken,
    ]
    first, second, third, last = client.replay(history, exchange_budget_bytes=400)
    assert isinstance(first, ullage.ReplayedExchange)
    assert isinstance(second, ullage.ReplayedExchange)
    assert isinstance(third, ullage.ReplayedExchange)
    assert (first.turn, first.wave_incomplete, first.messages, first.verdicts) == (1, True, broken, ())
    assert (second.turn, second.wave_incomplete, second.verdicts[0].outcome) == (2, False, "cut")
    assert third.matches_ledger is None
    assert third.messages[1]["content"][0]["content"].startswith("[truncated")
    assert last == ullage.DroppedHalfWave(4)


def test_a_replay_takes_turns_that_are_stated(client: ullage.Client) -> None:
    history = [(3, {"role": "assistant", "content": "a"}), {"role": "assistant", "content": "b"}]
    assert [each.turn for each in client.replay(history)] == [3, 4]
    with pytest.raises(ValueError, match="message 1 is turn 3 after turn 3"):
        list(client.replay([history[0], history[0]]))


def test_a_long_replay_goes_out_in_parts(client: ullage.Client) -> None:
    """What the first parts gave is there before the last records are asked for."""
    asked = 0

    def history() -> Iterator[dict[str, Any]]:
        nonlocal asked
        for _ in range(40):
            asked += 1
            yield {"role": "assistant", "content": PROSE * 40}

    replay = client.replay(history())
    assert next(replay).turn == 1
    assert asked < 15
    assert [each.turn for each in replay] == list(range(2, 41))


def test_what_a_replay_cannot_take_is_raised_to_whom_asks(client: ullage.Client) -> None:
    with pytest.raises(ullage.RunNotFound):
        list(client.replay([], run_id="nobody"))
    with pytest.raises(ullage.ArgumentInvalid, match="tool_result"):
        list(client.replay([{"role": "tool", "tool_call_id": "a", "content": "ok"}]))
    with pytest.raises(ullage.ArgumentInvalid, match="exchange_budget_bytes"):
        list(client.replay([], run_id="nobody", exchange_budget_bytes=5))
    with pytest.raises(TypeError, match="exchange_rules takes a whole number"):
        client.replay([], exchange_rules="1")  # type: ignore[arg-type]


def test_a_branch_goes_on_from_where_it_left_its_mother(client: ullage.Client) -> None:
    mother = client.start_run(context_tokens=1000, exchange_budget_bytes=100)
    for used in (100, 310, 700):
        mother.observe(used)
    mother.finish()
    branch = mother.fork(2, second_threshold=40, time_budget=60)
    assert (branch.last_turn, mother.last_turn, branch.replayed) == (2, 3, False)
    assert branch.plan.exchange_budget_bytes == 100
    assert branch.plan.second_threshold == 40
    seen = branch.observe(450)
    assert seen.sounded is ullage.Sounded.HANDOVER
    assert branch.last_turn == 3
    named = mother.fork(0, "named-branch")
    assert (named.run_id, named.last_turn, mother.fork(0, "named-branch").replayed) == ("named-branch", 0, True)
    with pytest.raises(ullage.ForkPastEnd):
        mother.fork(4)
    with pytest.raises(ullage.ArgumentInvalid, match="exchange_budget_bytes"):
        mother.fork(1, exchange_budget_bytes=100)
    with pytest.raises(TypeError, match=r"fork\(\) got an unexpected keyword argument 'modle'"):
        mother.fork(1, modle="m")  # type: ignore[call-arg]


def test_the_asynchronous_client_answers_alike(client: ullage.Client) -> None:
    messages = exchange(LOG, {"type": "text", "text": PROSE})

    async def asked() -> None:
        async with ullage.AsyncClient(client.target) as other:
            run = await other.start_run(exchange_budget_bytes=300)
            await run.observe(5)
            answer = await run.compact(messages)
            plain = client.resume_run(run.run_id).compact(messages)
            assert plain.replayed
            assert (plain.messages, plain.verdicts) == (answer.messages, answer.verdicts)
            replayed = [each async for each in other.replay(messages, run_id=run.run_id)]
            assert replayed == list(client.replay(messages, run_id=run.run_id))
            branch = await run.fork(1)
            assert isinstance(branch, ullage.AsyncRun)
            assert branch.last_turn == 1
            with pytest.raises(ullage.RunNotFound):
                [each async for each in other.replay([], run_id="nobody")]

    asyncio.run(asked())
