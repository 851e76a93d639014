"""The work on one exchange: read, decided, cut, hashed.

Rule (architecture.md, Long texts): a long exchange is worked on in a thread of its own, one after the other, so
that one run's sixteen mebibytes never make the others wait.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from ullage.v1.exchange_pb2 import Exchange

from ..convert.exchange import Fields, Source, put_cuts, source_from
from ..core.exchange.compact import Compacted, compact

#: From this size on, in bytes, an exchange is worked on in the thread.
LONG = 256 << 10

#: Says of an exchange under which budget and rules it is compacted; None: it is left as it is. May raise Refusal.
Terms = Callable[[Source], tuple[int, int] | None]


class Worked(NamedTuple):
    """An exchange that was worked on: what it was, what came of it (None: left as it is), and its digest now."""

    source: Source
    compacted: Compacted | None
    digest: bytes


class Worker:
    """Works on exchanges."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "ullage-exchange")

    async def work(self, exchange: Exchange, fields: Fields, terms: Terms) -> Worked:
        """Compacts `exchange`, which came in those fields, in place."""
        if exchange.ByteSize() < LONG:
            return _work(exchange, fields, terms)
        return await asyncio.get_running_loop().run_in_executor(self._thread, _work, exchange, fields, terms)


def _work(exchange: Exchange, fields: Fields, terms: Terms) -> Worked:
    source = source_from(exchange, fields)
    by = terms(source)
    if by is None:
        return Worked(source, None, source.digest)
    compacted = compact(source.texts, *by)
    if not compacted.cuts:
        return Worked(source, compacted, source.digest)
    put_cuts(exchange, source.texts, compacted)
    return Worked(source, compacted, source_from(exchange, fields).digest)
