"""The table of bad input: for each field of each RPC that is built, what of `hostile` is refused, and why.

What a row does not name is taken, and then it is legal. A check that is lost, or one that is added, shows here.
"""

from typing import NamedTuple

from tests.rpc.hostile import MANY, NO_TEXTS, NUMBERS, TEXTS, Value


class Row(NamedTuple):
    """`refused` is the reason by the value's name, `fields` are those that may be named as being at fault.

    Where it is empty that is the field itself. `more` are values for this field alone, beside those of its kind.
    """

    refused: dict[str, str]
    fields: str = ""
    more: dict[str, Value] = {}  # noqa: RUF012  # nobody changes it


def row(fields: str = "", more: dict[str, Value] | None = None, **refused: set[str]) -> Row:
    """A row from sets of values by reason."""
    return Row({value: reason for reason, values in refused.items() for value in values}, fields, more or {})


# What a text may be.
_TEXTS = set(TEXTS) - {"a MiB"}
_SHORT = {"a letter", "a capital letter", "63 characters", "64 characters", "128 characters"}
NO_NAME = _TEXTS - _SHORT
_CONTROLS = {"NUL", "control characters", "a line's end"}
NO_MODEL = _CONTROLS | {"257 characters", "1024 characters", "1025 characters", "nearly a MiB"}
_SEGMENTS: dict[str, Value] = {
    "two segments": "lab/ada",
    "two segments too many": "lab/ada/x/y",
    "an open end": "lab/",
    "two slashes": "lab//ada",
    "a slash alone": "/",
    "a dot": ".",
    "a segment of dots": "lab/..",
    "a dash first": "-lab",
    "a capital segment": "lab/Ada",
}
NO_ADDRESS = (_TEXTS - {"empty", "a letter", "63 characters"}) | set(_SEGMENTS) - {"two segments"}

# What a number may be. A field of 32 bits takes the lower half of what is sent.
NEGATIVE = {"-1", "-2^31", "-2^53", "-2^63"}
NO_TOKENS = NEGATIVE | {"2^53", "2^53+1", "2^63-1"}
NEGATIVE_IN_32 = {"-1", "2^31", "-2^31", "2^53-1", "2^63-1"}
ZERO_IN_32 = {"0", "2^53", "-2^53", "-2^63"}
NO_ENUM = {"an unknown value", "-1", "2^31-1", "-2^31"}
NO_THRESHOLD = set(NUMBERS) | {"30", "91", "-65"}
_THRESHOLDS: dict[str, Value] = {"30": 30, "31": 31, "90": 90, "91": 91, "-65": -65}
_ZONES: dict[str, Value] = {
    "a zone": "Europe/Berlin",
    "a zone in small letters": "europe/berlin",
    "an offset": "UTC+1",
    "a zone and more": "Europe/Berlin\n",
    "a way to a zone": "./Europe/Berlin",
}
NO_ZONE = _TEXTS | {"a zone in small letters", "an offset", "a zone and more", "a way to a zone"}

#: The RPCs that take as much as an exchange may hold.
LARGE = {"CompactExchange", "ReplayExchanges"}


def in_every_text(rpc: str) -> dict[str, str]:
    """What is refused in the place of any text, no field being known: what does not parse or is too large."""
    garbled = dict.fromkeys(NO_TEXTS, "ARGUMENT_INVALID")
    return garbled if rpc in LARGE else garbled | {"a MiB": "MESSAGE_TOO_LARGE"}


TAKEN = row()

