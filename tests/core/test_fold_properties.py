"""Any sequence of reports, replays and restarts gives what the plain rule gives."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from tests.core.runs import report, started, stated
from ullage_server.core.fold import fold
from ullage_server.core.observe import Report, observe
from ullage_server.core.plan import freeze
from ullage_server.core.records import Record, UsageObserved
from ullage_server.core.run import start
from ullage_server.core.settings import Rearm
from ullage_server.core.state import State
from ullage_server.store.codec import decode_record, decode_state, encode_plan, encode_record, encode_state

turns = st.builds(
    report,
    turn=st.just(0),
    used=st.none() | st.integers(1, 1200),
    output=st.none() | st.integers(0, 50),
    reset=st.booleans(),
    window=st.none() | st.sampled_from([0, 1, 500, 1000, 2000]),
)
steps = st.tuples(turns, st.integers(1, 3), st.sampled_from(["report", "replay", "restart", "reload"]))


@dataclass
class PlainRule:
    """The gauge as a person would keep it on paper: no records, no replays, no fold."""

    second: int
    per_window: bool
    window: int
    sounded: int = 0
    epoch: int = 0
    said: list[str] = field(default_factory=list)

    def turn(self, number: int, one: Report) -> None:
        if one.window_reset:
            self.epoch += 1
            if self.per_window:
                self.sounded = 0
        if one.context_tokens is not None:
            self.window = one.context_tokens
        if one.usage is None or self.window == 0:
            return
        percent = one.usage.prompt_tokens * 100 // self.window
        if percent >= self.second and self.sounded < 2:
            self.sounded = 2
            self.said.append(f"{number}/context/handover")
        elif percent >= 30 and self.sounded < 1:
            self.sounded = 1
            self.said.append(f"{number}/context/first")


def through_the_bytes(records: list[Record]) -> State:
    state: State | None = None
    for record in records:
        stored = decode_record("r", encode_record(record))
        assert stored == record
        state = fold(state, stored)
    assert state is not None
    return state


@given(
    st.lists(steps, max_size=30),
    st.integers(31, 90),
    st.sampled_from(Rearm),
    st.sampled_from([0, 500, 1000]),
)
def test_the_fold_is_the_plain_rule(
    plays: list[tuple[Report, int, str]], second: int, rearm: Rearm, window: int
) -> None:
    what = stated(window=window, rearm=rearm, second=second)
    run = started(what)
    records: list[Record] = []
    rule = PlainRule(second, rearm is Rearm.PER_WINDOW, window)
    answers: dict[int, tuple[Report, UsageObserved]] = {}
    records.append(start("r", what, freeze("r", what, [], lambda model: None), at=1))
    for one, gap, how in plays:
        if how == "replay" and answers:
            number = sorted(answers)[gap % len(answers)]
            asked, answered = answers[number]
            assert observe(run, asked, answered, None, at=99) is answered
        elif how == "restart":
            assert through_the_bytes(records) == run
            run = through_the_bytes(records)
        elif how == "reload":
            stored = decode_state("r", encode_plan(run), encode_state(run))
            assert stored is not None
            assert stored == run
            run = stored
        else:
            number = run.last_observed + gap
            numbered = Report(number, one.usage, one.window_reset, one.model, one.context_tokens)
            record = observe(run, numbered, None, None, at=2)
            run = fold(run, record)
            records.append(record)
            answers[number] = numbered, record
            rule.turn(number, numbered)
    said = [r.reminder.id for r in records if isinstance(r, UsageObserved) and r.reminder]
    assert said == rule.said
    assert run.window_epoch == rule.epoch
    assert run.sounded.value - 1 == rule.sounded
    assert run.insertions_given == len(rule.said)
