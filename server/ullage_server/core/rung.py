"""A rung of the ladder: what its document states, read strictly, and what a command would change in it.

Rule (rules.md 2): a rung that states a key states all of it; other keys of the document are left alone and
mean nothing here. A command's key is stated or reset, never both; `models` resets the table, `models.NAME`
one name, all behind the first dot.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from .domain import MAX_TOKENS, check_tokens
from .errors import invalid
from .names import check_address, check_model
from .settings import KEYS, Value

MODELS = "models"

#: How many models, and how many keys to reset, one command may name; a document has room for not many more.
MAX_NAMED = 2000

#: An unknown key that is told as it was spelt; anything else may be no key at all.
_SHOWABLE = re.compile(r"[a-z0-9_]{1,32}(\.[a-z0-9_]{1,32}){0,2}")


@dataclass(frozen=True, slots=True)
class Rung:
    """What one rung states: values by the ladder's keys, and windows in tokens by model name."""

    address: str
    values: Mapping[str, Value]
    models: Mapping[str, int]

    @property
    def source(self) -> str:
        """How a settled value names this rung: its address, or `city`."""
        return self.address or "city"


@dataclass(frozen=True, slots=True)
class Command:
    """What an operator wants changed in one rung; whatever it does not name is left as it is."""

    address: str
    values: Mapping[str, Value]
    models: Mapping[str, int]
    reset: tuple[str, ...]


def read_rung(address: str, document: Mapping[str, object], zones: Collection[str]) -> Rung:
    """What the parsed `document` of the rung at `address` states.

    A value of another type or outside its key's domain is refused with the key as the field at fault: the one
    who holds the text says where in it that is.
    """
    values: dict[str, Value] = {}
    for name, key in KEYS.items():
        table_name, _, entry = name.partition(".")
        table = _table(document, table_name)
        if entry in table:
            value = table[entry]
            if type(value) is not key.kind or not isinstance(value, int | bool | str) or _is_wide(value):
                kind = {int: "a whole number of 64 bits", bool: "true or false", str: "a text"}[key.kind]
                raise invalid(name, f"{name} is not {kind}")
            values[name] = key.check(name, value, zones)
    models: dict[str, int] = {}
    for model, window in _table(document, MODELS).items():
        if type(window) is not int or _is_wide(window):
            raise invalid(f"{MODELS}.{model}", f"{MODELS}.{model} is not a whole number of tokens")
        models[model] = check_window(f"{MODELS}.{model}", model, window)
    return Rung(address, values, models)


def check_command(command: Command, zones: Collection[str]) -> Command:
    """`command` with its values parsed and each key once; refused, with the field at fault, where it is wrong."""
    check_address("command.address", command.address)
    for field, named in (("command.models", command.models), ("command.reset", command.reset)):
        if len(named) > MAX_NAMED:
            raise invalid(
                field,
                f"{field} names {len(named)} keys; one command names at most {MAX_NAMED}",
                recovery=f"send several commands, or reset the whole table with `{MODELS}`",
            )
    reset = tuple(dict.fromkeys(command.reset))
    values = {
        name: KEYS[name].check(f"command.{KEYS[name].wire_field}", value, zones)
        for name, value in command.values.items()
    }
    for model, window in command.models.items():
        check_window("command.models", model, window)
    for name in reset:
        table, _, model = name.partition(".")
        if name not in KEYS and name != MODELS and not (table == MODELS and model):
            keys = ", ".join([*KEYS, MODELS, f"{MODELS}.NAME"])
            shown = name if _SHOWABLE.fullmatch(name) else "a key"
            raise invalid(
                "command.reset", f"command.reset names {shown}, which the ladder does not have; it has {keys}"
            )
        stated = command.models if name == MODELS else table == MODELS and model in command.models
        if name in command.values or stated:
            shown = name if name in KEYS else MODELS
            raise invalid("command.reset", f"{shown} is both stated and reset; one command does one of them")
    return Command(command.address, values, command.models, reset)


def check_window(field: str, model: str, window: int) -> int:
    """`window`, the tokens of `model`'s window; refused, naming `field`, where the name or the number is none."""
    if not model:
        raise invalid(field, f"{field} names no model; a window stands under its model's name")
    check_model(field, model)
    if check_tokens(field, window) == 0:
        raise invalid(field, f"{field}: a window is a whole number from 1 to {MAX_TOKENS}; reset it to state none")
    return window


def _is_wide(value: object) -> bool:
    """Whether `value` is a number of more than 64 bits: TOML has none, and one wide enough cannot be printed."""
    return isinstance(value, int) and value.bit_length() > 63


def _table(document: Mapping[str, object], name: str) -> Mapping[str, object]:
    table = document.get(name, {})
    if not isinstance(table, Mapping):
        raise invalid(name, f"{name} is not a table")
    return table