_JSON: dict[str, Value] = {
    "null": "null",
    "an object without counts": '{"id": "x"}',
    "an object around it": '{"usage": {"prompt_tokens": 1}}',
    "a count of 0": '{"prompt_tokens": 0}',
    "the greatest count": '{"prompt_tokens": 9007199254740991}',
    "a whole float": '{"prompt_tokens": 3e2}',
    "a key twice": '{"prompt_tokens": -1, "prompt_tokens": 3}',
    "nested 32 deep": '{"prompt_tokens": 1, "x": ' + "[" * 31 + "]" * 31 + "}",
    "64 KiB": '{"prompt_tokens": 1}' + " " * (65536 - 20),
    "a list": "[]",
    "a number": "12",
    "a word": "nothing",
    "an open object": '{"prompt_tokens": 1',
    "two objects": '{"prompt_tokens": 1} {}',
    "NaN": '{"prompt_tokens": NaN}',
    "infinity": '{"prompt_tokens": 1e999}',
    "a count below 0": '{"prompt_tokens": -1}',
    "a count of 2^53": '{"prompt_tokens": 9007199254740992}',
    "a sum beyond 2^53": '{"prompt_tokens": 9007199254740991, "completion_tokens": 1}',
    "a count of 5000 digits": '{"prompt_tokens": ' + "9" * 5000 + "}",
    "a broken count": '{"prompt_tokens": 1.5}',
    "a count in words": '{"prompt_tokens": "many"}',
    "a true count": '{"prompt_tokens": true}',
    "a nested count": '{"prompt_tokens": {"a": 1}}',
    "nested 33 deep": '{"prompt_tokens": 1, "x": ' + "[" * 32 + "]" * 32 + "}",
    "nested 30,000 deep": "[" * 30_000,
    "more than 64 KiB": '{"prompt_tokens": 1}' + " " * (65536 - 19),
}
_JSON_TAKEN = {
    "null",
    "an object without counts",
    "an object around it",
    "a count of 0",
    "the greatest count",
    "a whole float",
    "a key twice",
    "nested 32 deep",
    "64 KiB",
}
_KEYS: dict[str, Value] = {
    "a key": "notices.every_steps",
    "the table of models": "models",
    "a model": "models.x",
    "a model with dots": "models.gpt-4.1",
    "a table": "notices",
    "a table with a dot": "notices.",
    "no model": "models.",
    "a wire field": "notices_every_steps",
    "a key of no table": "notices.colour",
    "a stated key": "context.second_threshold",
    "a stated model": "models.m",
    "10,000 times one key": ["notices.every_steps"] * MANY,
    "10,000 models": [f"models.m{n}" for n in range(MANY)],
    "10,000 keys, the last one unknown": [*["notices.every_steps"] * MANY, "notices.colour"],
}
_KEYS_REFUSED = {"a table", "a table with a dot", "no model", "a wire field", "a key of no table"} | {
    "a stated key",
    "a stated model",
    "the table of models",
    "10,000 times one key",
    "10,000 models",
    "10,000 keys, the last one unknown",
}
_TOKENS_OF_NO_LIST: dict[str, Value] = {
    "another's token": "bm90LW9uZS1vZi15b3Vycw==",
    "a token's shape": "WzEsICJ4IiwgWzEsICJ5Il1d",
    "JSON null": "bnVsbA==",
    "deep JSON": "W1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tb",
}
_TOKEN = row(ARGUMENT_INVALID=(_TEXTS - {"empty"}) | set(_TOKENS_OF_NO_LIST), more=_TOKENS_OF_NO_LIST)
_PAGE_SIZE = row(ARGUMENT_INVALID=NEGATIVE_IN_32)
_RUN_ID = row(ARGUMENT_INVALID=NO_NAME | {"missing"}, RUN_NOT_FOUND=_SHORT)
_LABELS_REFUSED = {"an empty entry", "17 entries", "10,000 entries"}
_LABEL_KEY = {"missing", "empty", "nearly a MiB", *_CONTROLS} | {
    f"{n} characters" for n in (129, 256, 257, 1024, 1025)
}
_LABEL_VALUE = {"1025 characters", "nearly a MiB", *_CONTROLS}

# In the requests that may be large, a text of a MiB is refused where a shorter one is.
_RUN_ID_OF_LARGE = row(ARGUMENT_INVALID=NO_NAME | {"missing", "a MiB"}, RUN_NOT_FOUND=_SHORT)
_TURN = row(ARGUMENT_INVALID=NEGATIVE_IN_32 | ZERO_IN_32 | {"missing"})


