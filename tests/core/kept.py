"""Whatever the ledger may keep, as hypothesis draws it."""

from hypothesis import strategies as st

from ullage_server.core.domain import MAX_INT32, MAX_TOKENS
from ullage_server.core.exchange.classes import ContentClass
from ullage_server.core.exchange.plan import Outcome
from ullage_server.core.exchange.verdict import TextVerdict
from ullage_server.core.gauge import Reading, Sounded
from ullage_server.core.insertion import Insertion, InsertionKind, Lifetime, Placement
from ullage_server.core.plan import MAX_TIME_BUDGET, Plan, Settled, Stated
from ullage_server.core.records import (
    CallPrepared,
    ExchangeCompacted,
    Record,
    RunFinished,
    RunForked,
    RunStarted,
    UsageObserved,
    WindowReset,
)
from ullage_server.core.settings import Rearm, Settings
from ullage_server.core.state import Memory, Origin, State, Undo
from ullage_server.core.usage import CountedUsage

# What core may hold in each place.
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
names = st.text("abcXYZ019._:-", min_size=1, max_size=128)
name_or_none = st.just("") | names
tokens = st.integers(0, MAX_TOKENS) | st.sampled_from([0, 1, MAX_TOKENS])
counts = st.integers(0, MAX_INT32)
turns = st.integers(1, MAX_INT32)
moments = st.integers(0, 2**63 - 1)  # nanoseconds, to the year 2262
budgets = st.none() | st.integers(1, MAX_TIME_BUDGET)
labels = st.dictionaries(words, words, max_size=16)
settings = st.builds(
    Settings,
    second_threshold=st.integers(31, 90),
    context_rearm=st.sampled_from(Rearm),
    context_finishing_act=names,
    exchange_budget_bytes=tokens,
    notices_every_steps=counts,
    notices_include_subagents=st.booleans(),
    reminders_budget_chars=counts,
    clock_zone=names,
)
plans = st.builds(
    Plan,
    address=words,
    agent=name_or_none,
    session_id=names,
    parent_session_id=name_or_none,
    subagent=st.booleans(),
    model=words,
    context_tokens=tokens,
    time_budget=budgets,
    exchange_rules=turns,
    labels=labels,
    settings=settings,
)
# A 0 and a false are statements; an empty text is none.
stated_settings = st.fixed_dictionaries(
    {},
    optional={
        "context.second_threshold": st.integers(31, 90),
        "context.rearm": st.sampled_from(Rearm),
        "context.finishing_act": names,
        "exchange.budget_bytes": tokens,
        "notices.every_steps": counts,
        "notices.include_subagents": st.booleans(),
        "reminders.budget_chars": counts,
        "clock.zone": names,
    },
)
stated_plans = st.builds(
    Stated,
    address=words,
    agent=name_or_none,
    session_id=name_or_none,
    parent_session_id=name_or_none,
    subagent=st.booleans(),
    model=words,
    context_tokens=tokens,
    time_budget=budgets,
    labels=labels,
    settings=stated_settings,
)
settled = st.lists(st.builds(Settled, key=words, value=words, source=words), max_size=9).map(tuple)
readings = st.builds(
    Reading,
    turn=turns,
    used_tokens=st.integers(1, MAX_TOKENS),
    context_tokens=tokens,
    projected_tokens=st.none() | tokens,
    counted_as=words,
    stale=st.booleans(),
)
insertions = st.builds(
    Insertion,
    id=words,
    keys=st.lists(words, max_size=3).map(tuple),
    kind=st.sampled_from(InsertionKind),
    placement=st.sampled_from(Placement),
    lifetime=st.sampled_from(Lifetime),
    text=words,
    estimated_tokens=counts,
)
usages = st.builds(
    CountedUsage,
    prompt_tokens=st.integers(1, MAX_TOKENS),
    output_tokens=st.none() | tokens,
    counted_as=words,
)
origins = st.builds(Origin, run_id=names, through_turn=counts)
ids = st.lists(words, max_size=3).map(tuple)
memories = st.builds(
    Memory,
    prepared_turn=counts,
    given_ids=ids,
    notice_prompt=st.integers(-1, MAX_INT32),
    notice_text=words,
    time_told=st.tuples(counts, counts, counts, counts),
    session_in_window=st.booleans(),
    said=ids,
    waiting=ids,
    undo=st.none()
    | st.builds(
        Undo,
        last_reset_turn=counts,
        sounded=st.sampled_from(Sounded),
        stale=st.booleans(),
        session_in_window=st.booleans(),
    ),
)
states = st.builds(
    State,
    run_id=names,
    plan=plans,
    position=turns,
    start_time=moments,
    update_time=moments,
    finish_time=st.none() | moments,
    outcome=words,
    sounded=st.sampled_from(Sounded),
    reading=st.none() | readings,
    last_observed=counts,
    last_compacted=counts,
    last_reset_turn=counts,
    window_epoch=counts,
    origin=st.none() | origins,
    insertions_given=counts,
    insertion_tokens=tokens,
    dropped_bytes=tokens,
    named_window=st.none() | tokens,
    clock_start=moments,
    memory=memories,
)
digests = st.binary(min_size=32, max_size=32)
verdicts = st.builds(
    TextVerdict,
    in_results=st.booleans(),
    block=counts,
    part=counts,
    content=st.none() | st.sampled_from(ContentClass),
    outcome=st.sampled_from(Outcome),
    source_bytes=tokens,
    result_bytes=tokens,
    dropped_bytes=tokens,
)
records: st.SearchStrategy[Record] = st.one_of(
    st.builds(
        RunStarted,
        position=turns,
        at=moments,
        run_id=st.just("r"),
        stated=stated_plans,
        plan=plans,
        settled=settled,
    ),
    st.builds(
        UsageObserved,
        position=turns,
        at=moments,
        turn=turns,
        usage=st.none() | usages,
        window_reset=st.booleans(),
        opens_window=st.booleans(),
        model=words,
        context_tokens=st.none() | tokens,
        found_context_tokens=st.none() | tokens,
        reminder=st.none() | insertions,
        reading=st.none() | readings,
        sounded=st.sampled_from(Sounded),
    ),
    st.builds(
        RunForked,
        position=turns,
        at=moments,
        run_id=st.just("r"),
        origin=origins,
        stated=stated_plans,
        in_force=stated_plans,
        plan=plans,
        settled=settled,
        inherited=states,
    ),
    st.builds(
        ExchangeCompacted,
        position=turns,
        at=moments,
        turn=turns,
        source_digest=digests,
        result_digest=digests,
        source_bytes=tokens,
        result_bytes=tokens,
        over_budget=st.booleans(),
        verdicts=st.lists(verdicts, max_size=3).map(tuple),
    ),
    st.builds(
        CallPrepared,
        position=turns,
        at=moments,
        turn=turns,
        step=turns,
        insertions=st.lists(insertions, max_size=3).map(tuple),
        window_reset=st.booleans(),
        model=words,
        context_tokens=st.none() | tokens,
        found_context_tokens=st.none() | tokens,
        unplaced_ids=ids,
        time_remaining=st.none() | moments,
    ),
    st.builds(WindowReset, position=turns, at=moments, turn=turns, taken_back=st.booleans()),
    st.builds(RunFinished, position=turns, at=moments, outcome=words),
)
