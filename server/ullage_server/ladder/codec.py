"""A command and its answer as the journal keeps them: JSON that is the same text for the same content.

Rule: two commands are the same where their texts are equal, whatever order their keys came in. A text of an
older version stays readable: a key it lacks was not there to be stated.
"""

import json
from dataclasses import astuple
from typing import Any

from ..core.plan import Settled
from ..core.rung import Command
from ..core.settings import Rearm
from .building import Building


def encode_command(command: Command) -> str:
    """`command` as text."""
    values = {name: value.value if isinstance(value, Rearm) else value for name, value in command.values.items()}
    return _text(
        {
            "address": command.address,
            "values": values,
            "models": dict(command.models),
            "reset": sorted(set(command.reset)),
        }
    )


def decode_command(text: str) -> Command:
    """The command that `text` holds, its values as a document writes them."""
    held = json.loads(text)
    return Command(held["address"], held["values"], held["models"], tuple(held["reset"]))


def encode_building(building: Building) -> str:
    """`building` as text."""
    return _text(
        {
            "address": building.address,
            "stated": [astuple(settled) for settled in building.stated],
            "settled": [astuple(settled) for settled in building.settled],
            "etag": building.etag,
            "update_time": building.update_time,
        }
    )


def decode_building(text: str) -> Building:
    """The building that `text` holds."""
    held = json.loads(text)
    return Building(
        held["address"],
        tuple(Settled(*settled) for settled in held["stated"]),
        tuple(Settled(*settled) for settled in held["settled"]),
        held["etag"],
        held["update_time"],
    )


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))
