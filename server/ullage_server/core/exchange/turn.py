"""CompactExchange: a turn's exchange, once a turn.

Rule (rules.md 3 and 8): the same exchange again gets its recorded answer, another one for the same turn is
refused; any turn not below the last compacted one is taken, and none need have been observed. Sameness is judged
on the digest of what was sent.
"""

from ..errors import Reason, Refusal
from ..records import ExchangeCompacted
from ..run import check_going, subject
from ..state import State
from .compact import RULES, Compacted


def check_rules(run: State) -> None:
    """Refused with RECORD_UNKNOWN where `run` has a version of the rules that this server does not know."""
    if run.plan.exchange_rules not in RULES:
        raise Refusal(
            Reason.RECORD_UNKNOWN,
            f"run {run.run_id} has version {run.plan.exchange_rules} of the exchange rules, which this server "
            "does not know",
            subject=subject(run.run_id),
            recovery="ask a server of the version that started it, or upgrade this one",
        )


def compact_turn(
    run: State,
    turn: int,
    digests: tuple[bytes, bytes],
    compacted: Compacted,
    recorded: ExchangeCompacted | None,
    at: int,
) -> ExchangeCompacted:
    """The record that answers the exchange of `turn`: `recorded`, the one of the same turn, or else a new one.

    `digests` are the exchange's, as it was sent and as it came out.
    """
    source_digest, result_digest = digests
    if recorded is not None:
        if recorded.source_digest != source_digest:
            raise Refusal(
                Reason.EXCHANGE_ALREADY_COMPACTED,
                f"turn {turn} of run {run.run_id} was compacted with another exchange",
                subject=f"{subject(run.run_id)}, turn {turn}",
                recovery="do not retry: an exchange is compacted once its turn is over; send the next turn's",
                field="exchange",
            )
        return recorded
    check_going(run)
    if turn <= run.last_compacted:
        raise Refusal(
            Reason.TURN_OUT_OF_ORDER,
            f"turn {turn} of run {run.run_id} was never compacted and lies below the last one compacted, "
            f"{run.last_compacted}",
            subject=f"{subject(run.run_id)}, turn {turn}",
            recovery=f"compact turns upwards from {run.last_compacted + 1}",
            field="turn",
        )
    return ExchangeCompacted(
        position=run.position + 1,
        at=at,
        turn=turn,
        source_digest=source_digest,
        result_digest=result_digest,
        source_bytes=compacted.source_bytes,
        result_bytes=compacted.result_bytes,
        over_budget=compacted.over_budget,
        verdicts=compacted.verdicts,
    )
