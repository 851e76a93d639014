"""What becomes of one text: the first version of the exchange rules.

Rule (rules.md 8): within its share a text is kept, and not classified. Above it, it is cut by what it is, or must
be offloaded; where a cut would be no shorter, it is kept. A text that a later thinking block of its reply is bound
to is never touched: where it would have been cut or offloaded, it is bound.
"""

from enum import Enum
from typing import NamedTuple

from .budget import fits
from .classes import KEEPS, ContentClass
from .cut import Cut, cut
from .detect import detect


class Outcome(Enum):
    """What became of a text; numbered as `ullage.v1.TextOutcome`."""

    KEPT = 1
    CUT = 2
    MUST_OFFLOAD = 3
    BOUND = 4


class Decided(NamedTuple):
    """What was decided; no `content` where nothing had to be, no `cut` where the text was left whole."""

    outcome: Outcome
    content: ContentClass | None = None
    cut: Cut | None = None


def decide(text: bytes, limit: int, bound: bool) -> Decided:
    """What becomes of `text` under a share of `limit` bytes; `bound`: a later thinking block is bound to it."""
    if fits(len(text), limit):
        return Decided(Outcome.KEPT)
    content = detect(text)
    keep = KEEPS[content]
    shorter = None if keep is None else cut(text, limit, keep)
    if keep is not None and shorter is None:
        return Decided(Outcome.KEPT, content)
    if bound:
        return Decided(Outcome.BOUND, content)
    return Decided(Outcome.MUST_OFFLOAD if shorter is None else Outcome.CUT, content, shorter)
