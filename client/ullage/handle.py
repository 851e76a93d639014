"""What a caller holds of a run that goes on, and how its turns are counted.

Rule: turns are numbered from 1; the next one is the one after the last accepted. The count goes on only when the
answer is there, so a report that failed is sent again under its number. A report whose answer was lost may
have been recorded: if the caller then goes on with the next report instead, the number is found taken and is
left to the first. Reports of one handle go one after the other, so that no two of them take the same number.
"""

from collections.abc import Sequence

import grpc

from .answers import Observation, observation_of
from .errors import TurnAlreadyRecorded, UllageError
from .preparing import Given
from .reminders import Reminders
from .standing import plan_of, settled_of
from .v1 import plan_pb2, run_pb2, run_service_pb2

#: Codes that leave it open whether the request was carried out.
_IN_DOUBT = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.INTERNAL,
    }
)


class RunHandle:
    """What both kinds of run have. Changed under the run's lock alone.

    Attributes:
        run_id: the run's id.
        plan: the plan as frozen at the run's start; it never changes.
        settled: for each key of the ladder, and for the window, the frozen value and its source; empty in a run
            that was resumed.
        replayed: whether the start had been made before, so that this run may have turns already.
        reminders: the registered reminders, which speak in the calls that `prepare` prepares.

    """

    def __init__(self, run: run_pb2.Run, settled: Sequence[plan_pb2.Settled] = (), replayed: bool = False) -> None:
        self.run_id = run.run_id
        self.plan = plan_of(run.plan)
        self.settled = tuple(map(settled_of, settled))
        self.replayed = replayed
        self._last_turn = max(run.last_turn, run.origin.through_turn)
        self._in_doubt: int | None = None
        self.reminders = Reminders()
        self._given = Given()

    @property
    def last_turn(self) -> int:
        """The last turn that the service accepted; 0 where it has none. A branch begins at its mother's."""
        return self._last_turn

    @property
    def _turn_of_exchange(self) -> int:
        """The turn that an exchange is of where nothing is said: the last reported, its answer lost or not."""
        turn = self._last_turn if self._in_doubt is None else self._in_doubt
        if turn == 0:
            raise ValueError("no turn of this run was observed yet; say with turn= which one the exchange is of")
        return turn

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.run_id!r}, last turn {self._last_turn}>"

    def _observed(self, answer: run_service_pb2.ObserveUsageResponse) -> Observation:
        """The answer to a report, whose reminder waits for the next call."""
        observation = observation_of(answer)
        if observation.reminder is not None:
            self._given.sounded(observation.reminder)
        return observation

    def _accepted(self, turn: int) -> None:
        self._last_turn = max(self._last_turn, turn)
        if self._in_doubt == turn:
            self._in_doubt = None

    def _sent(self, turn: int) -> bool:
        """Notes that `turn` is being sent; whether an earlier report of it is still without an answer."""
        doubted = self._in_doubt == turn
        self._in_doubt = turn
        return doubted

    def _refused(self, turn: int, error: UllageError, *, doubted: bool) -> bool:
        """Notes that `turn` failed; whether its number had gone to an earlier report whose answer was lost."""
        if doubted and isinstance(error, TurnAlreadyRecorded):
            self._accepted(turn)
            return True
        if not doubted and error.code not in _IN_DOUBT:
            self._in_doubt = None
        return False
