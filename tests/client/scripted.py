"""The synchronous client over grpcio-testing's channel: scripted answers and failures, and a time of its own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
import grpc_testing  # type: ignore[import-untyped]
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message

import ullage
from tests.client.wire import Failing
from ullage.calls import Calls

Step = tuple[MethodDescriptor, Message | Failing]


class Scripted:
    """A server that follows a script: for each call the RPC it must be, and its answer or failure."""

    def __init__(self, *script: Step, timeout: float = 10.0) -> None:
        self.time = grpc_testing.strict_fake_time(0.0)
        self.channel = grpc_testing.channel([method.containing_service for method, _ in script], self.time)
        self.requests: list[Message] = []
        self.pauses: list[float] = []
        self.client = ullage.Client("unix:/nowhere")
        self.client._call = Calls(
            "unix:/nowhere",
            timeout,
            connect=lambda target: self.channel,
            clock=self.time.time,
            sleep=self._sleep,
            chance=lambda: 0.0,
        )
        self._script = script

    def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.time.sleep_for(seconds)

    def _serve(self) -> None:
        for method, outcome in self._script:
            _, request, rpc = self.channel.take_unary_unary(method)
            self.requests.append(type(request).FromString(request.SerializeToString()))
            rpc.send_initial_metadata(())
            if isinstance(outcome, Failing):
                rpc.terminate(None, outcome.trailing, outcome.code, outcome.message)
            else:
                rpc.terminate(outcome, (), grpc.StatusCode.OK, "")

    @contextmanager
    def serving(self) -> Iterator[ullage.Client]:
        """The client; at the end the whole script must have been asked for."""
        server = threading.Thread(target=self._serve, daemon=True)
        server.start()
        yield self.client
        server.join(timeout=5)
        assert not server.is_alive(), f"{len(self.requests)} of {len(self._script)} calls came"
