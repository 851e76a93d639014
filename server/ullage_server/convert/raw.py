"""The wire's messages once more, with parts of them as the bytes they are on the wire.

Rule (architecture.md, Long texts): `string` and `bytes` are the same on the wire. A text read as a string is
decoded when it is parsed and encoded when it is used, which costs more than all the rest of a long exchange; read
as bytes it is neither. That it is UTF-8 is then checked here, a piece at a time, so that nobody waits for a whole.

So is a message within a message. What a Command asks and an Answer answers is read and written as bytes: it is
parsed and made as that of a call of its own, by whom it is for.
"""

import codecs
from typing import TypeVar, cast

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from ullage.v1 import exchange_pb2, run_service_pb2, wire_service_pb2

M = TypeVar("M", bound=Message)

#: The fields of exchange.proto that are read as bytes, whichever message they are of.
LONG_TEXTS = {"text", "input_json", "json"}

#: What ends the names of the messages that a Command or an Answer holds as bytes.
_ENCLOSED = ("Request", "Response", ".Failure")

#: How much is looked at at a time, in bytes.
_PIECE = 64 << 10


class NotUtf8(ValueError):
    """A text that was read as bytes is no UTF-8: the message is as one that does not parse."""


def utf8(text: object) -> bytes:
    """A field that was read as bytes. Raises NotUtf8."""
    data = cast("bytes", text)
    if data.isascii():
        return data
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _PIECE):
            decoder.decode(data[start : start + _PIECE], start + _PIECE >= len(data))
    except UnicodeDecodeError:
        raise NotUtf8 from None
    return data


def _pool() -> DescriptorPool:
    pool = DescriptorPool()
    added: set[str] = set()

    def add(file: FileDescriptor) -> None:
        if file.name in added:
            return
        added.add(file.name)
        for dependency in file.dependencies:
            add(dependency)
        copied = FileDescriptorProto()
        file.CopyToProto(copied)
        if file.name == exchange_pb2.DESCRIPTOR.name:
            for message in copied.message_type:
                for field in message.field:
                    if field.name in LONG_TEXTS and field.type == FieldDescriptorProto.TYPE_STRING:
                        field.type = FieldDescriptorProto.TYPE_BYTES
        if file.name == wire_service_pb2.DESCRIPTOR.name:
            for message in copied.message_type:
                for field in message.field:
                    if message.name in ("Command", "Answer") and field.type_name.endswith(_ENCLOSED):
                        field.type = FieldDescriptorProto.TYPE_BYTES
                        field.ClearField("type_name")
        pool.Add(copied)

    add(run_service_pb2.DESCRIPTOR)
    add(wire_service_pb2.DESCRIPTOR)
    return pool


_POOL = _pool()


def raw(kind: type[M]) -> type[M]:
    """The class of the message `kind` whose texts or enclosed messages are bytes."""
    return cast("type[M]", GetMessageClass(_POOL.FindMessageTypeByName(kind.DESCRIPTOR.full_name)))
