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
from ..core.names import check_address
from ..ladder.ladder import Ladder
from .pages import page_size, page_token, read_page_token

_ASKED = ["buildings"]


class BuildingService:
    """The buildings of the city."""

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder

    async def configure_building(self, request: ConfigureBuildingRequest) -> ConfigureBuildingResponse:
        """Changes the keys that a command names in one rung."""
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
        buildings, more = await self._ladder.page(None if last is None else str(last[0]), size)
        return ListBuildingsResponse(
            buildings=map(building_to, buildings),
            next_page_token=page_token(_ASKED, [buildings[-1].address]) if more else "",
        )
