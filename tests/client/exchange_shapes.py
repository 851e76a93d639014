"""Exchanges in the shapes that people hold, generated, and how such messages are compared."""

import dataclasses
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from tests.client.sdk_shapes import Pydantic2

LOG = "".join(
    f"2024-03-01 10:00:{n % 60:02} INFO  worker {n} finished its part in {n * 7 % 90} ms\n" for n in range(60)
)
PROSE = "The harness asks once a turn. What it is told holds for the whole turn, and is said again if asked. " * 30
JSON = '{"rows": [' + ", ".join(f'{{"id": {n}, "name": "row {n}"}}' for n in range(80)) + "]}"
MARKUP = "".join(
    f"# Part {n}\n\nWhat stands in part {n} is said here, at some length. {'é' * 80}\n\n" for n in range(20)
)

texts = st.one_of(
    st.sampled_from(["", "ok", LOG, PROSE, JSON, MARKUP, LOG[:150]]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=400),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
more_keys = st.dictionaries(st.sampled_from(["cache_control", "citations", "x"]), values, max_size=2)


def blocks_of(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda more, held: {"type": kind, **more, **held}, more_keys, st.fixed_dictionaries(fields))


text_blocks = blocks_of("text", text=texts)
images = blocks_of("image", source=st.just({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}))
others = st.one_of(
    blocks_of("thinking", thinking=texts, signature=st.text(st.characters(codec="ascii"), max_size=9)),
    blocks_of("redacted_thinking", data=st.just("b64")),
    blocks_of("server_tool_use", id=st.just("srv"), name=st.just("web_search"), input=values),
    blocks_of("no_one_knows", text=values),
    images,
)
contents = st.one_of(
    st.none(), texts, st.lists(text_blocks | images | blocks_of("document", x=values), max_size=3)
)


@st.composite
def anthropic(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A reply in content blocks, and its results in users' messages, among other blocks, in any order."""
    ids = [f"toolu_{n}" for n in range(draw(st.integers(0, 3)))]
    reply = draw(st.lists(text_blocks | others, max_size=5))
    for name in ids:
        use = {"type": "tool_use", "id": name, "name": "run", "input": draw(values)}
        reply.insert(draw(st.integers(0, len(reply))), use)
    if not ids and draw(st.booleans()):
        return [{"role": "assistant", "content": draw(texts), **draw(more_keys)}]
    messages: list[dict[str, Any]] = [{"role": "assistant", "content": reply, "stop_reason": None}]
    results: list[dict[str, Any]] = []
    for name in draw(st.permutations(ids)):
        result = {"type": "tool_result", "tool_use_id": name, "content": draw(contents), **draw(more_keys)}
        if draw(st.booleans()):
            result["is_error"] = draw(st.booleans())
        results.append(result)
    if draw(st.booleans()):
        messages += [{"role": "user", "content": [result]} for result in results]
    else:
        messages.append({"role": "user", "content": results + draw(st.lists(text_blocks, max_size=1))})
    return messages


@st.composite
def openai(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A reply with tool calls, and a message for each of their results, in any order."""
    ids = [f"call_{n}" for n in range(draw(st.integers(0, 3)))]
    of_function = st.builds(
        lambda text: {"type": "function", "function": {"name": "run", "arguments": text}}, texts
    )
    of_its_own = st.builds(lambda text: {"type": "custom", "custom": {"name": "run", "input": text}}, texts)
    calls = [{"id": name, **draw(of_function | of_its_own)} for name in ids]
    parts = st.lists(text_blocks | blocks_of("refusal", refusal=texts), max_size=3)
    said: st.SearchStrategy[Any] = st.one_of(st.none(), texts, parts)
    reply: dict[str, Any] = {"role": "assistant", "content": draw(said)}
    if draw(st.booleans()) or calls:
        reply["tool_calls"] = calls or None
    if draw(st.booleans()):
        reply["reasoning_content"] = draw(texts)
    image = blocks_of("image_url", image_url=st.just({"url": "https://example.org/a.png"}))
    results = st.one_of(texts, st.lists(text_blocks | image, max_size=3))
    return [
        reply,
        *({"role": "tool", "tool_call_id": n, "content": draw(results)} for n in draw(st.permutations(ids))),
    ]


def as_objects(value: Any, *, below: bool = False) -> Any:
    """Messages and their blocks as an SDK's objects; what stands in an input or a source stays."""
    if isinstance(value, list):
        return [as_objects(each, below=True) for each in value]
    if not isinstance(value, dict) or not ({"role", "type"} & value.keys()):
        return value
    return Pydantic2(
        **{
            key: as_objects(held) if key in ("content", "tool_calls", "function", "custom") else held
            for key, held in value.items()
        }
    )


def told(value: Any) -> Any:
    """A message as plain values, to compare."""
    if isinstance(value, dict):
        return {key: told(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [told(each) for each in value]
    if dataclasses.is_dataclass(value):
        return {field.name: told(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return told(vars(value)) if hasattr(value, "__dict__") else value


def at(value: Any, place: tuple[str | int, ...]) -> Any:
    """What stands at a place in plain values."""
    for key in place:
        value = value[key]
    return value


def with_text(value: Any, place: tuple[str | int, ...], text: str) -> None:
    """Puts a text there."""
    at(value, place[:-1])[place[-1]] = text


def containers(value: Any) -> Iterator[int]:
    """Who all the lists, dicts and objects in it are."""
    if isinstance(value, list | tuple | dict) or hasattr(value, "__dict__"):
        yield id(value)
        held = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else None
        for each in vars(value).values() if held is None else held:
            yield from containers(each)


def all_texts(messages: Any) -> list[tuple[str | int, ...]]:
    """The places of the texts that are not empty, found by the plainest reading of plain messages."""
    found: list[tuple[str | int, ...]] = []

    def look(content: Any, place: tuple[str | int, ...]) -> None:
        if isinstance(content, str) and content:
            found.append(place)
        for number, block in enumerate(content if isinstance(content, list) else ()):
            if block["type"] == "text" and block["text"]:
                found.append((*place, number, "text"))

    look(messages[0]["content"], (0, "content"))
    for number, message in enumerate(messages[1:], 1):
        if message["role"] == "tool":
            look(message["content"], (number, "content"))
            continue
        for place, block in enumerate(message["content"]):
            if block["type"] == "tool_result":
                look(block.get("content"), (number, "content", place, "content"))
    return found
