"""One look at the ladder: each document is read once, and read anew by the next look.

Rule (rules.md 2): the rungs of an address are its own, its building's and the city's, the nearest first; one
without a document states nothing. What cannot be read refuses, and names the rung.
"""

from collections.abc import Collection

from ..core.errors import Reason, Refusal
from ..core.names import rungs_of
from ..core.rung import Rung
from .building import Building, describe
from .document import etag, parse
from .port import Document, Documents
from .threads import reading

#: A text longer than this is parsed in a thread, so that it keeps nobody waiting.
_LONG_CHARS = 16 * 1024


class Look:
    """What `documents` hold now, as far as it is asked for."""

    def __init__(self, documents: Documents, zones: Collection[str]) -> None:
        self._documents = documents
        self._zones = zones
        self._read: dict[str, Document | Refusal | None] = {}
        self._parsed: dict[str, Rung | Refusal] = {}

    async def document(self, address: str) -> Document | None:
        """The document of the rung at `address`; None where there is none."""
        if address not in self._read:
            try:
                self._read[address] = await self._documents.read(address)
            except Refusal as refusal:
                self._read[address] = refusal
        found = self._read[address]
        if isinstance(found, Refusal):
            raise found
        return found

    async def rungs(self, address: str) -> list[Rung]:
        """The rungs of `address` that have a document, the nearest first."""
        return [rung for each in rungs_of(address) if (rung := await self._rung(each))]

    async def upper_rungs(self, address: str) -> list[Rung]:
        """The rungs above that of `address` that have a document, the nearest first."""
        return [rung for each in rungs_of(address)[1:] if (rung := await self._rung(each))]

    async def building(self, address: str) -> Building | None:
        """The building at `address`; None where it has no document, unless it is the city."""
        own = await self.document(address)
        if own is None and address:
            return None
        rungs = await self.rungs(address)
        return describe(address, rungs, etag(own.text if own else None), own.update_time if own else 0)

    async def building_even_if_unreadable(self, address: str) -> Building | None:
        """As `building`, with nothing stated and settled where a document of its rungs cannot be read."""
        own = None
        try:
            own = await self.document(address)
            return await self.building(address)
        except Refusal as refusal:
            if refusal.reason is not Reason.CONFIG_UNREADABLE:
                raise  # the store is away, and may be back at once
        return Building(address, (), (), etag(own.text) if own else "", own.update_time if own else 0)

    async def _parse(self, address: str, text: str) -> Rung:
        if len(text) > _LONG_CHARS:
            return await reading(parse, address, text, self._zones)
        return parse(address, text, self._zones)

    async def _rung(self, address: str) -> Rung | None:
        document = await self.document(address)
        if document is None:
            return None
        if address not in self._parsed:
            try:
                self._parsed[address] = await self._parse(address, document.text)
            except Refusal as refusal:
                self._parsed[address] = refusal
        found = self._parsed[address]
        if isinstance(found, Refusal):
            raise found
        return found
