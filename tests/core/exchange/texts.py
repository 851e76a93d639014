"""Texts of every kind, as hypothesis draws them, and what every cut of one must keep to."""

import re

from hypothesis import strategies as st

from ullage_server.core.exchange.cut import marker

_PIECES = (
    *(
        "# A heading\n",
        "## Another\n\n",
        "Words of a body, and more of them. ",
        "\n",
        "\r\n",
        "\x00",
        "é",
        "e\u0301",
    ),
    *("港は静か", "🦊🦊", "def f(x):\n    return x\n", "2026-01-01T00:00:00Z INFO up\n", "| a | b |\n", "```\n"),
)
_UNITS = st.sampled_from(["word ", "x", "港", "\u0301", "line\n"])
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=400),
    st.lists(st.sampled_from(_PIECES), min_size=1, max_size=60).map("".join),
    st.builds(lambda unit, times: unit * times, _UNITS, st.integers(1, 3000)),
).map(str.encode)
LIMITS = st.integers(0, 2000) | st.sampled_from([0, 1, 2**53 - 1])

MARKER = re.compile(rb"\n?\[truncated: (\d+) bytes\]\n?")


def widest(text: bytes) -> int:
    """What a marker in `text` takes at most."""
    return len(marker(len(text)))


def check_accounting(source: bytes, left: bytes, dropped: int) -> None:
    """Takes the markers out of `left`: what survives stands in `source` in that order, and they name the rest."""
    pieces, at, gone = [], 0, 0
    for found in MARKER.finditer(left):
        pieces.append(left[at : found.start()])
        at = found.end()
        gone += int(found[1])
    pieces.append(left[at:])
    assert gone == dropped
    # A line feed beside a marker may be the marker's or the source's.
    survived = len(source) - dropped
    assert sum(map(len, pieces)) <= survived <= sum(map(len, pieces)) + 2 * len(MARKER.findall(left))
    place = 0
    for piece in pieces:
        place = source.index(piece, place) + len(piece)
