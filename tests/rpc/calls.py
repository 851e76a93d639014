"""Calls on the wire's own bytes, and what came back, taken apart."""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from ullage.v1 import building_service_pb2, run_service_pb2, wire_service_pb2
from ullage_server.rpc.methods import ENDLESS

TIMEOUT = 30.0
#: The answer to an RPC may be larger than what gRPC takes by itself; what is shown here is the server's side.
ANY_SIZE = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))

_FILES = (run_service_pb2, building_service_pb2, wire_service_pb2)
#: Every RPC of the wire by its name, which no two of them share.
RPCS: dict[str, MethodDescriptor] = {
    method.name: method
    for file in _FILES
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}

M = TypeVar("M", bound=Message)
Metadata = Sequence[tuple[str, str]]


class Answer(NamedTuple):
    """What a call ended with: `payload` where it is OK, else what the error says, empty where it says nothing."""

    code: grpc.StatusCode
    message: str = ""
    payload: bytes = b""
    details: bytes | None = None

    @property
    def status(self) -> status_pb2.Status:
        return status_pb2.Status.FromString(self.details or b"")

    @property
    def info(self) -> error_details_pb2.ErrorInfo:
        return self._detail(error_details_pb2.ErrorInfo())

    @property
    def reason(self) -> str:
        """The reason of a refusal; of any other answer the name of its code."""
        return str(self.info.reason) or self.code.name

    @property
    def violations(self) -> dict[str, str]:
        """What is wrong, by the field at fault."""
        found = self._detail(error_details_pb2.BadRequest()).field_violations
        return {violation.field: violation.description for violation in found}

    @property
    def retry_seconds(self) -> float:
        """When to send again; 0 where the error does not say."""
        return float(self._detail(error_details_pb2.RetryInfo()).retry_delay.ToTimedelta().total_seconds())

    def _detail(self, into: M) -> M:
        for detail in self.status.details:
            if detail.Unpack(into):
                break
        return into


def answer_of(error: grpc.RpcError) -> Answer:
    """What a call that failed was told."""
    assert isinstance(error, grpc.Call | grpc.aio.AioRpcError)
    found = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
    assert found is None or isinstance(found, bytes)
    return Answer(error.code(), error.details() or "", details=found)


def path_of(rpc: str) -> str:
    """How an RPC is called on the wire; what is no RPC's name is a path already."""
    return f"/{RPCS[rpc].containing_service.full_name}/{rpc}" if rpc in RPCS else rpc


def data_of(request: Message | bytes) -> bytes:
    return request if isinstance(request, bytes) else request.SerializeToString()


def leading_to(request: bytes) -> list[bytes]:
    """What a stream of ReplayExchanges holds before `request`, told from the field that stands first in it."""
    return _LEADS.get(request[:1], [])


_REPLY = run_service_pb2.ModelReturned(turn=1, calls=1)
_REPLY.blocks.add().tool_use.id = "call"
_START = run_service_pb2.ReplayExchangesRequest(start=run_service_pb2.ReplayStart()).SerializeToString()
_LEADS = {
    bytes([2 << 3 | 2]): [_START],  # a reply
    bytes([3 << 3 | 2]): [
        _START,
        run_service_pb2.ReplayExchangesRequest(model_returned=_REPLY).SerializeToString(),
    ],  # a tool's result
}


class Wire:
    """A server as any program sees it: RPCs by name, requests and answers as bytes."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel

    def send(self, rpc: str, request: Message | bytes, metadata: Metadata = ()) -> Answer:
        """Calls the RPC of that name, or path, and gives what came of it; of a stream of answers the last one.

        An RPC that takes a stream is sent what leads to the request, and the request.
        """
        data = data_of(request)
        if rpc in RPCS and (RPCS[rpc].client_streaming or RPCS[rpc].server_streaming):
            before = leading_to(data) if RPCS[rpc].client_streaming else []
            return self.stream(rpc, [*before, data], metadata)[-1]
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self._channel.unary_unary(path_of(rpc))
        try:
            payload = call(data, timeout=TIMEOUT, metadata=tuple(metadata))
            return Answer(grpc.StatusCode.OK, payload=payload)
        except grpc.RpcError as error:
            return answer_of(error)

    def stream(self, rpc: str, requests: Sequence[Message | bytes], metadata: Metadata = ()) -> list[Answer]:
        """Calls an RPC of streams and gives its answers, the last one a refusal; OK alone where there are none.

        Of one that would go on for ever, the first answer alone.
        """
        call: grpc.StreamStreamMultiCallable[bytes, bytes] = self._channel.stream_stream(path_of(rpc))
        answers: list[Answer] = []
        try:
            payloads = call(map(data_of, requests), timeout=TIMEOUT, metadata=tuple(metadata))
            most = 1 if rpc in ENDLESS else None
            answers.extend(Answer(grpc.StatusCode.OK, payload=payload) for payload in islice(payloads, most))
            payloads.cancel()
        except grpc.RpcError as error:
            return [*answers, answer_of(error)]
        return answers or [Answer(grpc.StatusCode.OK)]

    def ask(self, rpc: str, request: Message, response: type[M]) -> M:
        """The answer to a request that must be OK."""
        answer = self.send(rpc, request)
        assert answer.code is grpc.StatusCode.OK, f"{rpc}: {answer.reason}: {answer.message}"
        return response.FromString(answer.payload)


class AsyncWire:
    """The same within an event loop: for a server in this process."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.channel = channel

    async def send(self, rpc: str, request: Message | bytes, metadata: Metadata = ()) -> Answer:
        """Calls the RPC of that name, or path, and gives what came of it."""
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = self.channel.unary_unary(path_of(rpc))
        try:
            payload = await call(data_of(request), timeout=TIMEOUT, metadata=grpc.aio.Metadata(*metadata))
            return Answer(grpc.StatusCode.OK, payload=payload)
        except grpc.aio.AioRpcError as error:
            return answer_of(error)

    async def ask(self, rpc: str, request: Message, response: type[M]) -> M:
        """The answer to a request that must be OK."""
        answer = await self.send(rpc, request)
        assert answer.code is grpc.StatusCode.OK, f"{rpc}: {answer.reason}: {answer.message}"
        return response.FromString(answer.payload)
