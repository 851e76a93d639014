"""The whole life of the process, in one place: open, serve, drain, close.

Rule (architecture.md, Drain): at SIGTERM or SIGINT health says NOT_SERVING, new calls are refused, what runs is
finished and its answers leave, appends under way reach the disk, and the store is closed. A second signal ends the
wait; what is not in time is refused with DRAINING, like a call that comes too late.
"""

import asyncio
import gc
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from zoneinfo import available_timezones

import grpc
from grpc_health.v1 import health_pb2_grpc
from grpc_health.v1.health import SERVICE_NAME as HEALTH
from grpc_health.v1.health import aio as health
from grpc_reflection.v1alpha import reflection

from .core.plan import Catalogue
from .ladder.catalogue import packaged_windows
from .ladder.ladder import Ladder
from .ops.address import bind, check_listen, hold_socket, is_local
from .ops.memory import keep_large_blocks
from .rpc.building_service import BuildingService
from .rpc.call_service import CallService
from .rpc.converse import Conversations
from .rpc.exchange_service import ExchangeService
from .rpc.exchange_work import Worker
from .rpc.health import StoreHealth
from .rpc.interceptors.admission import Admission
from .rpc.interceptors.errors import Errors
from .rpc.methods import SERVICES
from .rpc.parsing import MAX_RECEIVED_BYTES
from .rpc.replay import Replays
from .rpc.run_service import RunService
from .rpc.server import Handlers, StreamAnswer, UnaryAnswer, Unsupported
from .rpc.watch import Watches
from .settings import Settings
from .store.ledger import Ledger
from .store.opening import open_store, with_files
from .store.port import Store

#: The time zones that a plan or a rung may name.
ZONES = frozenset(available_timezones())

#: How long new calls are held before the connections are told to be going: those who were refused come again.
_HOLD_SECONDS = 0.1

#: How long it takes to tell them.
_TELL_SECONDS = 0.02

#: How long the last answers may take to leave.
_LAST_WORDS_SECONDS = 0.2

_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_RECEIVED_BYTES),
    # Two servers on one port would share its calls in silence.
    ("grpc.so_reuseport", 0),
    # Clients may ping an idle connection, and need not be cut off for it.
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
)


def answers(
    ledger: Ledger, ladder: Ladder, catalogue: Catalogue, now: Callable[[], int]
) -> dict[str, UnaryAnswer | StreamAnswer]:
    """The handlers of the RPCs that are built, by name."""
    worker = Worker()
    exchanges = ExchangeService(ledger, worker, now)
    runs = RunService(ledger, ladder, catalogue, ZONES, now)
    buildings = BuildingService(ladder)
    return {
        "StartRun": runs.start_run,
        "PrepareCall": CallService(ledger, ladder, now).prepare_call,
        "ObserveUsage": runs.observe_usage,
        "FinishRun": runs.finish_run,
        "GetRun": runs.get_run,
        "ListRuns": runs.list_runs,
        "ForkRun": runs.fork_run,
        "ReadLedger": runs.read_ledger,
        "WatchRuns": Watches(ledger, now).watch_runs,
        "CompactExchange": exchanges.compact_exchange,
        "ReplayExchanges": Replays(ledger, worker).replay_exchanges,
        "ConfigureBuilding": buildings.configure_building,
        "GetBuilding": buildings.get_building,
        "ListBuildings": buildings.list_buildings,
    }


class App:
    """A server that is up: where it listens, and how it ends."""

    def __init__(
        self,
        listen: str,
        server: grpc.aio.Server,
        health_service: health.HealthServicer,
        admission: Admission,
    ) -> None:
        self.listen = listen
        self._server = server
        self._health = health_service
        self._admission = admission
        self._hurried = asyncio.Event()

    def hurry(self) -> None:
        """Ends the wait of the drain."""
        self._hurried.set()

    async def drain(self, seconds: float) -> None:
        """Refuses new calls, and gives those under way `seconds` to finish; a second signal ends the wait."""
        await self._health.enter_graceful_shutdown()
        hurried = asyncio.ensure_future(self._hurried.wait())
        idle = asyncio.ensure_future(self._admission.drain())
        await asyncio.wait([hurried, idle], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        self._admission.hold()
        await asyncio.wait([hurried], timeout=min(seconds, _HOLD_SECONDS))
        # What was answered has left; those who watch the health service would stay for good.
        stopped = asyncio.ensure_future(self._server.stop(_LAST_WORDS_SECONDS))
        await asyncio.sleep(_TELL_SECONDS)
        self._admission.part()
        await stopped
        hurried.cancel()
        idle.cancel()


@asynccontextmanager
async def running(settings: Settings, store: Store | None = None) -> AsyncIterator[App]:
    """A server under `settings`, up for the life of the context; over the store they name where none is given.

    Raises AddressRefused, StoreInUse, SchemaTooNew, SchemaTooOld, StoreError or OSError where it can't start.
    """
    listen = check_listen(settings.listen, insecure=settings.insecure)
    # What is opened here is closed at the end, or where the start fails: the last first.
    async with AsyncExitStack() as opened:
        if lock := hold_socket(listen):
            opened.callback(lock.release)
        here = with_files(store, settings.data) if store is not None else await open_store(settings)
        ledger = Ledger(here.store, settings.cache_mebibytes << 20)
        opened.push_async_callback(ledger.close)
        catalogue = packaged_windows()
        ladder = Ladder(here.documents, here.store, ZONES, catalogue, time.time_ns)
        opened.push_async_callback(ladder.close)
        await ladder.mend()
        # The catalogue is read at its first question, which no caller should wait for.
        await asyncio.to_thread(catalogue, "none")

        errors, admission = Errors(), Admission()
        server = grpc.aio.server(options=_OPTIONS)
        # They are asked in this order. The interceptors, the outermost first.
        built = answers(ledger, ladder, catalogue, time.time_ns)
        streams = {"Converse": Conversations(built, errors, admission).converse}
        server.add_generic_rpc_handlers((Handlers(built, streams, [errors, admission]),))
        health_service = health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(health_service, server)
        if settings.reflection == "on" or (settings.reflection == "auto" and is_local(listen)):
            names = [service.full_name for service in SERVICES]
            reflection.enable_server_reflection([*names, HEALTH, reflection.SERVICE_NAME], server)
        server.add_generic_rpc_handlers((Unsupported(),))
        app = App(bind(server, listen), server, health_service, admission)
        health_of_store = StoreHealth(here.store, health_service)
        await health_of_store.look()
        await server.start()
        if not here.store.exclusive:
            await opened.enter_async_context(health_of_store.looking())
        opened.push_async_callback(app.drain, settings.drain_seconds)
        yield app


async def serve(settings: Settings, ready: Callable[[str], None], draining: Callable[[], None]) -> None:
    """Serves until a signal ends it.

    `ready` is called with the address once the server is up, `draining` when it begins to end.
    """
    keep_large_blocks()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, ended.set)
    async with running(settings) as app:
        # What is there by now stays: the collector of cycles need not look through it again and again.
        gc.collect()
        gc.freeze()
        ready(app.listen)
        await ended.wait()
        draining()
        # A second signal does not wait for the calls under way.
        for signum in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(signum, app.hurry)
