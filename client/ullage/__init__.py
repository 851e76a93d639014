"""The Python client of Ullage, which tells how full a model's window is, and the agent what it must hear of it.

`Client` and `AsyncClient` call a server; `start_run` gives a `Run`, whose `observe` takes each model call's usage
and answers with an `Observation`. How a run stands is a `RunStatus`, a rung of the ladder a `Building`. The
wire's own messages are in `ullage.v1`.
"""

from .answers import Insertion, Observation, Reading, Sounded
from .async_client import AsyncClient
from .async_run import AsyncRun
from .client import Client
from .errors import (
    ArgumentInvalid,
    BuildingNotFound,
    ConfigChanged,
    ConfigUnreadable,
    DeadlinePassed,
    Draining,
    ExchangeAlreadyCompacted,
    ForkBeforeOrigin,
    ForkPastEnd,
    Internal,
    MessageTooLarge,
    NotPermitted,
    Overloaded,
    RecordUnknown,
    RequestIdReused,
    RunAlreadyExists,
    RunFinished,
    RunNotFound,
    ServerUnreachable,
    StoreUnavailable,
    ThresholdOutOfDomain,
    TurnAlreadyRecorded,
    TurnOutOfOrder,
    UllageError,
    Unauthenticated,
    Unsupported,
    WaveIncomplete,
)
from .exchanges import CompactedExchange, TextVerdict
from .preparing import PreparedCall
from .reminders import Edge, Moment, Reminders
from .replays import DroppedHalfWave, ReplayedExchange
from .requests import BuildingChanges, StatedPlan
from .run import Run
from .run_ids import new_run_id
from .standing import Building, Origin, Plan, RunStatus, Settled
from .usage import Usage
from .watching import RunChanged, RunRemoved, SnapshotComplete

__all__ = [
    "ArgumentInvalid",
    "AsyncClient",
    "AsyncRun",
    "Building",
    "BuildingChanges",
    "BuildingNotFound",
    "Client",
    "CompactedExchange",
    "ConfigChanged",
    "ConfigUnreadable",
    "DeadlinePassed",
    "Draining",
    "DroppedHalfWave",
    "Edge",
    "ExchangeAlreadyCompacted",
    "ForkBeforeOrigin",
    "ForkPastEnd",
    "Insertion",
    "Internal",
    "MessageTooLarge",
    "Moment",
    "NotPermitted",
    "Observation",
    "Origin",
    "Overloaded",
    "Plan",
    "PreparedCall",
    "Reading",
    "RecordUnknown",
    "Reminders",
    "ReplayedExchange",
    "RequestIdReused",
    "Run",
    "RunAlreadyExists",
    "RunChanged",
    "RunFinished",
    "RunNotFound",
    "RunRemoved",
    "RunStatus",
    "ServerUnreachable",
    "Settled",
    "SnapshotComplete",
    "Sounded",
    "StatedPlan",
    "StoreUnavailable",
    "TextVerdict",
    "ThresholdOutOfDomain",
    "TurnAlreadyRecorded",
    "TurnOutOfOrder",
    "UllageError",
    "Unauthenticated",
    "Unsupported",
    "Usage",
    "WaveIncomplete",
    "new_run_id",
]
