"""A ledger's records as ReadLedger shows them."""

from ullage.v1 import ledger_pb2, run_pb2

from ..core.records import (
    CallPrepared,
    ExchangeCompacted,
    Record,
    RunForked,
    RunStarted,
    UsageObserved,
    WindowReset,
)
from ..core.state import State
from .exchange import verdicts_to
from .gauge import insertion_to, reading_to, sounded_to
from .plan import plan_to, settled_to, stated_to
from .run import origin_to
from .times import to_duration, to_timestamp


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
    elif isinstance(record, RunForked):
        message.run_forked.CopyFrom(
            ledger_pb2.RunForked(
                stated=stated_to(record.stated),
                plan=plan_to(record.plan),
                settled=settled_to(record.settled),
                origin=origin_to(record.origin),
                inherited=_folded_to(record.inherited),
            )
        )
    elif isinstance(record, ExchangeCompacted):
        message.exchange_compacted.CopyFrom(
            ledger_pb2.ExchangeCompacted(
                turn=record.turn,
                source_digest=record.source_digest,
                result_digest=record.result_digest,
                source_bytes=record.source_bytes,
                result_bytes=record.result_bytes,
                over_budget=record.over_budget,
                verdicts=verdicts_to(record.verdicts),
            )
        )
    elif isinstance(record, CallPrepared):
        message.call_prepared.CopyFrom(_prepared_to(record))
    elif isinstance(record, WindowReset):
        message.window_reset.CopyFrom(ledger_pb2.WindowReset(turn=record.turn, taken_back=record.taken_back))
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


def _prepared_to(record: CallPrepared) -> ledger_pb2.CallPrepared:
    left = record.time_remaining
    return ledger_pb2.CallPrepared(
        turn=record.turn,
        step=record.step,
        insertions=[insertion_to(insertion) for insertion in record.insertions],
        window_reset=record.window_reset,
        model=record.model,
        context_tokens=record.context_tokens,
        found_context_tokens=record.found_context_tokens,
        unplaced_ids=record.unplaced_ids,
        time_remaining=None if left is None else to_duration(left),
    )


def _folded_to(state: State) -> ledger_pb2.FoldedRun:
    return ledger_pb2.FoldedRun(
        state=run_pb2.RUN_STATE_FINISHED if state.finished else run_pb2.RUN_STATE_ACTIVE,
        sounded=sounded_to(state.sounded),
        reading=None if state.reading is None else reading_to(state.reading),
        context_tokens=state.context_tokens,
        last_observed_turn=state.last_observed,
        last_compacted_turn=state.last_compacted,
        window_epoch=state.window_epoch,
        origin=origin_to(state.origin),
        start_time=to_timestamp(state.start_time),
        update_time=to_timestamp(state.update_time),
        finish_time=None if state.finish_time is None else to_timestamp(state.finish_time),
        outcome=state.outcome,
        insertions_given=state.insertions_given,
        insertion_tokens=state.insertion_tokens,
        dropped_bytes=state.dropped_bytes,
        last_reset_turn=state.last_reset_turn,
    )
