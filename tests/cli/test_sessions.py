"""Session files of Codex and pi, as they lie on a disk."""

import io
import json
from typing import Any

from ullage_server.cli.recordings import Recording, read


def recording(*records: dict[str, Any]) -> Recording:
    return read(io.BytesIO("".join(json.dumps(record) + "\n" for record in records).encode()))


def counted(used: int, total: int, window: int | None = 258_400) -> dict[str, Any]:
    """Codex's event on a call, after calls of `total` tokens in all."""
    info = {
        "total_token_usage": {"input_tokens": total, "output_tokens": 5},
        "last_token_usage": {"input_tokens": used, "cached_input_tokens": 3, "output_tokens": 5},
        "model_context_window": window,
    }
    return codex("event_msg", type="token_count", info=info, rate_limits={"primary": None})


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-01T10:00:00Z", "type": kind, "payload": payload}


def test_a_rollout_of_codex() -> None:
    found = recording(
        codex("session_meta", id="s", cwd="/w", originator="codex_cli_rs"),
        codex("turn_context", model="gpt-5-codex", cwd="/w"),
        codex("event_msg", type="token_count", info=None, rate_limits={}),
        codex("response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "aye"}]),
        counted(1000, 1000),
        counted(1000, 1000),
        counted(1500, 2500),
        codex("compacted", message="what was", replacement_history=[]),
        counted(300, 2800),
        codex("turn_context", model="gpt-5-mini"),
        counted(400, 3200, window=None),
    )
    (run,) = found.runs
    assert [call.usage["input_tokens"] for call in run.calls] == [1000, 1500, 300, 400]  # type: ignore[index]
    assert [call.window_reset for call in run.calls] == [False, False, True, False]
    assert [call.model for call in run.calls] == ["gpt-5-codex"] * 3 + ["gpt-5-mini"]
    assert (run.window, found.repeated, found.junk) == (258_400, 1, 0)


def reply(name: str, before: str | None, used: int, ended: str = "stop") -> dict[str, Any]:
    usage = {"input": used, "output": 7, "cacheRead": 0, "cacheWrite": 0, "totalTokens": used + 7}
    message = {"role": "assistant", "content": [], "model": "m-1", "usage": usage, "stopReason": ended}
    return {"type": "message", "id": name, "parentId": before, "timestamp": "t", "message": message}


def asked(name: str, before: str | None) -> dict[str, Any]:
    message = {"role": "user", "content": "go on"}
    return {"type": "message", "id": name, "parentId": before, "timestamp": "t", "message": message}


HEAD = {"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/w"}


def test_a_session_of_pi() -> None:
    found = recording(
        HEAD,
        {"type": "model_change", "id": "m", "parentId": None, "timestamp": "t", "provider": "p", "modelId": "m-1"},
        asked("u1", "m"),
        reply("a1", "u1", 100),
        reply("a1", "u1", 100),
        asked("u2", "a1"),
        reply("gone", "u2", 5000),
        # The user went back to a1, and on from there.
        asked("u3", "a1"),
        reply("e1", "u3", 0, "error"),
        reply("a2", "e1", 200, "toolUse"),
        {
            "type": "compaction",
            "id": "c",
            "parentId": "a2",
            "summary": "s",
            "firstKeptEntryId": "a2",
            "tokensBefore": 9,
        },
        asked("u4", "c"),
        reply("x1", "u4", -7, "aborted")
        | {"message": {**reply("", "", 0, "aborted")["message"], "usage": {"input": 0}}},
        reply("a3", "x1", 50),
        reply("a4", "a3", 60),
    )
    (run,) = found.runs
    assert [call.usage["input"] for call in run.calls] == [100, 200, 50, 60]  # type: ignore[index]
    assert [call.window_reset for call in run.calls] == [False, False, True, False]
    assert (found.abandoned, found.failed, found.repeated, found.junk) == (1, 2, 1, 0)
    assert run.model == "m-1"


def test_a_session_of_pi_of_the_first_version_goes_on_line_by_line() -> None:
    first = [reply("", None, used) for used in (100, 200)]
    for entry in first:
        del entry["id"], entry["parentId"]
    compaction = {"type": "compaction", "summary": "s"}
    found = recording(HEAD, first[0], compaction, first[1])
    assert [(call.usage["input"], call.window_reset) for call in found.runs[0].calls] == [  # type: ignore[index]
        (100, False),
        (200, True),
    ]


def test_a_session_that_goes_round_in_a_circle_is_read_to_an_end() -> None:
    found = recording(HEAD, reply("a", "b", 1), reply("b", "a", 2))
    assert len(found.runs[0].calls) == 2


def test_the_forms_are_told_apart_by_content_though_records_stand_over_many_lines() -> None:
    claude = {
        "type": "assistant",
        "uuid": "u",
        "message": {
            "id": "m",
            "role": "assistant",
            "content": [],
            "usage": {"input_tokens": 9},
            "stop_reason": None,
        },
    }
    for records, used in (([HEAD, reply("a", None, 5)], {"input": 5}), ([claude], {"input_tokens": 9})):
        text = "\n".join(json.dumps(record, indent=2) for record in records)
        (call,) = read(io.BytesIO(text.encode())).runs[0].calls
        assert used.items() <= call.usage.items()  # type: ignore[attr-defined]
