"""An exchange against its budget: the share, the trigger, the outcomes."""

from hypothesis import given
from hypothesis import strategies as st

from tests.core.exchange.texts import LIMITS, TEXTS
from ullage_server.core.exchange.classes import ContentClass
from ullage_server.core.exchange.compact import SourceText, compact
from ullage_server.core.exchange.plan import Outcome
from ullage_server.core.settings import KEYS

exchanges = st.lists(st.tuples(TEXTS, st.booleans()), max_size=8).map(
    lambda drawn: [SourceText(False, number, 0, text, bound) for number, (text, bound) in enumerate(drawn)]
)


@given(exchanges, LIMITS)
def test_an_exchange_adds_up_and_is_the_same_in_any_order(sources: list[SourceText], budget: int) -> None:
    done = compact(sources, budget, 1)
    assert done.source_bytes == sum(len(source.text) for source in sources)
    assert done.result_bytes == sum(verdict.result_bytes for verdict in done.verdicts)
    assert done.over_budget == (done.result_bytes > budget)
    backwards = compact(sources[::-1], budget, 1)
    assert done.verdicts == backwards.verdicts[::-1]
    for number, verdict in enumerate(done.verdicts):
        assert (verdict.outcome is Outcome.CUT) == (number in done.cuts)
        assert verdict.dropped_bytes == 0 or verdict.outcome is Outcome.CUT
        assert not (sources[number].bound and verdict.outcome in (Outcome.CUT, Outcome.MUST_OFFLOAD))
    if done.source_bytes <= budget:
        assert all(verdict.content is None and verdict.outcome is Outcome.KEPT for verdict in done.verdicts)


@given(exchanges, LIMITS)
def test_a_second_pass_changes_nothing_that_fits(sources: list[SourceText], budget: int) -> None:
    first = compact(sources, budget, 1)
    again = [source._replace(text=first.cuts.get(n, source.text)) for n, source in enumerate(sources)]
    second = compact(again, budget, 1)
    for number, source in enumerate(again):
        if len(source.text) <= budget // len(again):
            assert number not in second.cuts


PROSE = b"The harbour keeps its lamps lit until the last boat is tied. " * 40
JSON = b'{"a": [' + b"1, " * 800 + b"1]}"


def test_a_text_that_a_thinking_block_is_bound_to_is_left_whole() -> None:
    sources = [SourceText(False, 0, 0, PROSE, bound=True), SourceText(False, 2, 0, PROSE)]
    done = compact(sources, 1000, 1)
    assert [verdict.outcome for verdict in done.verdicts] == [Outcome.BOUND, Outcome.CUT]
    assert [verdict.content for verdict in done.verdicts] == [ContentClass.PROSE] * 2


def test_data_is_offloaded_and_bound_data_is_bound() -> None:
    sources = [SourceText(False, 0, 0, JSON, bound=True), SourceText(True, 0, 0, JSON)]
    done = compact(sources, 1000, 1)
    assert [verdict.outcome for verdict in done.verdicts] == [Outcome.BOUND, Outcome.MUST_OFFLOAD]
    assert done.over_budget


def test_the_usual_budget_is_eight_thousand_tokens_of_four_bytes() -> None:
    budget = KEYS["exchange.budget_bytes"].default
    assert budget == 8192 * 4
