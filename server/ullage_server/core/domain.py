"""The domains of the wire's numbers: what lies beyond is refused, so nothing can wrap.

Rule (rules.md 1, wire.md Types): token and byte counts are whole numbers from 0 to 2^53 - 1, what every
language holds exactly; turns, steps, indices and other counts are int32.
"""

from .errors import invalid

MAX_TOKENS = 2**53 - 1
MAX_INT32 = 2**31 - 1


def check_tokens(field: str, value: int) -> int:
    """`value`, a count of tokens or bytes; refused, naming `field`, outside 0 to 2^53 - 1."""
    if not 0 <= value <= MAX_TOKENS:
        raise invalid(field, f"{field} is {value}; it is a whole number from 0 to {MAX_TOKENS}")
    return value


def check_count(field: str, value: int) -> int:
    """`value`, a count or size that an int32 holds; refused, naming `field`, outside 0 to 2^31 - 1."""
    if not 0 <= value <= MAX_INT32:
        raise invalid(field, f"{field} is {value}; it is a whole number from 0 to {MAX_INT32}")
    return value


def check_turn(field: str, value: int) -> int:
    """`value`, a turn's number; refused, naming `field`, below 1: turns are numbered from 1."""
    if not 1 <= value <= MAX_INT32:
        raise invalid(field, f"{field} is {value}; turns are numbered from 1")
    return value
