"""What is put into a field: nothing, too much, what is on a boundary, what is of another kind; each named."""

from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor import FieldDescriptor as Field

from tests.rpc.fields import entry_of
from tests.rpc.wire_bytes import bytes_field, number_field

MIB = 1 << 20
MANY = 10_000

#: Texts that a client can send.
TEXTS = {
    "empty": "",
    "a space": " ",
    "a letter": "a",
    "a capital letter": "A",
    "two words": "two words",
    "NUL": "\x00",
    "control characters": "a\x01\x1b[31m\x7f",
    "a line's end": "a\n",
    "right to left": "\u202eגבא",
    "emoji": "🦉🏳\ufe0f\u200d🌈",
    "a way out": "../../etc/passwd",
    "a way from the root": "/etc/passwd",
    "a statement": "a'; DROP TABLE ledger; --",
    "a format": "%s%n{0.__class__}${HOME}",
    **{f"{length} characters": "a" * length for length in (63, 64, 128, 129, 256, 257, 1024, 1025)},
    "nearly a MiB": "a" * (MIB - 4096),
    "a MiB": "a" * MIB,
}
#: Bytes in a text's place that are no UTF-8.
NO_TEXTS = {
    "bytes that are no UTF-8": b"\xff\xfe",
    "half a surrogate pair": b"\xed\xa0\x80",
    "an overlong slash": b"\xc0\xaf",
    "a character cut short": b"a\xe2\x82",
    "a character beyond Unicode": b"\xf4\x90\x80\x80",
}
#: Numbers as a varint of 64 bits holds them; a field of 32 bits takes their lower half.
NUMBERS = {
    "0": 0,
    "1": 1,
    "-1": -1,
    "2^31-1": 2**31 - 1,
    "2^31": 2**31,
    "-2^31": -(2**31),
    "2^32+5": 2**32 + 5,
    "2^53-1": 2**53 - 1,
    "2^53": 2**53,
    "2^53+1": 2**53 + 1,
    "-2^53": -(2**53),
    "2^63-1": 2**63 - 1,
    "-2^63": -(2**63),
}


#: A value for one field: a number, a text, or the texts of a list.
Value = int | str | list[str]


def hostile(field: Field, good: bytes, more: dict[str, Value]) -> dict[str, bytes]:
    """What to put in the field's place, by name: encoded, its tag included.

    `good` is what a good request has there, `more` are further values of this field alone.
    """
    return {
        "missing": b"",
        **_of_kind(field, good),
        **{name: _encoded(field.number, value) for name, value in more.items()},
    }


def _encoded(number: int, value: Value) -> bytes:
    if isinstance(value, int):
        return number_field(number, value)
    texts = [value] if isinstance(value, str) else value
    return b"".join(bytes_field(number, text.encode()) for text in texts)


def _of_kind(field: Field, good: bytes) -> dict[str, bytes]:
    number = field.number
    if entry := entry_of(field):
        return _entries(number, entry)
    if field.type == Field.TYPE_MESSAGE:
        return {"empty": bytes_field(number, b""), "twice": good + good}
    if field.type == Field.TYPE_STRING:
        texts = {name: text.encode() for name, text in TEXTS.items()} | NO_TEXTS
        return {name: bytes_field(number, data) for name, data in texts.items()}
    if field.enum_type is not None:
        numbers = {value.name: value.number for value in field.enum_type.values}
        numbers |= {"an unknown value": 99, "-1": -1, "2^31-1": 2**31 - 1, "-2^31": -(2**31)}
        return {name: number_field(number, value) for name, value in numbers.items()}
    if field.type == Field.TYPE_BOOL:
        return {"false": number_field(number, 0), "true": number_field(number, 1), "2": number_field(number, 2)}
    if field.type == Field.TYPE_BYTES:
        return {name: bytes_field(number, data) for name, data in (NO_TEXTS | {"no bytes": b""}).items()}
    assert field.type in (Field.TYPE_INT32, Field.TYPE_INT64), f"{field.full_name}: what is hostile to its type?"
    return {name: number_field(number, value) for name, value in NUMBERS.items()}


def _entries(number: int, entry: Descriptor) -> dict[str, bytes]:
    """Entries of a map from texts: their keys differ, their values are good ones."""
    is_text = entry.fields_by_name["value"].type == Field.TYPE_STRING
    value = bytes_field(2, b"v") if is_text else number_field(2, 1000)

    def entries(count: int) -> bytes:
        keys = (bytes_field(1, b"k%d" % n) for n in range(count))
        return b"".join(bytes_field(number, key + value) for key in keys)

    return {
        "an empty entry": bytes_field(number, b""),
        "one entry twice": entries(1) * 2,
        "16 entries": entries(16),
        "17 entries": entries(17),
        "10,000 entries": entries(MANY),
    }
