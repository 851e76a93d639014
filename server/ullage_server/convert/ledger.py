"""The ledger's bytes: records, frozen plans and folded states as they are stored.

Rule (wire.md, LedgerRecord): a kind this server does not know stops the fold of that run with RECORD_UNKNOWN;
it is never skipped.
"""

from google.protobuf.message import DecodeError

from ullage.v1 import ledger_pb2, plan_pb2, run_pb2

from ..core.errors import Reason, Refusal
from ..core.fold import Origin, State
from ..core.gauge import Sounded
from ..core.records import Record, RunFinished, RunStarted, UsageObserved
from ..core.run import subject
from ..core.usage import CountedUsage
from .gauge import insertion_from, insertion_to, reading_from, reading_to, sounded_to
from .plan import plan_from, plan_to, settled_from, settled_to, stated_from, stated_to
from .times import from_timestamp, to_timestamp

RUN_STARTED = "run_started"
USAGE_OBSERVED = "usage_observed"
RUN_FINISHED = "run_finished"

#: What each kind of record is called in the store: the name of its field in LedgerRecord.
KINDS: dict[type[object], str] = {
    RunStarted: RUN_STARTED,
    UsageObserved: USAGE_OBSERVED,
    RunFinished: RUN_FINISHED,
}


def turn_of(record: Record) -> int:
    """The turn `record` belongs to; 0 for none."""
    return record.turn if isinstance(record, UsageObserved) else 0


def encode_record(record: Record) -> bytes:
    """`record` as bytes."""
    message = ledger_pb2.LedgerRecord(position=record.position, at=to_timestamp(record.at))
    if isinstance(record, UsageObserved):
        message.usage_observed.CopyFrom(_observed_to(record))
    elif isinstance(record, RunStarted):
        message.run_started.CopyFrom(
            ledger_pb2.RunStarted(
                stated=stated_to(record.stated), plan=plan_to(record.plan), settled=settled_to(record.settled)
            )
        )
    else:
        message.run_finished.CopyFrom(ledger_pb2.RunFinished(outcome=record.outcome))
    return message.SerializeToString()


def decode_record(run_id: str, payload: bytes) -> Record:
    """The record of the run `run_id` that was stored as `payload`."""
    try:
        message = ledger_pb2.LedgerRecord.FromString(payload)
    except DecodeError:
        raise _unknown(run_id) from None
    position, at = message.position, from_timestamp(message.at)
    kind = message.WhichOneof("happened")
    if kind == USAGE_OBSERVED:
        return _observed_from(position, at, message.usage_observed)
    if kind == RUN_STARTED:
        started = message.run_started
        return RunStarted(
            position,
            at,
            run_id,
            stated_from(started.stated),
            plan_from(started.plan),
            settled_from(started.settled),
        )
    if kind == RUN_FINISHED:
        return RunFinished(position, at, message.run_finished.outcome)
    raise _unknown(run_id)


def encode_plan(state: State) -> bytes:
    """The frozen plan of `state` as bytes."""
    return plan_to(state.plan).SerializeToString()


def encode_state(state: State) -> bytes:
    """`state` as bytes, without the run's id and plan, which stand beside it."""
    message = ledger_pb2.FoldedRun(
        state=run_pb2.RUN_STATE_FINISHED if state.finished else run_pb2.RUN_STATE_ACTIVE,
        sounded=sounded_to(state.sounded),
        reading=None if state.reading is None else reading_to(state.reading),
        context_tokens=state.context_tokens,
        last_observed_turn=state.last_observed,
        last_compacted_turn=state.last_compacted,
        last_reset_turn=state.last_reset_turn,
        window_epoch=state.window_epoch,
        start_time=to_timestamp(state.start_time),
        update_time=to_timestamp(state.update_time),
        finish_time=None if state.finish_time is None else to_timestamp(state.finish_time),
        outcome=state.outcome,
        origin=None
        if state.origin is None
        else run_pb2.Origin(run_id=state.origin.run_id, through_turn=state.origin.through_turn),
        insertions_given=state.insertions_given,
        insertion_tokens=state.insertion_tokens,
        dropped_bytes=state.dropped_bytes,
    )
    return message.SerializeToString()


def decode_state(run_id: str, plan: bytes, position: int, state: bytes) -> State:
    """The state of the run `run_id` after `position` records, as `encode_plan` and `encode_state` wrote it."""
    message = ledger_pb2.FoldedRun.FromString(state)
    return State(
        run_id=run_id,
        plan=plan_from(plan_pb2.RunPlan.FromString(plan)),
        position=position,
        start_time=from_timestamp(message.start_time),
        update_time=from_timestamp(message.update_time),
        context_tokens=message.context_tokens,
        finish_time=from_timestamp(message.finish_time) if message.HasField("finish_time") else None,
        outcome=message.outcome,
        sounded=Sounded(message.sounded),
        reading=reading_from(message.reading) if message.HasField("reading") else None,
        last_observed=message.last_observed_turn,
        last_compacted=message.last_compacted_turn,
        last_reset_turn=message.last_reset_turn,
        window_epoch=message.window_epoch,
        origin=Origin(message.origin.run_id, message.origin.through_turn) if message.HasField("origin") else None,
        insertions_given=message.insertions_given,
        insertion_tokens=message.insertion_tokens,
        dropped_bytes=message.dropped_bytes,
    )


def _observed_to(record: UsageObserved) -> ledger_pb2.UsageObserved:
    usage = record.usage
    return ledger_pb2.UsageObserved(
        turn=record.turn,
        usage=None
        if usage is None
        else ledger_pb2.CountedUsage(
            prompt_tokens=usage.prompt_tokens, output_tokens=usage.output_tokens, counted_as=usage.counted_as
        ),
        window_reset=record.window_reset,
        opens_window=record.opens_window,
        model=record.model,
        context_tokens=record.context_tokens,
        found_context_tokens=record.found_context_tokens,
        reminder=None if record.reminder is None else insertion_to(record.reminder),
        reading=None if record.reading is None else reading_to(record.reading),
        sounded=sounded_to(record.sounded),
    )


def _observed_from(position: int, at: int, message: ledger_pb2.UsageObserved) -> UsageObserved:
    usage = None
    if message.HasField("usage"):
        counted = message.usage
        usage = CountedUsage(
            counted.prompt_tokens,
            counted.output_tokens if counted.HasField("output_tokens") else None,
            counted.counted_as,
        )
    return UsageObserved(
        position=position,
        at=at,
        turn=message.turn,
        usage=usage,
        window_reset=message.window_reset,
        opens_window=message.opens_window,
        model=message.model,
        context_tokens=message.context_tokens if message.HasField("context_tokens") else None,
        found_context_tokens=message.found_context_tokens if message.HasField("found_context_tokens") else None,
        reminder=insertion_from(message.reminder) if message.HasField("reminder") else None,
        reading=reading_from(message.reading) if message.HasField("reading") else None,
        sounded=Sounded(message.sounded),
    )


def _unknown(run_id: str) -> Refusal:
    return Refusal(
        Reason.RECORD_UNKNOWN,
        f"the ledger of run {run_id} holds a record that this server does not know",
        subject=subject(run_id),
        recovery="ask a server of the version that wrote it, or upgrade this one",
    )
