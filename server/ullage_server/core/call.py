"""A model call that is about to be made, as the harness tells of it.

Rule (rules.md 3): a call is one step of its prompt, and may be prepared until its turn is observed.
"""

from msgspec import Struct

from .domain import MAX_INT32, check_tokens, check_turn
from .errors import Reason, Refusal, invalid
from .names import check_model
from .plan import MAX_TIME_BUDGET
from .registry import Candidate, check_candidates
from .run import subject
from .state import State
from .tail import Tail

#: How many insertions one call may name as not placed.
MAX_UNPLACED = 1000


class Call(Struct, frozen=True):
    """What a caller says of a call: times in nanoseconds, None where it does not say.

    `step` counts the calls of one prompt, which all have the same `prompt`; `now` is the time to tell the agent;
    `model` and `context_tokens` are the coming call's, empty and None where they are the run's.
    """

    turn: int
    step: int
    tail: Tail
    candidates: tuple[Candidate, ...]
    time_remaining: int | None
    session_id_in_context: bool | None
    window_reset: bool
    unplaced_ids: tuple[str, ...]
    now: int | None
    model: str
    context_tokens: int | None

    @property
    def prompt(self) -> int:
        """What all calls of one prompt have in common: the turn before its first one."""
        return self.turn - self.step


def check_call(call: Call) -> Call:
    """`call`; refused, with the field at fault, where a part of it is outside its domain."""
    check_turn("turn", call.turn)
    if not 1 <= call.step <= call.turn:
        raise invalid(
            "step",
            f"step is {call.step}; the steps of a prompt count from 1, and none is above its turn, {call.turn}",
        )
    if call.time_remaining is not None and not 0 <= call.time_remaining <= MAX_TIME_BUDGET:
        raise invalid(
            "time_remaining",
            f"time_remaining is not from 0 to {MAX_TIME_BUDGET // 10**9} s; it is what is left of the budget",
        )
    if len(call.unplaced_ids) > MAX_UNPLACED:
        raise invalid(
            "unplaced_ids", f"unplaced_ids holds {len(call.unplaced_ids)} ids; a call names at most {MAX_UNPLACED}"
        )
    check_candidates(call.candidates)
    check_model("model", call.model)
    if call.context_tokens is not None:
        check_tokens("context_tokens", call.context_tokens)
    return call


def check_order(run: State, turn: int) -> None:
    """Refused with TURN_OUT_OF_ORDER where `turn` is observed, or below the newest turn with a record."""
    newest = max(run.last_compacted, run.memory.prepared_turn)
    if turn > run.last_observed and turn >= newest:
        return
    last = max(run.last_observed, newest)
    said = "observed" if turn <= run.last_observed else f"below turn {last}, the newest with a record"
    raise Refusal(
        Reason.TURN_OUT_OF_ORDER,
        f"turn {turn} of run {run.run_id} is {said}: it is past, and its call is prepared no more; the last turn "
        f"is {last}",
        subject=f"{subject(run.run_id)}, turn {turn}",
        recovery=f"prepare turn {min(max(run.last_observed + 1, newest), MAX_INT32)} or a later one",
        field="turn",
    )
