"""The folded states of the runs used last: bounded, in front of the store, never the truth."""

from collections import OrderedDict

from ..core.fold import State


class StateCache:
    """At most `size` states by run id; the one unused for longest goes first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._states: OrderedDict[str, State] = OrderedDict()

    def get(self, run_id: str) -> State | None:
        """The cached state of the run, which is now the one used last; None where there is none."""
        state = self._states.get(run_id)
        if state is not None:
            self._states.move_to_end(run_id)
        return state

    def put(self, state: State) -> None:
        """Keeps `state` as its run's."""
        self._states[state.run_id] = state
        self._states.move_to_end(state.run_id)
        if len(self._states) > self._size:
            self._states.popitem(last=False)

    def drop(self, run_id: str) -> None:
        """Forgets the run's state."""
        self._states.pop(run_id, None)
