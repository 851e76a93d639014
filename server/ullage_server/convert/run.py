"""A run as the wire shows it."""

from ullage.v1 import run_pb2

from ..core.state import Origin, State
from .gauge import reading_to, sounded_to
from .plan import plan_to
from .times import to_timestamp


def origin_to(origin: Origin | None) -> run_pb2.Origin | None:
    """Where a branch left its mother, as the wire shows it."""
    return None if origin is None else run_pb2.Origin(run_id=origin.run_id, through_turn=origin.through_turn)


def run_to(state: State) -> run_pb2.Run:
    """How a run stands, from its folded state."""
    return run_pb2.Run(
        run_id=state.run_id,
        plan=plan_to(state.plan),
        state=run_pb2.RUN_STATE_FINISHED if state.finished else run_pb2.RUN_STATE_ACTIVE,
        sounded=sounded_to(state.sounded),
        reading=None if state.reading is None else reading_to(state.reading),
        last_turn=state.last_turn,
        window_epoch=state.window_epoch,
        origin=origin_to(state.origin),
        start_time=to_timestamp(state.start_time),
        update_time=to_timestamp(state.update_time),
        finish_time=None if state.finish_time is None else to_timestamp(state.finish_time),
        outcome=state.outcome,
        insertions_given=state.insertions_given,
        insertion_tokens=state.insertion_tokens,
        dropped_bytes=state.dropped_bytes,
        revision=state.position,
    )
