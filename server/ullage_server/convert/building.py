"""Buildings, and the command that configures one."""

from typing import Any, cast

from ullage.v1 import building_pb2

from ..core.rung import Command
from ..core.settings import KEYS, Value
from ..ladder.building import Building
from .plan import rearm_from, settled_to
from .times import to_timestamp


def command_from(command: building_pb2.ConfigureBuilding) -> Command:
    """The command of a request, unchecked but for the types."""
    values: dict[str, Value] = {}
    for name, key in KEYS.items():
        if command.HasField(cast("Any", key.wire_field)):
            value = getattr(command, key.wire_field)
            values[name] = rearm_from("command.context_rearm", value) if name == "context.rearm" else value
    return Command(command.address, values, dict(command.models), tuple(command.reset))


def building_to(building: Building) -> building_pb2.Building:
    """A building as the wire shows it."""
    return building_pb2.Building(
        address=building.address,
        stated=settled_to(building.stated),
        settled=settled_to(building.settled),
        etag=building.etag,
        update_time=to_timestamp(building.update_time) if building.update_time else None,
    )
