"""What becomes of one text under its share."""

import pytest

from ullage_server.core.exchange.budget import fits, share
from ullage_server.core.exchange.classes import ContentClass
from ullage_server.core.exchange.cut import Cut
from ullage_server.core.exchange.plan import Decided, Outcome, decide

LOG = b"2026-03-14T09:26:53Z INFO pump: pressure 4.2 bar, valve open\n" * 20
JSON = b'{"rows": [' + b'{"id": 7, "name": "sluice"}, ' * 49 + b'{"id": 7, "name": "sluice"}]}'
BASE64 = b"q83vEjRWeJq83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8BI0Vnia\n" * 12


@pytest.mark.parametrize(
    ("size", "budget", "fit"),
    [
        (0, 0, True),
        (1, 0, False),
        (999, 1000, True),
        (1000, 1000, True),
        (1001, 1000, False),
        (1, 2**53 - 1, True),
    ],
)
def test_as_many_bytes_as_the_budget_fit_it(size: int, budget: int, fit: bool) -> None:
    assert fits(size, budget) is fit


@pytest.mark.parametrize(("budget", "texts", "each"), [(1000, 3, 333), (2, 3, 0), (0, 1, 0), (32768, 1, 32768)])
def test_the_share_is_even_and_rounded_down(budget: int, texts: int, each: int) -> None:
    assert share(budget, texts) == each


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("text", [LOG, JSON, BASE64])
def test_within_its_share_nothing_is_decided(text: bytes, bound: bool) -> None:
    assert decide(text, len(text), bound) == Decided(Outcome.KEPT)


def test_above_its_share_a_log_is_cut() -> None:
    kept = Cut(b"[truncated: 1143 bytes]" + LOG[-77:], 1143)
    assert decide(LOG, 100, False) == Decided(Outcome.CUT, ContentClass.LOG, kept)


@pytest.mark.parametrize("text", [JSON, BASE64])
@pytest.mark.parametrize("limit", [0, 20, 500])
def test_data_and_what_nobody_knows_must_be_offloaded(text: bytes, limit: int) -> None:
    decided = decide(text, limit, False)
    assert decided.outcome is Outcome.MUST_OFFLOAD
    assert decided.content in {ContentClass.STRUCTURED, ContentClass.UNKNOWN}
    assert decided.cut is None


@pytest.mark.parametrize("text", [LOG, JSON, BASE64])
def test_what_would_be_cut_or_offloaded_is_bound(text: bytes) -> None:
    decided = decide(text, 100, True)
    assert decided.outcome is Outcome.BOUND
    assert decided.content is decide(text, 100, False).content
    assert decided.cut is None


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize(
    ("text", "content"),
    [(b"ERROR a\nERROR b\n", ContentClass.LOG), (b"import os\nimport re\n", ContentClass.CODE)],
)
def test_where_a_cut_is_no_shorter_the_text_is_kept(text: bytes, content: ContentClass, bound: bool) -> None:
    assert decide(text, 10, bound) == Decided(Outcome.KEPT, content)