def _attachment(name: str) -> dict[str, Row]:
    return {f"{name}.{field}": TAKEN for field in ("media_type", "reference", "data")}


def _reply(name: str) -> dict[str, Row]:
    """The rows of a reply's blocks, the field `name`: nothing in them is looked at but their kind."""
    there = row(name, ARGUMENT_INVALID={"missing"})
    return {
        name: row(ARGUMENT_INVALID={"empty"}),
        f"{name}.text": there,
        f"{name}.text.text": TAKEN,
        f"{name}.thinking": there,
        f"{name}.thinking.text": TAKEN,
        f"{name}.thinking.signature": TAKEN,
        f"{name}.redacted_thinking": there,
        f"{name}.redacted_thinking.data": TAKEN,
        f"{name}.tool_use": there,
        f"{name}.tool_use.id": TAKEN,
        f"{name}.tool_use.name": TAKEN,
        f"{name}.tool_use.input_json": TAKEN,
        f"{name}.tool_result": row(name, ARGUMENT_INVALID={"empty"}),
        f"{name}.image": there,
        **_attachment(f"{name}.image"),
        f"{name}.opaque": there,
        f"{name}.opaque.type": TAKEN,
        f"{name}.opaque.json": TAKEN,
    }


def _result(name: str) -> dict[str, Row]:
    """The rows within a result, the field `name`."""
    there = row(name, ARGUMENT_INVALID={"missing"})
    return {
        **{
            f"{name}.{kind}": row(name, ARGUMENT_INVALID={"empty"})
            for kind in ("text", "thinking", "redacted_thinking", "tool_use", "image", "opaque")
        },
        f"{name}.tool_result": there,
        f"{name}.tool_result.tool_use_id": TAKEN,
        f"{name}.tool_result.is_error": TAKEN,
        f"{name}.tool_result.parts": row(name, ARGUMENT_INVALID={"empty"}),
        f"{name}.tool_result.parts.text": there,
        f"{name}.tool_result.parts.attachment": there,
        **_attachment(f"{name}.tool_result.parts.attachment"),
    }


# No other id is that of the other side of the wave.
_OTHER_IDS = row("exchange.results", WAVE_INCOMPLETE=set(TEXTS) | {"missing"})

_PLAN = {
    "plan": TAKEN,
    "plan.address": row(ARGUMENT_INVALID=NO_ADDRESS, more=_SEGMENTS),
    "plan.agent": row(ARGUMENT_INVALID=NO_NAME - {"empty"}),
    "plan.session_id": row(ARGUMENT_INVALID=NO_NAME - {"empty"}),
    "plan.parent_session_id": row(ARGUMENT_INVALID=NO_NAME - {"empty"}),
    "plan.subagent": TAKEN,
    "plan.model": row(ARGUMENT_INVALID=NO_MODEL),
    "plan.context_tokens": row(ARGUMENT_INVALID=NO_TOKENS),
    "plan.second_threshold": row(THRESHOLD_OUT_OF_DOMAIN=NO_THRESHOLD, more=_THRESHOLDS),
    "plan.context_rearm": row(ARGUMENT_INVALID=NO_ENUM),
    "plan.context_finishing_act": row(ARGUMENT_INVALID=NO_NAME - {"empty"}),
    "plan.notices_every_steps": row(ARGUMENT_INVALID=NEGATIVE_IN_32),
    "plan.notices_include_subagents": TAKEN,
    "plan.time_budget": row(ARGUMENT_INVALID={"empty"}),
    "plan.time_budget.seconds": row(
        "plan.time_budget",
        {"the longest": 10**9, "a second longer": 10**9 + 1, "the longest Duration": 315_576_000_000},
        ARGUMENT_INVALID=set(NUMBERS) - {"1"} | {"missing", "a second longer", "the longest Duration"},
    ),
    "plan.time_budget.nanos": row(
        "plan.time_budget",
        {"nearly a second": 999_999_999, "a second": 1_000_000_000},
        ARGUMENT_INVALID=NEGATIVE_IN_32 | {"2^31-1", "a second"},
    ),
    "plan.exchange_budget_bytes": row(ARGUMENT_INVALID=NO_TOKENS),
    "plan.exchange_rules": TAKEN,  # an output: what a request says there is not looked at
    "plan.reminders_budget_chars": row(ARGUMENT_INVALID=NEGATIVE_IN_32),
    "plan.clock_zone": row(ARGUMENT_INVALID=NO_ZONE - {"empty"}, more=_ZONES),
    "plan.labels": row(ARGUMENT_INVALID=_LABELS_REFUSED),
    "plan.labels.key": row("plan.labels", ARGUMENT_INVALID=_LABEL_KEY),
    "plan.labels.value": row("plan.labels", ARGUMENT_INVALID=_LABEL_VALUE),
}

