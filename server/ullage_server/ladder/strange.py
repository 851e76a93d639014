"""The keys of a document that look like the ladder's and are not: told in the log, once for each state of a text.

Rule (rules.md 2): other keys of a document are left alone and mean nothing. So a misspelt key is without effect
and nobody refuses it; whoever wonders why finds it in the log, with the key that it was perhaps meant to be.
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice

import structlog

from ..core.rung import MODELS
from ..core.settings import KEYS

_log = structlog.get_logger()

#: How many of them are told of one document, and how much of each.
_MOST = 5
_MAX_CHARS = 64

_TABLES = sorted({*(name.partition(".")[0] for name in KEYS), MODELS})


def strange_keys(document: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """The first few such keys of `document`, each with the known one that is nearest; empty where none is near.

    In a table of the ladder's they are all keys that it does not know; of other tables and keys, which are
    anybody's, those whose names are nearly a table's.
    """
    return tuple(islice(_strange(document), _MOST))


@lru_cache(1024)
def tell(rung: str, etag: str, strange: tuple[tuple[str, str], ...]) -> None:
    """Logs the `strange` keys of a rung's document; nothing where it was told of this document before."""
    for key, nearest in strange:
        meant = f"perhaps {nearest} is meant" if nearest else f"the ladder's keys are {', '.join(KEYS)}"
        _log.warning("a key of a document means nothing", rung=rung, key=key[:_MAX_CHARS], hint=meant, etag=etag)


def _strange(document: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    # The first hundred will do: a document may hold thousands of others' tables.
    for table, held in islice(document.items(), 100):
        if table == MODELS:
            continue
        if table not in _TABLES:
            if near := _nearest(table, _TABLES):
                yield table, near
        elif isinstance(held, Mapping):
            for key in held:
                if (name := f"{table}.{key}") not in KEYS:
                    yield name, _nearest(name, [*KEYS])


def _nearest(name: str, known: list[str]) -> str:
    return next(iter(get_close_matches(name[:_MAX_CHARS], known, 1, 0.75)), "")
