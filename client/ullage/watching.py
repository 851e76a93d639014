"""What a watcher of runs is told, and where it goes on when its stream breaks.

Rule (wire.md, WatchRuns): first the present runs, then SnapshotComplete, then every change as the whole run. A
stream that breaks is taken up behind the last event, so nothing is missed; a run may be told twice. What the
server says only to show that it is there is not told.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from .requests import Asked
from .standing import RunStatus, status_of
from .v1 import run_service_pb2


@dataclass(frozen=True, slots=True)
class RunChanged:
    """A run as it stands now.

    Attributes:
        run: how it stands.

    """

    run: RunStatus


@dataclass(frozen=True, slots=True)
class RunRemoved:
    """A run that is no longer there.

    Attributes:
        run_id: the run's id.

    """

    run_id: str


@dataclass(frozen=True, slots=True)
class SnapshotComplete:
    """All runs were told as they stood at the beginning; from here on come changes. It comes once a watch."""


RunEvent = RunChanged | RunRemoved | SnapshotComplete


class Watching:
    """One watch, over as many streams as it takes."""

    def __init__(self, asked: Asked[run_service_pb2.WatchRunsRequest]) -> None:
        self.asked = asked
        self._complete = False

    def heard(self, answer: run_service_pb2.WatchRunsResponse) -> Iterator[RunEvent]:
        """The event that `answer` tells; none where it is a heartbeat, or was told before."""
        self.asked.request.resume_token = answer.resume_token
        kind = answer.WhichOneof("event")
        if kind == "run":
            yield RunChanged(status_of(answer.run))
        elif kind == "removed_run_id":
            yield RunRemoved(answer.removed_run_id)
        elif kind == "snapshot_complete" and not self._complete:
            self._complete = True
            yield SnapshotComplete()
