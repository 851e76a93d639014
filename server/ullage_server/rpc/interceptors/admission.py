"""Whether the server takes new calls.

Rule (architecture.md, Drain): from the drain on, new calls are refused with DRAINING and what runs is finished.
"""

import grpc

from ...core.errors import Reason, Refusal
from ..methods import Method
from . import Unary


class Admission:
    """Lets calls in until the drain begins."""

    def __init__(self) -> None:
        self.draining = False

    def __call__(self, method: Method, inner: Unary) -> Unary:
        """`inner`, while the server takes new calls."""

        async def call(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
            if self.draining:
                raise Refusal(
                    Reason.DRAINING,
                    "the server is going down and takes no new calls",
                    subject=f"a request of {method.name}",
                    recovery="send it again; the next server takes it",
                )
            return await inner(request, context)

        return call
