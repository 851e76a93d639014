"""The conformance vectors' usage objects, counted without a server."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ullage_server.core.errors import Refusal
from ullage_server.core.usage import (
    CacheAccounting,
    CountedUsage,
    Dialect,
    count_model_usage,
    count_provider_usage,
)

VECTORS = Path(__file__).resolve().parent.parent / "vectors" / "usage_dialects.json"


def count_report(report: dict[str, Any]) -> CountedUsage | None:
    if "provider_usage" in report:
        given = report["provider_usage"]
        named = given.get("dialect", "DIALECT_UNSPECIFIED").removeprefix("DIALECT_")
        return count_provider_usage(Dialect[named], given["json"])
    given = report["usage"]
    accounting = given.get("cache_accounting", "UNSPECIFIED").removeprefix("CACHE_ACCOUNTING_")
    return count_model_usage(
        input_tokens=given.get("input_tokens", 0),
        output_tokens=given.get("output_tokens"),
        cache_read_input_tokens=given.get("cache_read_input_tokens", 0),
        cache_creation_input_tokens=given.get("cache_creation_input_tokens", 0),
        cache_accounting=CacheAccounting[accounting],
    )


def check_step(step: dict[str, Any], before: CountedUsage | None) -> CountedUsage | None:
    """Check a reported turn; the reading after it is what was counted, or else the one before."""
    counted = count_report(step["request"]["report"])
    after = counted or before
    if "reading" in step.get("absent", ()):
        assert after is None
    wanted = step["expect"].get("reading", {})
    if wanted:
        assert after is not None
        assert after.prompt_tokens == wanted.get("used_tokens", after.prompt_tokens)
        projected = after.prompt_tokens + (after.output_tokens or 0)
        assert projected == wanted.get("projected_tokens", projected)
        assert re.search(wanted.get("counted_as", {"$re": ""})["$re"], after.counted_as)
    return after


@pytest.mark.parametrize("case", json.loads(VECTORS.read_text("utf-8"))["cases"], ids=lambda case: case["name"])
def test_conformance_vectors(case: dict[str, Any]) -> None:
    reading: CountedUsage | None = None
    for step in case["steps"]:
        report = step["request"].get("report", {})
        if not report or {"usage", "provider_usage"} <= report.keys():  # no usage, or the wire's own rule
            continue
        if "error" in step:
            with pytest.raises(Refusal) as caught:
                count_report(report)
            assert step["error"]["reason"] == caught.value.reason.name
            assert step["error"].get("field", "") in caught.value.field
        else:
            reading = check_step(step, reading)
