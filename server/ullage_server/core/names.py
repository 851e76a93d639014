"""Names, ids and addresses: what may stand in them, and how the rungs of an address are found.

Rule (wire.md, Types): a name or id is 1 to 128 of `A-Z a-z 0-9 . _ : -`; an address is empty (the city), a
building, or a building and a resident, each segment a lower-case letter or digit followed by at most 62 of
`a-z 0-9 _ -`. Model names and labels are the caller's own words: bounded, and without control characters.
"""

import re
from collections.abc import Mapping

from .errors import Refusal, invalid

_NAME = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_SEGMENT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

MAX_MODEL_CHARS = 256
MAX_LABELS = 16
MAX_LABEL_KEY_CHARS = 128
MAX_LABEL_VALUE_CHARS = 1024
MAX_OUTCOME_CHARS = 1024


def is_name(value: str) -> bool:
    """Whether `value` is a name or id."""
    return _NAME.fullmatch(value) is not None


def check_name(field: str, value: str) -> str:
    """`value`, a name or id; refused, naming `field`, where it is empty or holds anything else."""
    if not is_name(value):
        raise not_a_name(field)
    return value


def not_a_name(field: str) -> Refusal:
    """The refusal of `field`, which holds no name."""
    return invalid(field, f"{field} is not a name: it takes 1 to 128 of A-Z, a-z, 0-9, '.', '_', ':' and '-'")


def check_address(field: str, value: str) -> str:
    """`value`, an address; the empty one is the city. Refused, naming `field`, where it is malformed."""
    if value:
        segments = value.split("/")
        if len(segments) > 2 or not all(map(_SEGMENT.fullmatch, segments)):
            raise invalid(
                field,
                f"{field} is not an address: it is empty, BUILDING or BUILDING/RESIDENT, each of at most 63 of "
                "a-z, 0-9, '_' and '-', opening with a letter or digit",
            )
    return value


def check_model(field: str, value: str) -> str:
    """`value`, a model's name as its provider spells it; empty where none is stated."""
    if len(value) > MAX_MODEL_CHARS or _CONTROL.search(value):
        raise invalid(field, f"{field} is not a model's name: at most {MAX_MODEL_CHARS} printable characters")
    return value


def check_labels(field: str, labels: Mapping[str, str]) -> Mapping[str, str]:
    """`labels`, the caller's own words for a run; refused, naming `field`, beyond their bounds."""
    if len(labels) > MAX_LABELS:
        raise invalid(field, f"{field} holds {len(labels)} labels; a run has at most {MAX_LABELS}")
    for key, value in labels.items():
        if not 1 <= len(key) <= MAX_LABEL_KEY_CHARS or len(value) > MAX_LABEL_VALUE_CHARS:
            raise invalid(
                field,
                f"{field}: a label's key has 1 to {MAX_LABEL_KEY_CHARS} characters, "
                f"its value at most {MAX_LABEL_VALUE_CHARS}",
            )
        if _CONTROL.search(key) or _CONTROL.search(value):
            raise invalid(field, f"{field}: a label holds no control characters")
    return labels


def check_outcome(field: str, value: str) -> str:
    """`value`, the caller's word for how a run ended; may be empty."""
    if len(value) > MAX_OUTCOME_CHARS:
        raise invalid(field, f"{field} has {len(value)} characters; at most {MAX_OUTCOME_CHARS}")
    return value


def rungs_of(address: str) -> list[str]:
    """The addresses whose rungs a run at `address` reads, the nearest first: itself, its building, the city."""
    building, slash, _ = address.partition("/")
    if slash:
        return [address, building, ""]
    return [building, ""] if building else [""]
