"""A command and its answer as the journal keeps them: JSON that is the same text for the same content.

Rule: two commands are the same where their texts are equal, whatever order their keys came in. A text of an
older version stays readable: a key it lacks was not there to be stated.
"""

import json

import msgspec

from ..core.rung import Command
from .building import Building


def encode_command(command: Command) -> str:
    """`command` as text."""
    content = {
        "address": command.address,
        "values": command.values,
        "models": command.models,
        "reset": sorted(set(command.reset)),
    }
    return msgspec.json.encode(content, order="sorted").decode()


def decode_command(text: str) -> Command:
    """The command that `text` holds, its values as a document writes them."""
    held = json.loads(text)
    return Command(held["address"], held["values"], held["models"], tuple(held["reset"]))


def encode_building(building: Building) -> str:
    """`building` as text."""
    return msgspec.json.encode(building).decode()


def decode_building(text: str) -> Building:
    """The building that `text` holds."""
    return msgspec.json.decode(text, type=Building)
