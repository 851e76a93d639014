"""A size against a budget, both in bytes.

Rule (rules.md 8): one function decides whether something fits; nothing else compares a size with a budget.
"""


def fits(size: int, budget: int) -> bool:
    """Whether `size` bytes fit `budget` bytes; as many are within it, not beyond."""
    return size <= budget


def share(budget: int, texts: int) -> int:
    """The even share of each of `texts` non-empty texts, rounded down."""
    return budget // texts
