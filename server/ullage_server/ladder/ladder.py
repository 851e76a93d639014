"""The ladder as the service sees it: what the rungs of an address state, and which buildings there are.

Rule (rules.md 2): a run reads its own rung, its building's and the city's, never a neighbour's. A rung is there
where it has a document; the city always is. A document that cannot be read refuses whoever reads it and nobody
else: a list shows such a building, and those below it, with nothing stated and nothing settled.
"""

import asyncio
from collections.abc import Callable, Collection

from ..core.errors import Reason, Refusal
from ..core.names import check_address
from ..core.plan import Catalogue, find_window
from ..core.rung import Command, Rung
from .building import Building
from .document import subject
from .look import Look
from .port import Documents, Journal
from .writer import Writer


class Ladder:
    """The rungs in `documents`, and the commands that change them, recorded in `journal`.

    `zones` are the known time zones, `catalogue` tells the windows that no rung states, `now` the time in
    nanoseconds since the epoch.
    """

    def __init__(
        self,
        documents: Documents,
        journal: Journal,
        zones: Collection[str],
        catalogue: Catalogue,
        now: Callable[[], int],
    ) -> None:
        self._documents = documents
        self._zones = zones
        self._catalogue = catalogue
        self._writer = Writer(documents, journal, zones, now)

    async def rungs(self, address: str) -> list[Rung]:
        """The rungs that a run at `address` reads, the nearest first; those without a document are left out."""
        check_address("address", address)
        return await self._look().rungs(address)

    async def window(self, address: str, model: str) -> int | None:
        """The window of `model` in tokens for a run at `address`; None where nothing tells it."""
        rungs = await self.rungs(address)
        # In a thread, because the catalogue's first question loads it.
        found = await asyncio.to_thread(find_window, model, rungs, self._catalogue)
        return found[0] if found else None

    async def building(self, address: str) -> Building:
        """The building at `address`; refused with BUILDING_NOT_FOUND where nobody configured one."""
        check_address("address", address)
        building = await self._look().building(address)
        if building is None:
            raise Refusal(
                Reason.BUILDING_NOT_FOUND,
                f"there is no {subject(address)}: nobody configured it, and it has no rung",
                subject=subject(address),
                recovery="make it with ConfigureBuilding, or correct the address",
                field="address",
            )
        return building

    async def page(self, after: str | None, limit: int) -> tuple[list[Building], bool]:
        """At most `limit` buildings in the order of addresses, and whether more follow.

        They begin behind the address `after`; where it is None, with the city.
        """
        addresses = sorted({"", *await self._documents.addresses()})
        look = self._look()
        found: list[Building] = []
        for address in addresses:
            if after is not None and address <= after:
                continue
            if len(found) == limit:
                return found, True
            if building := await look.building_even_if_unreadable(address):
                found.append(building)
        return found, False

    async def configure(
        self, command: Command, request_id: str, etag: str, validate_only: bool
    ) -> tuple[Building, bool]:
        """Carries `command` out on its rung; gives the building as it is then, and whether that is a replay."""
        return await self._writer.configure(command, request_id, etag, validate_only)

    async def mend(self) -> None:
        """Carries out what the journal holds undone; called at the start, before the server answers anybody."""
        await self._writer.mend()

    async def close(self) -> None:
        """Takes no more commands, and returns when the one under way is at its end."""
        await self._writer.close()

    def _look(self) -> Look:
        return Look(self._documents, self._zones)
