"""The date as people write it, in their time zone.

Rule (rules.md 6): to the minute, with the offset and the zone's long English name as CLDR has it.
"""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from babel import Locale
from babel.dates import format_datetime

_ENGLISH = Locale("en")
_PATTERN = "EEE MMM dd yyyy HH:mm 'GMT'xx '('zzzz')'"
_EPOCH = datetime.fromtimestamp(0, UTC)


def date_in(nanoseconds: int, zone: str) -> str:
    """`Fri Oct 09 2026 13:23 GMT+0800 (China Standard Time)`; `zone` is an IANA name."""
    at = _EPOCH + timedelta(seconds=nanoseconds // 10**9)
    return format_datetime(at.astimezone(ZoneInfo(zone)), _PATTERN, locale=_ENGLISH)
