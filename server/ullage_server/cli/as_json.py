"""A message of the wire as JSON for programs: plain numbers, lower-case names, null for what is not there.

Rule: protobuf's own JSON writes 64-bit numbers as strings, which no reader of JSON lines expects; none of ours
exceeds 2^53 - 1, so they are written as numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp


def as_json(message: Message) -> dict[str, Any]:
    """The message's fields by name, each of them."""
    return {field.name: _field(message, field) for field in message.DESCRIPTOR.fields}


def enum_name(kind: EnumDescriptor, number: int) -> str | None:
    """The name of an enum's value without the enum's own, in lower case; None for the unspecified one."""
    if number == 0:
        return None
    value = kind.values_by_number.get(number)
    prefix = kind.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return str(number) if value is None else value.name.removeprefix(prefix).lower()


def _field(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    if isinstance(value, Mapping):
        return dict(sorted(value.items()))
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_value(field, item) for item in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _value(field, value)


def _value(field: Any, value: Any) -> Any:
    if isinstance(value, Timestamp):
        return value.ToJsonString()
    if isinstance(value, Duration):
        return value.ToNanoseconds() / 1e9
    if isinstance(value, Message):
        return as_json(value)
    if field.enum_type is not None:
        return enum_name(field.enum_type, value)
    return value.hex() if isinstance(value, bytes) else value
