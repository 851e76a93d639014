"""Every RPC of the wire, from its descriptors, and how each is called in an error's `action`."""

from typing import NamedTuple

from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from ullage.v1 import building_service_pb2, run_service_pb2, wire_service_pb2

from ..convert.raw import raw

SERVICES: tuple[ServiceDescriptor, ...] = (
    run_service_pb2.DESCRIPTOR.services_by_name["RunService"],
    building_service_pb2.DESCRIPTOR.services_by_name["BuildingService"],
    wire_service_pb2.DESCRIPTOR.services_by_name["WireService"],
)

#: What an RPC does, as an error's `action` says it.
ACTIONS = {
    "StartRun": "starting a run",
    "PrepareCall": "preparing a model call",
    "ObserveUsage": "observing a turn's usage",
    "CompactExchange": "compacting a turn's exchange",
    "FinishRun": "finishing a run",
    "ForkRun": "forking a run",
    "GetRun": "reading a run",
    "ListRuns": "listing runs",
    "WatchRuns": "watching runs",
    "ReadLedger": "reading a run's ledger",
    "ReplayExchanges": "replaying exchanges",
    "ConfigureBuilding": "configuring a building",
    "GetBuilding": "reading a building",
    "ListBuildings": "listing buildings",
    "Converse": "conversing over one stream",
}


class Method(NamedTuple):
    """One RPC: its path on the wire, its name, its request's class, and whether it takes or gives a stream."""

    path: str
    name: str
    request: type[Message]
    streams: bool

    @property
    def action(self) -> str:
        """What it does, as an error's `action` says it."""
        return ACTIONS[self.name]


#: The RPCs whose requests may hold a whole exchange.
WITH_EXCHANGES = frozenset({"CompactExchange", "ReplayExchanges", "Converse"})


#: The RPCs that end only when their caller ends them; a server that goes down ends them at once.
ENDLESS = frozenset({"WatchRuns"})


def _request(method: MethodDescriptor) -> type[Message]:
    request: type[Message] = GetMessageClass(method.input_type)
    return raw(request) if method.name in WITH_EXCHANGES else request


METHODS: tuple[Method, ...] = tuple(
    Method(
        f"/{service.full_name}/{method.name}",
        method.name,
        _request(method),
        method.client_streaming or method.server_streaming,
    )
    for service in SERVICES
    for method in service.methods
)
