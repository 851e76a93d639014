"""Small recordings for the tests, line by line."""

import io
import json
from typing import Any

from ullage_server.cli.recordings import Call, Recording, read


def lines(*values: Any) -> bytes:
    return b"".join(value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n" for value in values)


def reading(*values: Any) -> Recording:
    return read(io.BytesIO(lines(*values)))


def calls(*values: Any) -> tuple[Call, ...]:
    """The calls of the one run there is."""
    (run,) = reading(*values).runs
    return run.calls


def used(tokens: int) -> dict[str, Any]:
    return {"input_tokens": tokens, "output_tokens": 1}


def usage_line(usage: Any, **more: Any) -> dict[str, Any]:
    return {"raw_usage": usage, "model": "m", **more}


def assistant(usage: Any, message: str | None = None, **more: Any) -> dict[str, Any]:
    body = {"role": "assistant", "model": "claude-x", "usage": usage, "content": [{"type": "text", "text": "…"}]}
    return {
        "type": "assistant",
        "isSidechain": False,
        "message": body | ({"id": message} if message else {}),
        **more,
    }


BOUNDARY = {"type": "system", "subtype": "compact_boundary", "isSidechain": False, "content": "compacted"}
SUMMARY = {
    "type": "user",
    "isCompactSummary": True,
    "message": {"role": "user", "content": "what was done so far"},
}
