"""Whatever the text and the limit: what a cut leaves is text, no longer, and adds up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.exchange.texts import LIMITS, TEXTS, check_accounting, widest
from ullage_server.core.exchange.classes import Keep
from ullage_server.core.exchange.cut import cut, marker


@given(TEXTS.filter(lambda text: b"[truncated" not in text), LIMITS, st.sampled_from(Keep))
def test_a_cut_is_text_shorter_than_its_source_and_adds_up(text: bytes, limit: int, keep: Keep) -> None:
    if len(text) <= limit:
        return
    left = cut(text, limit, keep)
    assert left == cut(text, limit, keep), "the same again is the same"
    if left is None:
        return
    left.text.decode()
    assert len(left.text) < len(text)
    check_accounting(text, left.text, left.dropped)
    if limit >= widest(text):
        assert len(left.text) <= limit, "a cut text fits its share whenever the share holds a marker"


@given(TEXTS, LIMITS, st.sampled_from(Keep))
def test_what_was_cut_to_a_limit_needs_no_second_cut(text: bytes, limit: int, keep: Keep) -> None:
    left = cut(text, limit, keep) if len(text) > limit else None
    if left is not None and limit >= widest(text):
        assert len(left.text) <= limit


LINES = b"".join(b"line %d of a text\n" % number for number in range(100))


@pytest.mark.parametrize(("keep", "head", "tail"), [(Keep.HEAD, 1, 0), (Keep.TAIL, 0, 1), (Keep.ENDS, 1, 1)])
def test_each_kind_keeps_what_it_is_named_for(keep: Keep, head: int, tail: int) -> None:
    left = cut(LINES, 400, keep)
    assert left is not None
    assert 396 <= len(left.text) <= 400, "nothing of the share is wasted"
    assert left.text.startswith(b"line 0 of") == bool(head)
    assert left.text.endswith(b"line 99 of a text\n") == bool(tail)


def test_a_share_of_a_marker_alone_leaves_the_marker_alone() -> None:
    for keep in Keep:
        for limit in (0, 1, widest(LINES)):
            left = cut(LINES, limit, keep)
            assert left is not None
            assert left.text == marker(len(LINES))
