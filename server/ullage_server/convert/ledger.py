"""A ledger's records as they are stored: LedgerRecord messages, which ReadLedger shows too.

Rule (wire.md, LedgerRecord): a kind this server does not know stops the fold of that run with RECORD_UNKNOWN;
it is never skipped.
"""

from google.protobuf.message import DecodeError

from ullage.v1 import ledger_pb2

from ..core.errors import Reason, Refusal
from ..core.gauge import Sounded
from ..core.records import Record, RunFinished, RunStarted, UsageObserved
from ..core.run import subject
from ..core.usage import CountedUsage
from .gauge import insertion_from, insertion_to, reading_from, reading_to, sounded_to
from .plan import plan_from, plan_to, settled_from, settled_to, stated_from, stated_to
from .times import from_timestamp, put_timestamp

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
    message = ledger_pb2.LedgerRecord(position=record.position)
    put_timestamp(message.at, record.at)
    if isinstance(record, UsageObserved):
        _put_observed(message.usage_observed, record)
    elif isinstance(record, RunStarted):
        message.run_started.stated.CopyFrom(stated_to(record.stated))
        message.run_started.plan.CopyFrom(plan_to(record.plan))
        message.run_started.settled.extend(settled_to(record.settled))
    else:
        message.run_finished.SetInParent()
        message.run_finished.outcome = record.outcome
    return message.SerializeToString()


def decode_record(run_id: str, payload: bytes) -> Record:
    """The record of the run `run_id` that was stored as `payload`."""
    try:
        return _decoded(run_id, ledger_pb2.LedgerRecord.FromString(payload))
    except (DecodeError, KeyError, ValueError):
        raise _unknown(run_id) from None


def _decoded(run_id: str, message: ledger_pb2.LedgerRecord) -> Record:
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
    raise ValueError("a kind of record of another time")


def _put_observed(message: ledger_pb2.UsageObserved, record: UsageObserved) -> None:
    message.turn = record.turn
    if record.usage is not None:
        message.usage.prompt_tokens = record.usage.prompt_tokens
        message.usage.counted_as = record.usage.counted_as
        if record.usage.output_tokens is not None:
            message.usage.output_tokens = record.usage.output_tokens
    message.window_reset = record.window_reset
    message.opens_window = record.opens_window
    message.model = record.model
    if record.context_tokens is not None:
        message.context_tokens = record.context_tokens
    if record.found_context_tokens is not None:
        message.found_context_tokens = record.found_context_tokens
    if record.reminder is not None:
        message.reminder.CopyFrom(insertion_to(record.reminder))
    if record.reading is not None:
        message.reading.CopyFrom(reading_to(record.reading))
    message.sounded = sounded_to(record.sounded)


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
