"""The two thresholds of the gauge, and the one place that parses a second threshold.

Rule (rules.md 1): the first is 30 and no setting; the second is 65 unless stated, from first + 1 to 90, both
included. Outside that domain a value is refused and the domain named; nothing is clamped.
"""

from .errors import Reason, Refusal

FIRST_PERCENT = 30
LOWEST_SECOND_PERCENT = FIRST_PERCENT + 1
HIGHEST_SECOND_PERCENT = 90
DEFAULT_SECOND_PERCENT = 65


def parse_second_threshold(field: str, value: int) -> int:
    """`value` in percent; refused with THRESHOLD_OUT_OF_DOMAIN, naming `field`, outside the domain."""
    if not LOWEST_SECOND_PERCENT <= value <= HIGHEST_SECOND_PERCENT:
        domain = f"{LOWEST_SECOND_PERCENT} to {HIGHEST_SECOND_PERCENT}"
        raise Refusal(
            Reason.THRESHOLD_OUT_OF_DOMAIN,
            f"a second threshold of {value} percent is outside its domain, {domain}",
            subject=field,
            recovery=f"state a whole number from {domain}, or none to take what the ladder settles",
            field=field,
        )
    return value
