"""The conformance vectors' exchanges, shortened and digested without a server."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.core.exchange.as_json import digest_of, ids_of, put, said, spelt, texts_of
from ullage_server.core.errors import Refusal
from ullage_server.core.exchange.classes import KEEPS, ContentClass
from ullage_server.core.exchange.compact import compact
from ullage_server.core.exchange.cut import cut
from ullage_server.core.exchange.wave import check_wave, is_whole

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
CASES = [
    case
    for topic in ("exchange", "fork_replay")
    for case in json.loads((VECTORS / f"{topic}.json").read_text("utf-8"))["cases"]
    if any(step["rpc"].endswith(("/CompactExchange", "/ReplayExchanges")) for step in case["steps"])
]
DEFAULT = 32768


def fits(want: Any, got: Any) -> bool:
    """Whether `got` holds what `want` names, by the vectors' matching as far as exchanges use it."""
    if isinstance(want, dict) and want and all(key.startswith("$") for key in want):
        return all(OPERATORS[key](given, got) for key, given in want.items())
    if isinstance(want, dict):
        return isinstance(got, dict) and all(fits(each, got.get(key)) for key, each in want.items())
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(map(fits, want, got))
    return bool(want == got)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "$re": lambda given, got: re.search(given, got),
    "$max": lambda given, got: got <= given,
    "$contains": lambda given, got: all(each in got for each in given),
    "$absent": lambda given, got: (got is None) == given,
}


def check_compact(request: dict[str, Any], step: dict[str, Any], budget: int) -> None:
    exchange = request["exchange"]
    asked, answered = ids_of(exchange)
    check_wave("the run", asked, answered)
    texts = texts_of(exchange)
    compacted = compact(texts, budget, 1)
    result = put(exchange, texts, compacted)
    places = [(texts[number], text.decode()) for number, text in compacted.cuts.items()]
    answer = {
        "exchange": result,
        "edits": [
            {"in_results": place.in_results, "block": place.block, "part": place.part, "text": text}
            for place, text in places
        ],
        "verdicts": said(compacted),
        "source_bytes": compacted.source_bytes,
        "result_bytes": compacted.result_bytes,
        "over_budget": compacted.over_budget,
        "digest": digest_of(result),
    }
    wanted = {key: each for key, each in spelt(step["expect"]).items() if key in answer}
    assert wanted
    for key, each in wanted.items():
        assert fits(each, answer[key]), (key, each, answer[key])


def check_replay(requests: list[dict[str, Any]], step: dict[str, Any], budget: int) -> None:
    """The exchanges that a replay gives: whole ones are shortened, others come out as they are."""
    budget = requests[0].get("start", {}).get("exchange_budget_bytes", budget)
    history: list[dict[str, Any]] = []
    for record in requests[1:]:
        if "model_returned" in record:
            history.append({"assistant": record["model_returned"]["blocks"], "results": []})
        else:
            history[-1]["results"].append(record["tool_result"])
    given = [each["exchange"] for each in spelt(step["expect"]) if "exchange" in each]
    for exchange, want in zip(history, given, strict=False):
        assert is_whole(*ids_of(exchange)) is not want["wave_incomplete"]
        answer: dict[str, Any] = {"exchange": exchange, "verdicts": None}
        if not want["wave_incomplete"]:
            texts = texts_of(exchange)
            compacted = compact(texts, budget, 1)
            answer = {"exchange": put(exchange, texts, compacted), "verdicts": said(compacted)}
        answer["digest"] = digest_of(answer["exchange"])
        for key in answer.keys() & want.keys():
            assert fits(want[key], answer[key]), (key, want[key], answer[key])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_conformance_vectors(case: dict[str, Any]) -> None:
    budgets = [DEFAULT]
    budget = budgets[0]
    for step in case["steps"]:
        request = spelt(step["request"])
        if step["rpc"].endswith("/ConfigureBuilding"):
            budgets.append(request["command"].get("exchange_budget_bytes", budgets[-1]))
        elif step["rpc"].endswith("/StartRun"):
            # The plan's own budget, else the building's when the run began; a later write changes nothing.
            budget = request.get("plan", {}).get("exchange_budget_bytes", budgets[-1])
        elif step.get("error", {}).get("reason") == "WAVE_INCOMPLETE":
            with pytest.raises(Refusal) as caught:
                check_wave("the run", *ids_of(request["exchange"]))
            assert caught.value.reason.name == "WAVE_INCOMPLETE"
            assert all(each in caught.value.message for each in step["error"]["message_contains"])
            assert not any(each in caught.value.message for each in step["error"].get("message_lacks", ()))
        elif "error" in step:
            continue  # the ledger's refusals, or the wire's
        elif step["rpc"].endswith("/CompactExchange"):
            check_compact(request, step, budget)
        elif step["rpc"].endswith("/ReplayExchanges"):
            check_replay(request, step, budget)


def cuts() -> list[tuple[bytes, int, ContentClass, bytes]]:
    """The texts that are cut in the vectors: the source, its share, the class named, and what is left of it."""
    found = []
    for case in CASES:
        budget = DEFAULT
        for step in case["steps"]:
            request, want = spelt(step["request"]), spelt(step.get("expect", {}))
            if step["rpc"].endswith("/StartRun"):
                budget = request.get("plan", {}).get("exchange_budget_bytes", 0)
            if not budget or not step["rpc"].endswith("/CompactExchange") or "exchange" not in want:
                continue
            texts, after = texts_of(request["exchange"]), want["exchange"]
            for place, verdict in zip(texts, want["verdicts"], strict=True):
                if verdict["outcome"] != "TEXT_OUTCOME_CUT" or "content" not in verdict:
                    continue
                side = after["results" if place.in_results else "assistant"][place.block]
                text = (
                    side["tool_result"]["parts"][place.part]["text"] if place.in_results else side["text"]["text"]
                )
                if isinstance(text, str):
                    content = ContentClass[verdict["content"].removeprefix("CONTENT_CLASS_")]
                    found.append((place.text, budget // len(texts), content, text.encode()))
    return found


@pytest.mark.parametrize(("source", "limit", "content", "text"), cuts())
def test_a_class_once_told_is_cut_to_the_byte(
    source: bytes, limit: int, content: ContentClass, text: bytes
) -> None:
    keep = KEEPS[content]
    assert keep is not None
    found = cut(source, limit, keep)
    assert found is not None
    assert found.text == text
