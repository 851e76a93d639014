"""A turn's exchange against its budget, by a version of the rules.

Rule (rules.md 2 and 8): while all texts together fit the budget nothing is touched and nothing is classified; else
each is decided on under its even share. The same texts, budget and version give the same bytes, in any process, in
any order, at any time. A version is frozen in the plan and inherited by branches, so an old one stays callable for
ever.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from . import plan
from .budget import fits, share
from .verdict import TextVerdict

#: What decides on one text under a share, by version. 1 is plan.py with detect.py, classes.py, cut.py, sections.py
#: and what they are made of. What would change a result goes into modules beside them, under the next number.
RULES: dict[int, Callable[[bytes, int, bool], plan.Decided]] = {1: plan.decide}


class SourceText(NamedTuple):
    """One text of an exchange that is not empty, as UTF-8, and its place; the reply's come first.

    `bound` where a thinking block stands behind it in the same reply.
    """

    in_results: bool
    block: int
    part: int
    text: bytes
    bound: bool = False


class Compacted(NamedTuple):
    """What became of the texts: a verdict each, and the new text of each that was cut, by its number from 0."""

    verdicts: tuple[TextVerdict, ...]
    cuts: dict[int, bytes]
    source_bytes: int
    result_bytes: int
    over_budget: bool


def compact(texts: Sequence[SourceText], budget: int, rules: int) -> Compacted:
    """What of `texts` stays under `budget` bytes, by the version `rules`; ValueError where it is unknown."""
    if rules not in RULES:
        raise ValueError(f"exchange rules {rules} are unknown; known are {sorted(RULES)}")
    source_bytes = sum(len(source.text) for source in texts)
    limit = None if fits(source_bytes, budget) else share(budget, len(texts))
    verdicts, cuts = [], {}
    for number, source in enumerate(texts):
        decided = plan.Decided(plan.Outcome.KEPT)
        if limit is not None:
            decided = RULES[rules](source.text, limit, source.bound)
        size, dropped = len(source.text), 0
        if decided.cut is not None:
            cuts[number] = decided.cut.text
            size, dropped = len(decided.cut.text), decided.cut.dropped
        verdicts.append(
            TextVerdict(
                in_results=source.in_results,
                block=source.block,
                part=source.part,
                content=decided.content,
                outcome=decided.outcome,
                source_bytes=len(source.text),
                result_bytes=size,
                dropped_bytes=dropped,
            )
        )
    result_bytes = sum(verdict.result_bytes for verdict in verdicts)
    return Compacted(tuple(verdicts), cuts, source_bytes, result_bytes, not fits(result_bytes, budget))
