"""What a caller's arguments are called, here and on the wire.

Rule: an error speaks of what the caller typed. An argument that does not fit its field is named, with what it
takes; a field that the service names is told as the argument it came from: what stands in a request's plan,
report, command or start is an argument of its own, and the object that a provider reported is `usage`. An RPC is
told as its method.
"""

import re
from typing import Any, TypeVar

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_Message = TypeVar("_Message", bound=Message)

_HOLDER = re.compile(r"^(?:plan|report|command|start)\.")
_PROVIDERS_OBJECT = "provider_usage.json"

#: The methods of this client, by their RPCs. An RPC that has none keeps its name.
_METHODS = {
    "StartRun": "start_run",
    "PrepareCall": "prepare",
    "ObserveUsage": "observe",
    "CompactExchange": "compact",
    "FinishRun": "finish",
    "ForkRun": "fork",
    "GetRun": "get_run",
    "ListRuns": "list_runs",
    "WatchRuns": "watch_runs",
    "ReadLedger": "read_ledger",
    "ReplayExchanges": "replay",
    "ConfigureBuilding": "configure_building",
    "GetBuilding": "get_building",
    "ListBuildings": "list_buildings",
}
_RPC = re.compile(rf"\b(?:{'|'.join(_METHODS)})\b")
_KINDS = {
    FieldDescriptor.CPPTYPE_INT32: "a whole number of 32 bits",
    FieldDescriptor.CPPTYPE_INT64: "a whole number of 64 bits",
    FieldDescriptor.CPPTYPE_BOOL: "True or False",
    FieldDescriptor.CPPTYPE_STRING: "a text that can be written in UTF-8",
}


def made(kind: type[_Message], **fields: Any) -> _Message:
    """A message of these fields; TypeError or ValueError, naming the argument, where one does not fit."""
    try:
        return kind(**fields)
    except (TypeError, ValueError, AttributeError):
        for name, value in fields.items():
            try:
                kind(**{name: value})
            except (TypeError, ValueError, AttributeError) as error:
                field = kind.DESCRIPTOR.fields_by_name[name]
                takes = _KINDS.get(field.cpp_type, "another value")
                if field.is_repeated:
                    takes = "a mapping or a sequence of the types that are documented"
                refusal = ValueError if isinstance(error, ValueError) else TypeError
                raise refusal(f"{name} takes {takes}; not {shown(value)}") from None
        raise


def shown(value: object) -> str:
    """`value` as an error shows it: at most 80 characters, and its type where it has no such text."""
    try:
        return f"{value!r:.80}"
    except ValueError:  # a number of more digits than Python writes
        return f"one of type {type(value).__name__} that is too long to show"


def argument(field: str) -> str:
    """The argument that the field of a request came from."""
    name = _HOLDER.sub("", field)
    return "usage" if name == _PROVIDERS_OBJECT else name


def methods_named(text: str) -> str:
    """`text` with the client's methods where it names RPCs."""
    return _RPC.sub(lambda found: _METHODS[found[0]], text)
