"""Records and states as they are stored: msgpack, read only as the types that wrote it.

Rule (architecture.md, The ledger): a record is kept for ever; one of a kind or a length that this server does not
know was written by a newer one, and stops its run with RECORD_UNKNOWN. A state is a shortcut past the fold, never
the truth: one of another version of the fold, or that can't be read, is folded from the records.
"""

from typing import get_args, get_type_hints

from msgspec import MsgspecError, msgpack
from msgspec.structs import astuple

from ..core.errors import Reason, Refusal
from ..core.plan import Plan
from ..core.records import Record, RunFinished, RunForked, RunStarted
from ..core.run import subject
from ..core.state import State

#: What each kind of record is called in the store: its tag, which is the name of its field in LedgerRecord.
KINDS: dict[type[object], str] = {kind: kind.__struct_config__.tag for kind in get_args(Record)}

# The run's id and its plan never change, and stand in its row: what is written with each record is the rest.
_CHANGING = tuple(get_type_hints(State).values())[2:]

_encode = msgpack.Encoder().encode
_decode_record = msgpack.Decoder(Record).decode
_decode_plan = msgpack.Decoder(Plan).decode
_decode_state = msgpack.Decoder(tuple[_CHANGING]).decode  # type: ignore[valid-type]


def turn_of(record: Record) -> int:
    """The turn `record` belongs to; 0 for none."""
    return 0 if isinstance(record, RunStarted | RunForked | RunFinished) else record.turn


def encode_record(record: Record) -> bytes:
    """`record` as bytes."""
    return _encode(record)


def decode_record(run_id: str, payload: bytes) -> Record:
    """The record of the run `run_id` that was stored as `payload`. Raises Refusal for one of a newer server."""
    try:
        return _decode_record(payload)
    except MsgspecError:
        raise Refusal(
            Reason.RECORD_UNKNOWN,
            f"the ledger of run {run_id} holds a record that this server does not know",
            subject=subject(run_id),
            recovery="ask a server of the version that wrote it, or upgrade this one",
        ) from None


def encode_plan(state: State) -> bytes:
    """The frozen plan of `state` as bytes."""
    return _encode(state.plan)


def encode_state(state: State) -> bytes:
    """What changes in `state` as bytes."""
    return _encode(astuple(state)[2:])


def decode_state(run_id: str, plan: bytes, state: bytes) -> State | None:
    """The state of the run `run_id` as it was encoded; None where it can't be read."""
    try:
        return State(run_id, _decode_plan(plan), *_decode_state(state))
    except MsgspecError:
        return None
