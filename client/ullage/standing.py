"""How a run stands, and what a building settles, as values to read: frozen and typed.

Rule: as in `answers`: None is what is not there, and the names are the wire's. Moments are aware datetimes in UTC,
and how long something may take is a timedelta.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp

from .answers import Reading, Sounded, enum_word, reading_of, sounded_of
from .v1 import building_pb2, plan_pb2, run_pb2


@dataclass(frozen=True, slots=True)
class Plan:
    """A run's plan, as it was frozen at the run's start. It never changes.

    Attributes:
        address: the rung the run lives on: "" (the city), "building" or "building/resident".
        agent: the agent's name in the session context; empty: that is off.
        session_id: the session the run belongs to.
        parent_session_id: the session it branched from; empty: it is a root.
        subagent: whether it is a helper's run.
        model: the model's name; empty where nobody named it.
        context_tokens: the window's width in tokens; 0: it is unknown, so there is no percent and nothing sounds.
        second_threshold: the percent at which the handover sounds, 31 to 90.
        context_rearm: "per_run" or "per_window".
        context_finishing_act: the word by which the agent ends its work.
        notices_every_steps: steps from one notice to the next; 0: none.
        notices_include_subagents: whether helpers' runs get notices.
        time_budget: the time the whole run may take; None: there is no budget.
        exchange_budget_bytes: the bytes of text one exchange may hold before it is cut.
        exchange_rules: the version of the rules that classify and cut texts, from 1.
        reminders_budget_chars: the characters the transient registered reminders of one call may hold together.
        clock_zone: the IANA time zone of dates told to the agent.
        labels: the caller's own words for the run.

    """

    address: str
    agent: str
    session_id: str
    parent_session_id: str
    subagent: bool
    model: str
    context_tokens: int
    second_threshold: int
    context_rearm: str
    context_finishing_act: str
    notices_every_steps: int
    notices_include_subagents: bool
    time_budget: timedelta | None
    exchange_budget_bytes: int
    exchange_rules: int
    reminders_budget_chars: int
    clock_zone: str
    labels: dict[str, str]


@dataclass(frozen=True, slots=True)
class Settled:
    """One key of the ladder, with the value that holds and where it came from.

    Attributes:
        key: as `context.second_threshold`, `models.NAME`, or `context_tokens` for the window.
        value: a number in decimals, `true` or `false`, a word or a name.
        source: `run` (stated at the start), `fork` (inherited by a branch), an address, `city`, `catalogue` or
            `default`.

    """

    key: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a branch left its mother: the run that was forked, and the last turn they have in common (0: none)."""

    run_id: str
    through_turn: int


@dataclass(frozen=True, slots=True)
class RunStatus:
    """How a run stands.

    Attributes:
        run_id: the run's id.
        plan: what was frozen at its start.
        state: "active" or "finished".
        sounded: the highest threshold that has sounded.
        reading: how full the window was at the last report with usage; None while nothing has been read.
        last_turn: the greatest turn that was observed or compacted; 0 where none was.
        window_epoch: the window resets so far.
        origin: where it left its mother; None in a run that is no branch.
        start_time: when it was started or forked.
        update_time: when its last record was written.
        finish_time: when it was finished; None while it goes on.
        outcome: the caller's word for how it ended; empty while it goes on, or where none was said.
        insertions_given: the insertions given so far, each counted once.
        insertion_tokens: their estimated tokens together.
        dropped_bytes: the bytes taken out of its exchanges so far.
        revision: the length of its ledger, from 1.

    """

    run_id: str
    plan: Plan
    state: str
    sounded: Sounded
    reading: Reading | None
    last_turn: int
    window_epoch: int
    origin: Origin | None
    start_time: datetime
    update_time: datetime
    finish_time: datetime | None
    outcome: str
    insertions_given: int
    insertion_tokens: int
    dropped_bytes: int
    revision: int


@dataclass(frozen=True, slots=True)
class Building:
    """One rung of the ladder.

    Attributes:
        address: the rung: "" (the city), "building" or "building/resident".
        stated: what this very rung states.
        settled: what a run started here now would freeze, of every key. Empty in a list where the document of
            this rung, or of one above, does not parse.
        etag: names the rung's content; a command that carries it writes only where it still fits.
        update_time: when the document was last changed; None where there is none.

    """

    address: str
    stated: tuple[Settled, ...]
    settled: tuple[Settled, ...]
    etag: str
    update_time: datetime | None


def status_of(run: run_pb2.Run) -> RunStatus:
    """A run of the wire."""
    return RunStatus(
        run_id=run.run_id,
        plan=plan_of(run.plan),
        state=enum_word(run_pb2.RunState.DESCRIPTOR, run.state),
        sounded=sounded_of(run.sounded),
        reading=reading_of(run.reading) if run.HasField("reading") else None,
        last_turn=run.last_turn,
        window_epoch=run.window_epoch,
        origin=Origin(run.origin.run_id, run.origin.through_turn) if run.HasField("origin") else None,
        start_time=_moment(run.start_time),
        update_time=_moment(run.update_time),
        finish_time=_moment(run.finish_time) if run.HasField("finish_time") else None,
        outcome=run.outcome,
        insertions_given=run.insertions_given,
        insertion_tokens=run.insertion_tokens,
        dropped_bytes=run.dropped_bytes,
        revision=run.revision,
    )


def plan_of(plan: plan_pb2.RunPlan) -> Plan:
    """A plan of the wire, as frozen."""
    return Plan(
        address=plan.address,
        agent=plan.agent,
        session_id=plan.session_id,
        parent_session_id=plan.parent_session_id,
        subagent=plan.subagent,
        model=plan.model,
        context_tokens=plan.context_tokens,
        second_threshold=plan.second_threshold,
        context_rearm=enum_word(plan_pb2.Rearm.DESCRIPTOR, plan.context_rearm),
        context_finishing_act=plan.context_finishing_act,
        notices_every_steps=plan.notices_every_steps,
        notices_include_subagents=plan.notices_include_subagents,
        time_budget=plan.time_budget.ToTimedelta() if plan.HasField("time_budget") else None,
        exchange_budget_bytes=plan.exchange_budget_bytes,
        exchange_rules=plan.exchange_rules,
        reminders_budget_chars=plan.reminders_budget_chars,
        clock_zone=plan.clock_zone,
        labels=dict(sorted(plan.labels.items())),
    )


def settled_of(settled: plan_pb2.Settled) -> Settled:
    """A key of the wire, settled."""
    return Settled(settled.key, settled.value, settled.source)


def building_of(building: building_pb2.Building) -> Building:
    """A building of the wire."""
    return Building(
        address=building.address,
        stated=tuple(map(settled_of, building.stated)),
        settled=tuple(map(settled_of, building.settled)),
        etag=building.etag,
        update_time=_moment(building.update_time) if building.HasField("update_time") else None,
    )


def _moment(time: Timestamp) -> datetime:
    return time.ToDatetime(UTC)
