"""A document with headings: the skeleton first, then the bodies."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tests.core.exchange.texts import MARKER, check_accounting, widest
from ullage_server.core.exchange.classes import Keep
from ullage_server.core.exchange.cut import Cut, cut


def shortened(text: str, limit: int) -> str:
    found = cut(text.encode(), limit, Keep.SECTIONS)
    assert found is not None
    return found.text.decode()


def test_the_bytes_of_the_first_version() -> None:
    # A marker takes 23 bytes at most. The skeleton takes 11+6, 25+7 and 9+8 more: 211 are left for two bodies.
    text = "Read this.\n# One\n" + "a" * 500 + "\n## Two\n\nShort.\n\n# Three\n" + "b" * 700 + "\n"
    assert shortened(text, 300) == (
        "Read this.\n# One\n"
        + "a" * 105
        + "\n[truncated: 396 bytes]\n## Two\n\nShort.\n\n# Three\n"
        + "b" * 106
        + "[truncated: 595 bytes]"
    )


def test_all_headings_come_before_any_body() -> None:
    text = "".join(f"## Part {number}\n{'word ' * 40}\n" for number in range(9))
    kept = shortened(text, 9 * 10 + 8 * 25 + 23)
    assert re.sub(r"\[truncated: \d+ bytes\]\n?", "", kept).split("\n\n") == [
        *(f"## Part {number}" for number in range(8)),
        "## Part 8\n",
    ]


def test_where_not_all_fit_the_first_ones_stay() -> None:
    text = "".join(f"## Part {number}\n{'word ' * 40}\n" for number in range(9))
    kept = shortened(text, 120)
    assert [int(number) for number in re.findall(r"## Part (\d)", kept)] == [0, 1, 2]
    assert len(kept) <= 120


def test_a_heading_that_does_not_fit_is_body_and_a_later_one_may_stay() -> None:
    text = f"# {'long ' * 60}\n{'a' * 300}\n# Short\n{'b' * 300}\n"
    kept = shortened(text, 150)
    assert kept.startswith("# long long")
    assert "\n# Short\nb" in kept
    assert len(kept) <= 150


def test_a_marker_before_the_first_heading_ends_its_line() -> None:
    text = "x" * 200 + "\n# One\n" + "y" * 200
    assert cut(text.encode(), 22 + 24 + 6, Keep.SECTIONS) == Cut(
        b"[truncated: 201 bytes]\n# One\n[truncated: 200 bytes]", 401
    )


def test_a_body_no_longer_than_its_marker_is_never_dropped() -> None:
    text = "".join(f"# {number}\n\nok\n\n" for number in range(100))
    kept = shortened(text, 200)
    assert kept.startswith("# 0\n\nok\n\n# 1\n\nok\n\n")
    assert len(MARKER.findall(kept.encode())) == 1


HEADINGS = st.sampled_from(
    ["# One\n", "## Zwei 水\n", "Title\n-----\n", "<h3>Three</h3>\n", "#### " + "four " * 9 + "\n"]
)
BODIES = st.builds(
    lambda unit, times: unit * times + "\n\n", st.sampled_from(["word ", "水", "x\n", "é "]), st.integers(0, 90)
)


@given(BODIES, st.lists(st.tuples(HEADINGS, BODIES), min_size=1, max_size=12), st.integers(0, 900))
def test_every_heading_that_fits_is_kept(preamble: str, parts: list[tuple[str, str]], limit: int) -> None:
    text = (preamble + "".join(heading + body for heading, body in parts)).encode()
    room = widest(text)
    if not room <= limit < len(text):
        return
    found = cut(text, limit, Keep.SECTIONS)
    assert found is not None
    assert len(found.text) <= limit
    check_accounting(text, found.text, found.dropped)
    # Walk through the result: which headings are there, in order?
    kept: list[int] = []
    missing: list[int] = []
    at = 0
    for heading, _ in parts:
        place = found.text.find(heading.encode(), at)
        whole = place == 0 or (place > 0 and found.text[place - 1 : place] == b"\n")
        (kept if whole else missing).append(len(heading.encode()))
        at = place + len(heading.encode()) if whole else at
    # What the kept ones take at most, each with a marker on its own line before it, and one at the end.
    left = limit - room - sum(size + room + 2 for size in kept)
    assert all(left < size + room + 2 for size in missing)
