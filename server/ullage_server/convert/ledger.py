"""A ledger's records as ReadLedger shows them."""

from ullage.v1 import ledger_pb2

from ..core.records import Record, RunStarted, UsageObserved
from .gauge import insertion_to, reading_to, sounded_to
from .plan import plan_to, settled_to, stated_to
from .times import to_timestamp


def record_to(record: Record) -> ledger_pb2.LedgerRecord:
    """`record` as the wire shows it."""
    message = ledger_pb2.LedgerRecord(position=record.position, at=to_timestamp(record.at))
    if isinstance(record, RunStarted):
        message.run_started.CopyFrom(
            ledger_pb2.RunStarted(
                stated=stated_to(record.stated), plan=plan_to(record.plan), settled=settled_to(record.settled)
            )
        )
    elif isinstance(record, UsageObserved):
        message.usage_observed.CopyFrom(_observed_to(record))
    else:
        message.run_finished.CopyFrom(ledger_pb2.RunFinished(outcome=record.outcome))
    return message


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
