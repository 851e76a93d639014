"""Any object that holds named values, as plain JSON values.

Rule: what an SDK hands out (pydantic models of either version, dataclasses, named tuples, protobuf and proto-plus
messages, objects with `to_dict`) is read through its own door and never changed. A value JSON has no word for
becomes its text, and a float that is no number becomes null: neither is a count, and neither may break a report.
"""

import dataclasses
import math
import operator
from collections.abc import Mapping, Sequence
from collections.abc import Set as AnySet
from types import SimpleNamespace
from typing import Any

from google.protobuf.message import Message

#: The methods by which objects tell their values; the first that gives a mapping is taken.
_DOORS = ("model_dump", "to_dict", "_asdict", "dict")


def mapping_of(value: object) -> Mapping[Any, object] | None:
    """The named values of `value`; None where it holds none."""
    if isinstance(value, Mapping):
        return value
    message = value if isinstance(value, Message) else getattr(value, "_pb", None)
    if isinstance(message, Message):
        return _fields(message)
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    if isinstance(value, SimpleNamespace):
        return vars(value)
    for name in _DOORS:
        told = _told(value, name)
        if isinstance(told, Mapping):
            return told
    return None


def plain(value: object) -> object:
    """`value` as None, bool, int, float, str, list and dict alone. Raises RecursionError where it holds itself."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    mapping = mapping_of(value)
    if mapping is not None:
        return {str(key): plain(held) for key, held in mapping.items()}
    if isinstance(value, Sequence | AnySet) and not isinstance(value, bytes | bytearray | memoryview):
        return [plain(held) for held in value]
    try:
        return operator.index(value)  # type: ignore[arg-type]  # this asks
    except TypeError:
        return str(value)


def _fields(message: Message) -> dict[str, object]:
    """A message's fields: those that know of absence where they are there, the others always."""
    return {
        field.name: getattr(message, field.name)
        for field in message.DESCRIPTOR.fields
        if not field.has_presence or message.HasField(field.name)
    }


def _told(value: object, door: str) -> object:
    """What that method of `value` tells; None where it has none that can be asked without more."""
    method = getattr(value, door, None)
    if not callable(method):
        return None
    try:
        if door == "model_dump":
            try:  # pydantic warns of values that are not of their field's type; they are the server's to judge
                return method(warnings=False)
            except (TypeError, ValueError):  # on pydantic 1, and in what only looks like pydantic
                pass
        return method()
    except TypeError:
        return None
