"""What a text is: the first kind, in the order below, whose signs it shows.

Rule (rules.md 8): real material is told right by the lines it is made of, never by its first character; what
shows no sign of anything is unknown, and nothing is thrown away on a guess. Each sign is a share of the lines
that are looked at, so that one odd line decides nothing.
"""

from collections.abc import Callable

from .classes import ContentClass
from .data import is_data, is_json_log
from .look import Look, look
from .signs.blobs import is_no_text
from .signs.code import is_code
from .signs.diffs import is_diff
from .signs.keyed import is_keyed
from .signs.logs import is_log, is_loose_log
from .signs.markup import is_markup
from .signs.prose import is_prose
from .signs.tables import is_table


def detect(text: bytes) -> ContentClass:
    """What `text` is, which is UTF-8 and not empty."""
    seen = look(text)
    for kind, is_kind in _ORDER:
        if is_kind(seen, text):
            return kind
    return ContentClass.UNKNOWN


#: In this order: what proves itself comes before what only looks like itself.
_ORDER: tuple[tuple[ContentClass, Callable[[Look, bytes], bool]], ...] = (
    (ContentClass.UNKNOWN, is_no_text),
    (ContentClass.LOG, is_json_log),
    (ContentClass.STRUCTURED, is_data),
    (ContentClass.DIFF, is_diff),
    (ContentClass.TABLE, is_table),
    (ContentClass.LOG, is_log),
    (ContentClass.MARKUP, is_markup),
    (ContentClass.STRUCTURED, is_keyed),
    (ContentClass.CODE, is_code),
    (ContentClass.LOG, is_loose_log),
    (ContentClass.PROSE, is_prose),
)
