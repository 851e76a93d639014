"""What was decided on one text, as it is answered and kept."""

from ..kept import Kept
from .classes import ContentClass
from .plan import Outcome


class TextVerdict(Kept, frozen=True):
    """Where a text stands, what it was found to be (None: nothing had to be decided), and what became of it.

    `block` and `part` count from 0; lengths are in bytes of UTF-8, `result_bytes` with markers.
    """

    in_results: bool
    block: int
    part: int
    content: ContentClass | None
    outcome: Outcome
    source_bytes: int
    result_bytes: int
    dropped_bytes: int
