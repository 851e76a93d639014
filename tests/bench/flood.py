"""A caller of its own process who compacts large exchanges one after the other, until it is ended.

python -m tests.bench.flood TARGET BYTES
"""

import itertools
import sys

import grpc

from tests.bench.empty_server import COMPACT
from tests.bench.exchanges import exchange
from tests.bench.observe import START
from ullage.v1.run_service_pb2 import CompactExchangeRequest, StartRunRequest


def flood(target: str, size: int) -> None:
    # The turn stands behind the exchange, so that a large message is not made for each.
    large = CompactExchangeRequest(
        run_id="flood", exchange=exchange(size, mixed=True, seed=1), edits_only=True
    ).SerializeToString()
    with grpc.insecure_channel(target) as channel:
        start: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(START)
        compact: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(COMPACT)
        start(StartRunRequest(run_id="flood").SerializeToString(), wait_for_ready=True)
        for turn in itertools.count(1):
            compact(large + CompactExchangeRequest(turn=turn).SerializeToString())


if __name__ == "__main__":
    flood(sys.argv[1], int(sys.argv[2]))
