"""Pages of a list: sizes and tokens.

Rule (AIP-158): a size of 0 is the default, one above the greatest is taken as the greatest, one below 0 is
refused. A token is the service's own and opaque: it fits the list it came from, and any other is refused.
"""

import base64
import binascii
import hashlib
import json

from ..core.errors import invalid

DEFAULT_SIZE = 100
MAX_SIZE = 1000

#: A page holds fewer where they are large, so that it fits the 4 MiB a client takes by default.
MAX_PAGE_BYTES = 3 << 20

#: How many are read at a time, so that a page that is full has read little in vain.
SLICE = 100

_VERSION = 1


def page_size(size: int) -> int:
    """How many a page holds, for a request that says `size`."""
    if size < 0:
        raise invalid("page_size", f"page_size is {size}; it is 0 for {DEFAULT_SIZE}, or from 1 to {MAX_SIZE}")
    return min(size or DEFAULT_SIZE, MAX_SIZE)


def page_token(asked: object, last: list[str | int]) -> str:
    """What leads to the page behind `last`, in the list that was `asked` for."""
    return base64.urlsafe_b64encode(json.dumps([_VERSION, _list(asked), last]).encode()).decode()


def read_page_token(
    asked: object, token: str, shape: tuple[type, ...], field: str = "page_token"
) -> list[str | int] | None:
    """What `page_token` put into `token` for the same list, in parts of the types of `shape`; None without one.

    Refused, naming `field`, where it is none of that list's.
    """
    if not token:
        return None
    try:
        version, of_list, last = json.loads(base64.b64decode(token, altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError, TypeError):
        raise _foreign(field) from None
    if (
        version != _VERSION
        or of_list != _list(asked)
        or not isinstance(last, list)
        or tuple(type(part) for part in last) != shape
        or not all(_ours(part) for part in last)
        or page_token(asked, last) != token
    ):
        raise _foreign(field)
    return last


def _ours(part: str | int) -> bool:
    """Whether a part of a token may be one that this service wrote: a time, an id or an address."""
    if isinstance(part, int):
        return 0 <= part < 2**63
    return len(part) <= 128 and part.isascii() and part.isprintable()


def _list(asked: object) -> str:
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]


def _foreign(field: str) -> Exception:
    return invalid(
        field,
        f"{field} is none that was given for what is asked",
        recovery="send the token as the last answer gave it, with the same filters, or none to begin anew",
    )
