"""A real server for these tests, one for each file of them, and its records."""

from collections.abc import Iterator

import grpc
import pytest

from tests.rpc.calls import ANY_SIZE, Wire
from tests.rpc.recorded import Records
from tests.servers import Server, running_server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture(scope="module")
def channel(server: Server) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(server.target, ANY_SIZE) as channel:
        yield channel


@pytest.fixture(scope="module")
def wire(channel: grpc.Channel) -> Wire:
    return Wire(channel)


@pytest.fixture(scope="module")
def records(server: Server) -> Iterator[Records]:
    records = Records(server.data)
    yield records
    records.close()
