"""What the client answers as JSON for programs: plain numbers, lower-case names, null for what is not there.

Rule: the names are the wire's, and every field of a value is there. Moments are RFC 3339 in UTC, and how long
something takes is a number of seconds.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from typing import Any


def as_json(value: Any) -> dict[str, Any]:
    """A value of the client's, as `ullage.RunStatus`: its fields by name, each of them."""
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return as_json(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        return {key: _plain(held) for key, held in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(held) for held in value]
    return value
