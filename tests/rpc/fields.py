"""Every field of a request, found from its descriptor, and a request with one of them given by hand."""

from collections.abc import Iterator
from typing import Any, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from tests.rpc.wire_bytes import bytes_field

#: The way from a request to one of its fields; through a map it leads over its entries' `key` and `value`.
Way = tuple[FieldDescriptor, ...]


def ways(message: Descriptor, led: Way = ()) -> Iterator[Way]:
    """The ways to all fields of a message, those of the messages in it included."""
    for field in message.fields:
        way = (*led, field)
        yield way
        below = field.message_type
        if below is not None and all(below is not earlier.containing_type for earlier in way):
            yield from ways(below, way)


def name_of(way: Way) -> str:
    """The field's dotted name."""
    return ".".join(field.name for field in way)


def entry_of(field: FieldDescriptor) -> Descriptor | None:
    """The message of a map's entries; None for a field that is no map."""
    below = field.message_type
    return below if below is not None and below.GetOptions().map_entry else None


def holder(way: Way, request: Message) -> Message | None:
    """The message in the request that the way's last field stands in; None where the request lacks it."""
    for field in way[:-1]:
        if field.is_repeated:
            held = getattr(request, field.name)
            if not held:
                return None
            request = _first(request, field)
        elif request.HasField(cast("Any", field.name)):
            request = getattr(request, field.name)
        else:
            return None
    return request


def with_field(request: Message, way: Way, given: bytes) -> bytes:
    """The request's bytes with `given` in place of what stands at the end of the way; empty for nothing there."""
    field, *rest = way
    others = type(request)()
    others.CopyFrom(request)
    others.ClearField(cast("Any", field.name))
    if rest:
        inner = _first(request, field) if field.is_repeated else getattr(request, field.name)
        given = bytes_field(field.number, with_field(inner, tuple(rest), given))
    return others.SerializeToString() + given


def encoded(message: Message, field: FieldDescriptor) -> bytes:
    """The field's bytes as they stand in the message."""
    alone = type(message)()
    alone.CopyFrom(message)
    for other in message.DESCRIPTOR.fields:
        if other.number != field.number:
            alone.ClearField(cast("Any", other.name))
    return alone.SerializeToString()


def _first(message: Message, field: FieldDescriptor) -> Message:
    """The first entry of a map, or element of a list of messages."""
    held = getattr(message, field.name)
    if entry := entry_of(field):
        key, value = next(iter(held.items()))
        return GetMessageClass(entry)(key=key, value=value)
    return cast("Message", held[0])
