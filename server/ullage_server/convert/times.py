"""Times and durations: nanoseconds as whole numbers here, Timestamp and Duration on the wire."""

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from ..core.errors import invalid

_SECOND = 1_000_000_000
#: The Duration type's own bound: about 10,000 years.
_MAX_SECONDS = 315_576_000_000
#: The second day of the year 1 and the last but one of 9999.
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800 + 86_400, 253_402_300_799 - 86_400


def to_timestamp(nanoseconds: int) -> Timestamp:
    """Nanoseconds since the Unix epoch as a Timestamp."""
    seconds, nanos = divmod(nanoseconds, _SECOND)
    return Timestamp(seconds=seconds, nanos=nanos)


def put_timestamp(message: Timestamp, nanoseconds: int) -> None:
    """Sets `message` to nanoseconds since the Unix epoch."""
    message.seconds, message.nanos = divmod(nanoseconds, _SECOND)


def from_timestamp(field: str, at: Timestamp) -> int:
    """A caller's Timestamp in nanoseconds since the Unix epoch; refused, naming `field`, where it has no date.

    The first and the last day of the type's years 1 to 9999 are refused too: in some time zone they are others.
    """
    if not _FIRST_SECOND <= at.seconds <= _LAST_SECOND or not 0 <= at.nanos < _SECOND:
        raise invalid(field, f"{field} is no time in the years 1 to 9999, with nanos from 0 to below a second")
    return at.seconds * _SECOND + at.nanos


def to_duration(nanoseconds: int) -> Duration:
    """Nanoseconds, not negative, as a Duration."""
    seconds, nanos = divmod(nanoseconds, _SECOND)
    return Duration(seconds=seconds, nanos=nanos)


def from_duration(field: str, duration: Duration) -> int:
    """A caller's Duration in nanoseconds; refused, naming `field`, where it is none by its type's own rules."""
    seconds, nanos = duration.seconds, duration.nanos
    if abs(seconds) > _MAX_SECONDS or abs(nanos) >= _SECOND or seconds * nanos < 0:
        raise invalid(field, f"{field} is no duration: seconds and nanos of one sign, nanos below a second")
    return seconds * _SECOND + nanos