ROWS: dict[str, dict[str, Row]] = {
    "StartRun": {
        "run_id": row(ARGUMENT_INVALID=NO_NAME | {"missing"}),
        **_PLAN,
    },
    "PrepareCall": {
        "run_id": _RUN_ID,
        "turn": _TURN,
        "step": row(ARGUMENT_INVALID=NEGATIVE_IN_32 | ZERO_IN_32 | {"missing", "2^31-1", "2^32+5"}),
        "tail": TAKEN,
        "tail.role": row(ARGUMENT_INVALID=NO_ENUM),
        "tail.is_error": TAKEN,
        "tail.history_has_model_output": TAKEN,
        "candidates": row("candidates[0].id", ARGUMENT_INVALID={"empty"}),
        "candidates.id": row("candidates[0].id", ARGUMENT_INVALID=NO_NAME | {"missing"}),
        "candidates.label": row(
            "candidates[0].label",
            {"a colon": "a:b", "a dot": "a.b"},
            ARGUMENT_INVALID=NO_NAME | {"missing", "128 characters", "a colon"},
        ),
        "candidates.edge": row(
            "candidates[0].edge candidates[0].lifetime",
            ARGUMENT_INVALID=NO_ENUM | {"missing", "EDGE_UNSPECIFIED", "EDGE_SESSION_START"},
        ),
        "candidates.lifetime": row(
            "candidates[0].lifetime",
            ARGUMENT_INVALID=NO_ENUM | {"missing", "LIFETIME_UNSPECIFIED", "LIFETIME_DURABLE"},
        ),
        "candidates.priority": TAKEN,
        "candidates.text": TAKEN,
        "time_remaining": TAKEN,
        "time_remaining.seconds": row(
            "time_remaining",
            {"nearly a billion": 10**9 - 1, "a billion": 10**9, "the longest Duration": 315_576_000_000},
            ARGUMENT_INVALID=NEGATIVE
            | {
                "2^31",
                "2^31-1",
                "2^32+5",
                "2^53-1",
                "2^53",
                "2^53+1",
                "2^63-1",
                "a billion",
                "the longest Duration",
            },
        ),
        "time_remaining.nanos": row(
            "time_remaining",
            {"nearly a second": 999_999_999, "a second": 1_000_000_000},
            ARGUMENT_INVALID=NEGATIVE_IN_32 | {"2^31-1", "a second"},
        ),
        "session_id_in_context": TAKEN,
        "window_reset": TAKEN,
        "unplaced_ids": row(
            more={"1000 ids": ["1/notice"] * 1000, "1001 ids": ["1/notice"] * 1001},
            ARGUMENT_INVALID={"1001 ids"},
        ),
        "now": TAKEN,
        "now.seconds": row(
            "now",
            {"the year 9999": 253_402_300_799 - 86_400, "its last day": 253_402_300_799},
            ARGUMENT_INVALID={"-2^53", "-2^63", "2^53-1", "2^53", "2^53+1", "2^63-1", "its last day"},
        ),
        "now.nanos": row(
            "now",
            {"nearly a second": 999_999_999, "a second": 1_000_000_000},
            ARGUMENT_INVALID=NEGATIVE_IN_32 | {"2^31-1", "a second"},
        ),
        "model": row(ARGUMENT_INVALID=NO_MODEL),
        "context_tokens": row(ARGUMENT_INVALID=NO_TOKENS),
    },
    "ObserveUsage": {
        "run_id": _RUN_ID,
        "report": row("report.turn", ARGUMENT_INVALID={"missing", "empty"}),
        "report.turn": _TURN,
        "report.usage": TAKEN,
        "report.usage.input_tokens": row(
            "report.usage.input_tokens report.usage.output_tokens", ARGUMENT_INVALID=NO_TOKENS | {"2^53-1"}
        ),
        "report.usage.output_tokens": row(ARGUMENT_INVALID=NO_TOKENS | {"2^53-1"}),
        "report.usage.cache_read_input_tokens": row(
            "report.usage.cache_read_input_tokens report.usage.input_tokens",
            ARGUMENT_INVALID=NO_TOKENS | {"2^53-1"},
        ),
        "report.usage.cache_creation_input_tokens": row(
            "report.usage.cache_creation_input_tokens report.usage.input_tokens",
            ARGUMENT_INVALID=NO_TOKENS | {"2^53-1"},
        ),
        "report.usage.cache_accounting": row(ARGUMENT_INVALID=NO_ENUM),
        "report.provider_usage": row("report.provider_usage.json", ARGUMENT_INVALID={"empty"}),
        "report.provider_usage.dialect": row(ARGUMENT_INVALID=NO_ENUM),
        "report.provider_usage.json": row(
            more=_JSON, ARGUMENT_INVALID=_TEXTS | {"missing"} | set(_JSON) - _JSON_TAKEN
        ),
        "report.window_reset": TAKEN,
        "report.model": row(ARGUMENT_INVALID=NO_MODEL),
        "report.context_tokens": row(ARGUMENT_INVALID=NO_TOKENS),
    },
    "FinishRun": {
        "run_id": _RUN_ID,
        "outcome": row(ARGUMENT_INVALID={"1025 characters", "nearly a MiB"}),
    },
    "GetRun": {"run_id": _RUN_ID},
    "ListRuns": {
        "address": row(ARGUMENT_INVALID=NO_ADDRESS, more=_SEGMENTS),
        "state": row(ARGUMENT_INVALID=NO_ENUM),
        "labels": row(ARGUMENT_INVALID=_LABELS_REFUSED),
        "labels.key": row("labels", ARGUMENT_INVALID=_LABEL_KEY),
        "labels.value": row("labels", ARGUMENT_INVALID=_LABEL_VALUE),
        "page_size": _PAGE_SIZE,
        "page_token": _TOKEN,
    },
    "ConfigureBuilding": {
        "command": row(ARGUMENT_INVALID={"missing"}),
        "command.address": row(ARGUMENT_INVALID=NO_ADDRESS, more=_SEGMENTS),
        "command.context_second_threshold": row(THRESHOLD_OUT_OF_DOMAIN=NO_THRESHOLD, more=_THRESHOLDS),
        "command.context_rearm": row(ARGUMENT_INVALID=NO_ENUM | {"REARM_UNSPECIFIED"}),
        "command.context_finishing_act": row(ARGUMENT_INVALID=NO_NAME),
        "command.exchange_budget_bytes": row(ARGUMENT_INVALID=NO_TOKENS),
        "command.notices_every_steps": row(ARGUMENT_INVALID=NEGATIVE_IN_32),
        "command.notices_include_subagents": TAKEN,
        "command.reminders_budget_chars": row(ARGUMENT_INVALID=NEGATIVE_IN_32),
        "command.clock_zone": row(ARGUMENT_INVALID=NO_ZONE, more=_ZONES),
        "command.models": row("command command.models", ARGUMENT_INVALID={"an empty entry", "10,000 entries"}),
        "command.models.key": row("command.models", ARGUMENT_INVALID=NO_MODEL | {"missing", "empty"}),
        "command.models.value": row("command.models", ARGUMENT_INVALID=NO_TOKENS | {"missing", "0"}),
        "command.reset": row(ARGUMENT_INVALID=_TEXTS | _KEYS_REFUSED, more=_KEYS),
        "request_id": row(ARGUMENT_INVALID=NO_NAME - {"empty"}),
        "etag": row(CONFIG_CHANGED=_TEXTS - {"empty"}),
        "validate_only": TAKEN,
    },
    "GetBuilding": {
        "address": row(
            ARGUMENT_INVALID=NO_ADDRESS,
            BUILDING_NOT_FOUND={"a letter", "63 characters", "two segments"},
            more=_SEGMENTS,
        ),
    },
    "ListBuildings": {"page_size": _PAGE_SIZE, "page_token": _TOKEN},
    "CompactExchange": {
        "run_id": _RUN_ID_OF_LARGE,
        "turn": _TURN,
        "exchange": TAKEN,
        **_reply("exchange.assistant"),
        "exchange.assistant.tool_use": row(
            "exchange.assistant exchange.results", ARGUMENT_INVALID={"missing"}, WAVE_INCOMPLETE={"empty"}
        ),
        "exchange.assistant.tool_use.id": _OTHER_IDS,
        "exchange.results": row(ARGUMENT_INVALID={"empty"}, WAVE_INCOMPLETE={"missing", "twice"}),
        **_result("exchange.results"),
        "exchange.results.tool_result": row(
            "exchange.results", ARGUMENT_INVALID={"missing"}, WAVE_INCOMPLETE={"empty"}
        ),
        "exchange.results.tool_result.tool_use_id": _OTHER_IDS,
        "edits_only": TAKEN,
    },
    "ForkRun": {
        "parent_run_id": _RUN_ID,
        "through_turn": row(ARGUMENT_INVALID=NEGATIVE_IN_32, FORK_PAST_END={"2^31-1", "2^32+5"}),
        "run_id": row(ARGUMENT_INVALID=NO_NAME | {"missing"}),
        **_PLAN,
        # A branch keeps its mother's.
        "plan.exchange_budget_bytes": row(ARGUMENT_INVALID=set(NUMBERS)),
    },
    "ReadLedger": {
        "run_id": _RUN_ID,
        "from_position": row(ARGUMENT_INVALID=NEGATIVE_IN_32),
    },
    "WatchRuns": {
        "address": row(ARGUMENT_INVALID=NO_ADDRESS, more=_SEGMENTS),
        "run_id": row(ARGUMENT_INVALID=(NO_NAME - {"empty"}) | {"a MiB"}, RUN_NOT_FOUND=_SHORT),
        "labels": row(ARGUMENT_INVALID=_LABELS_REFUSED),
        "labels.key": row("labels", ARGUMENT_INVALID=_LABEL_KEY),
        "labels.value": row("labels", ARGUMENT_INVALID=_LABEL_VALUE),
        "resume_token": _TOKEN,
    },
    "ReplayExchanges": {
        # A message without anything leads to nothing: it stands first, where the start should.
        "start": row(ARGUMENT_INVALID={"missing"}),
        "start.run_id": row(ARGUMENT_INVALID=(NO_NAME - {"empty"}) | {"a MiB"}, RUN_NOT_FOUND=_SHORT),
        "start.exchange_budget_bytes": row(ARGUMENT_INVALID=NO_TOKENS),
        "start.exchange_rules": row(ARGUMENT_INVALID=set(NUMBERS) - ZERO_IN_32 - {"1", "2^53+1"}),
        "model_returned": row("start model_returned.turn", ARGUMENT_INVALID={"missing", "empty"}),
        "model_returned.turn": _TURN,
        **_reply("model_returned.blocks"),
        "model_returned.calls": row(ARGUMENT_INVALID=NEGATIVE_IN_32),
        "tool_result": row("start tool_result", ARGUMENT_INVALID={"missing", "empty"}),
        **_result("tool_result"),
    },
}
