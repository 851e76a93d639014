"""A window reset: the history was compacted or cleared, and the next call is the first one built from it.

Rule (rules.md 1, 3 and 6): it counts once a turn. It makes the reading stale, puts the session's id out of the
window and, where the run rearms per window, takes back what has sounded. Told before a call it takes effect at
once, and is taken back where the same turn is prepared again without it.
"""

from msgspec.structs import replace

from .gauge import Reading, Sounded
from .settings import Rearm
from .state import State, Undo


def counts(run: State, turn: int) -> bool:
    """Whether a reset told for `turn` is a new one."""
    return run.last_reset_turn != turn


def reset(run: State) -> tuple[Sounded, Reading | None]:
    """What has sounded and the reading, once the window of `run` is reset."""
    rearms = run.plan.settings.context_rearm is Rearm.PER_WINDOW
    stale = None if run.reading is None else replace(run.reading, stale=True)
    return Sounded.NOTHING if rearms else run.sounded, stale


def told(run: State, turn: int, is_reset: bool) -> State:
    """`run` before the call of `turn`, for which a reset is told, or not: opened, taken back, or as it was."""
    if is_reset and counts(run, turn):
        undo = Undo(
            run.last_reset_turn,
            run.sounded,
            run.reading is not None and run.reading.stale,
            run.memory.session_in_window,
        )
        sounded, reading = reset(run)
        return replace(
            run,
            sounded=sounded,
            reading=reading,
            last_reset_turn=turn,
            window_epoch=run.window_epoch + 1,
            memory=replace(run.memory, session_in_window=False, undo=undo),
        )
    undone = run.memory.undo
    if is_reset or counts(run, turn) or undone is None:
        return run
    return replace(
        run,
        # What sounded since has sounded.
        sounded=max(run.sounded, undone.sounded),
        reading=None if run.reading is None else replace(run.reading, stale=undone.stale),
        last_reset_turn=undone.last_reset_turn,
        window_epoch=run.window_epoch - 1,
        memory=replace(
            run.memory,
            session_in_window=run.memory.session_in_window or undone.session_in_window,
            undo=None,
        ),
    )
