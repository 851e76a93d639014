"""The folded states of the runs used last: bounded, in front of the store, never the truth."""

from collections import OrderedDict

from ..core.state import State

#: What a state without texts of the caller's takes at most, in bytes (measured: about 800).
STATE_BYTES = 1024

#: What a character of such a text may take, in bytes.
_CHAR_BYTES = 4


class StateCache:
    """States by run id that together take at most about `size` bytes; those unused for longest go first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._held = 0
        self._states: OrderedDict[str, State] = OrderedDict()

    def get(self, run_id: str) -> State | None:
        """The cached state of the run, which is now the one used last; None where there is none."""
        state = self._states.get(run_id)
        if state is not None:
            self._states.move_to_end(run_id)
        return state

    def put(self, state: State) -> None:
        """Keeps `state` as its run's."""
        before = self._states.get(state.run_id)
        # A run's plan never changes; what it takes changes with its end alone.
        if before is None or before.outcome != state.outcome:
            self._held += _weight(state) - (_weight(before) if before else 0)
        self._states[state.run_id] = state
        self._states.move_to_end(state.run_id)
        while self._held > self._size:
            _, oldest = self._states.popitem(last=False)
            self._held -= _weight(oldest)

    def drop(self, run_id: str) -> None:
        """Forgets the run's state."""
        state = self._states.pop(run_id, None)
        if state is not None:
            self._held -= _weight(state)


def _weight(state: State) -> int:
    """About what `state` takes, in bytes."""
    texts = len(state.outcome) + sum(len(key) + len(value) for key, value in state.plan.labels.items())
    return STATE_BYTES + texts * _CHAR_BYTES
