"""Folded states as they stand in a run's row.

Rule (architecture.md, The ledger): the row is a shortcut past the fold, never the truth. It is written with the
version of the fold that made it; one of another version, or that can't be read, is folded from the ledger.
"""

from typing import get_type_hints

import msgspec

from ..core.fold import State
from ..core.plan import Plan

# The run's id and its plan never change, and stand in columns of their own: what is written each time is the rest.
_CHANGING = tuple(get_type_hints(State).values())[2:]

_encoder = msgspec.msgpack.Encoder()
_plan_decoder = msgspec.msgpack.Decoder(Plan)
_state_decoder = msgspec.msgpack.Decoder(tuple[_CHANGING])  # type: ignore[valid-type]


def encode_plan(state: State) -> bytes:
    """The frozen plan of `state` as bytes."""
    return _encoder.encode(state.plan)


def encode_state(state: State) -> bytes:
    """What changes in `state` as bytes."""
    return _encoder.encode(state[2:])


def decode_state(run_id: str, plan: bytes, state: bytes) -> State | None:
    """The state of the run `run_id` as it was encoded; None where it can't be read."""
    try:
        return State(run_id, _plan_decoder.decode(plan), *_state_decoder.decode(state))
    except msgspec.MsgspecError:
        return None
