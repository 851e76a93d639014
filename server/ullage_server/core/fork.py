"""ForkRun: a branch begins as its mother stood at the end of one of her turns.

Rule (rules.md 9): a branch inherits the fold of her records whose turn is at most `through_turn`, and goes on
counting from the next one. What she had stated counts as stated where the branch states nothing; the rest is
frozen anew from the ladder. Her exchange budget and its rules are inherited and can't be stated. A window that a
report named up to then is inherited; one that the branch states beats it. A turn past her last one is refused,
never clamped; one below her own origin is looked for up her line. The mother never changes.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from .domain import check_count
from .errors import Reason, Refusal, invalid
from .fold import fold
from .names import check_labels
from .plan import Catalogue, Frozen, Plan, Stated, find_window, layers, planned, settle, settled_window
from .records import Record, RunFinished, RunForked, RunStarted
from .run import subject
from .rung import Rung
from .settings import KEYS
from .state import Origin, State
from .time_budget import UNTOLD

_BUDGET = "exchange.budget_bytes"


def check_fork(stated: Stated, through_turn: int) -> int:
    """`through_turn`; refused where it is none, or where the branch states an exchange budget."""
    if _BUDGET in stated.settings:
        field = f"plan.{KEYS[_BUDGET].plan_field}"
        raise invalid(
            field,
            f"{field} is stated; a branch inherits the exchange budget, for the same history keeps its bytes",
            recovery=f"leave {field} out",
        )
    return check_count("through_turn", through_turn)


def same_fork(run_id: str, origin: Origin, stated: Stated, first: Record | None) -> RunForked:
    """`first`, the first record of the run `run_id`, where it answers this fork too; else refused."""
    if not isinstance(first, RunForked) or (first.origin, first.stated) != (origin, stated):
        raise Refusal(
            Reason.RUN_ALREADY_EXISTS,
            f"run {run_id} exists already and did not begin as this branch; a run's id is one in the whole city",
            subject=subject(run_id),
            recovery="choose another run_id, or send the fork that the run began with",
            field="run_id",
        )
    return first


def check_reached(mother: State, through_turn: int) -> None:
    """Refused with FORK_PAST_END where `mother` has not come to `through_turn`."""
    if through_turn > mother.last_turn:
        raise Refusal(
            Reason.FORK_PAST_END,
            f"run {mother.run_id} has come to turn {mother.last_turn}; there is no turn {through_turn} to fork at",
            subject=f"{subject(mother.run_id)}, turn {through_turn}",
            recovery=f"fork it through a turn from 0 to {mother.last_turn}",
            field="through_turn",
        )


def check_ancestor(ancestor: State | None, branch: State, through_turn: int) -> State:
    """`ancestor`, whom `branch` left above `through_turn`; refused with FORK_BEFORE_ORIGIN where it is gone."""
    if ancestor is None:
        earliest = branch.origin.through_turn if branch.origin else 0
        raise Refusal(
            Reason.FORK_BEFORE_ORIGIN,
            f"run {branch.run_id} is a branch that began at turn {earliest}, and the run it left is gone; turn "
            f"{earliest} is the earliest that is left to fork at",
            subject=f"{subject(branch.run_id)}, turn {through_turn}",
            recovery=f"fork through turn {earliest} or a later one",
            field="through_turn",
        )
    return ancestor


def stated_for(first: Record | None) -> Stated:
    """All that is stated for the run that the record `first` began: its own statements over its mothers'."""
    if isinstance(first, RunForked):
        return first.in_force
    if isinstance(first, RunStarted):
        return first.stated
    raise ValueError("a ledger opens with a start or a fork")


def in_force(own: Stated, mother: Stated, mother_plan: Plan) -> Stated:
    """What is stated for a branch: its `own` statements over all that is stated for its mother.

    A window that was stated for her model is none of another model's.
    """
    other_model = bool(own.model) and own.model != mother.model
    return Stated(
        address=own.address or mother.address,
        agent=own.agent or mother.agent,
        session_id=own.session_id or mother_plan.session_id,
        parent_session_id=own.parent_session_id or mother.parent_session_id,
        subagent=own.subagent or mother.subagent,
        model=own.model or mother.model,
        context_tokens=own.context_tokens or (0 if other_model else mother.context_tokens),
        time_budget=mother.time_budget if own.time_budget is None else own.time_budget,
        labels=check_labels("plan.labels", {**mother.labels, **own.labels}),
        settings={**mother.settings, **own.settings},
    )


def freeze_branch(
    run_id: str, own: Stated, stated: Stated, mother: Plan, rungs: Sequence[Rung], catalogue: Catalogue
) -> Frozen:
    """The plan of the branch `run_id`: what it states itself, what is `stated` for it in all, and its `rungs`."""
    inherited = {**stated.settings, _BUDGET: mother.settings.exchange_budget_bytes}
    values, settled = settle([("run", own.settings), ("fork", inherited), *layers(rungs)])
    if stated.context_tokens:
        window, source = stated.context_tokens, "run" if own.context_tokens else "fork"
    else:
        window, source = find_window(stated.model, rungs, catalogue) or (0, "default")
    plan = planned(run_id, stated, window, mother.exchange_rules, values)
    return Frozen(plan, (*settled, settled_window(window, source)))


def belongs(record: Record, through_turn: int) -> bool:
    """Whether a branch through `through_turn` inherits `record` of its mother."""
    if isinstance(record, RunStarted | RunForked):
        return True
    if isinstance(record, RunFinished):
        return False
    return record.turn <= through_turn


def inherit(state: State | None, records: Iterable[Record], through_turn: int) -> State | None:
    """`state` after those of the mother's next `records` that a branch through `through_turn` inherits."""
    for record in records:
        if belongs(record, through_turn):
            # What is left out leaves no gap.
            state = fold(state, replace(record, position=state.position + 1 if state else 1))
    return state


def fork(
    run_id: str, origin: Origin, own: Stated, stated: Stated, frozen: Frozen, mother: State, at: int
) -> RunForked:
    """The first record of the branch `run_id` of `mother`, who stands as she did at the turn it leaves her at."""
    named = mother.named_window
    if own.context_tokens or stated.model != mother.plan.model:
        named = None
    inherited = replace(
        mother, last_observed=origin.through_turn, last_compacted=origin.through_turn, named_window=named
    )
    if own.time_budget is not None:
        # A budget of its own runs from here, and is told from its first step on.
        inherited = replace(inherited, clock_start=at, memory=replace(inherited.memory, time_told=UNTOLD))
    return RunForked(1, at, run_id, origin, own, stated, frozen.plan, frozen.settled, inherited)
