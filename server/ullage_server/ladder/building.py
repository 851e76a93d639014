"""A building as it is told: what its own rung states, and what a run there would freeze now.

Rule (wire.md, Building): `stated` holds this rung's keys only; `settled` holds every key with its source, and
the window of each model that a rung up to the city names, the nearest rung's word.
"""

from collections.abc import Sequence

from ..core.kept import Kept
from ..core.plan import Settled, layers, settle
from ..core.rung import MODELS, Rung
from ..core.settings import KEYS, value_text


class Building(Kept, frozen=True):
    """A rung of the ladder as told to a caller.

    `etag` fits this state of the document; `update_time` is when it was written, in nanoseconds since the epoch,
    0 for a city that has no document.
    """

    address: str
    stated: tuple[Settled, ...]
    settled: tuple[Settled, ...]
    etag: str
    update_time: int


def describe(address: str, rungs: Sequence[Rung], etag: str, update_time: int) -> Building:
    """The building at `address` by its `rungs`, the nearest first; those without a document are left out."""
    own = next((rung for rung in rungs if rung.address == address), Rung(address, {}, {}))
    stated = [Settled(name, value_text(own.values[name]), own.source) for name in KEYS if name in own.values]
    _, settled = settle(layers(rungs))
    return Building(address, (*stated, *_windows([own])), (*settled, *_windows(rungs)), etag, update_time)


def _windows(rungs: Sequence[Rung]) -> list[Settled]:
    nearest: dict[str, Settled] = {}
    for rung in reversed(rungs):
        for model, window in rung.models.items():
            nearest[model] = Settled(f"{MODELS}.{model}", str(window), rung.source)
    return [nearest[model] for model in sorted(nearest)]
