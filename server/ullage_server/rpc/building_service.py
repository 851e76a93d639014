"""BuildingService: the rungs of the ladder. Each method converts, calls the ladder, and answers."""

from ullage.v1.building_service_pb2 import (
    ConfigureBuildingRequest,
    ConfigureBuildingResponse,
    GetBuildingRequest,
    GetBuildingResponse,
    ListBuildingsRequest,
    ListBuildingsResponse,
)

from ..convert.building import building_to, command_from
from ..core.errors import invalid
from ..core.names import check_address
from ..ladder.ladder import Ladder
from .pages import MAX_PAGE_BYTES, SLICE, page_size, page_token, read_page_token

_ASKED = ["buildings"]


class BuildingService:
    """The buildings of the city."""

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder

    async def configure_building(self, request: ConfigureBuildingRequest) -> ConfigureBuildingResponse:
        """Changes the keys that a command names in one rung."""
        if not request.HasField("command"):
            raise invalid("command", "there is no command; it names the rung and what is to change there")
        building, replayed = await self._ladder.configure(
            command_from(request.command), request.request_id, request.etag, request.validate_only
        )
        return ConfigureBuildingResponse(building=building_to(building), replayed=replayed)

    async def get_building(self, request: GetBuildingRequest) -> GetBuildingResponse:
        """What a rung states, and what a run there would freeze now."""
        building = await self._ladder.building(check_address("address", request.address))
        return GetBuildingResponse(building=building_to(building))

    async def list_buildings(self, request: ListBuildingsRequest) -> ListBuildingsResponse:
        """The rungs that have a document, page by page, by address."""
        size = page_size(request.page_size)
        last = read_page_token(_ASKED, request.page_token, (str,))
        after = None if last is None else str(last[0])
        response = ListBuildingsResponse()
        held = 0
        more = True
        while more:
            buildings, more = await self._ladder.page(after, min(size - len(response.buildings), SLICE))
            for building in buildings:
                shown = building_to(building)
                held += shown.ByteSize()
                if response.buildings and held > MAX_PAGE_BYTES:
                    response.next_page_token = page_token(_ASKED, [after or ""])
                    return response
                response.buildings.append(shown)
                after = building.address
            if more and len(response.buildings) == size:
                response.next_page_token = page_token(_ASKED, [after or ""])
                return response
        return response
