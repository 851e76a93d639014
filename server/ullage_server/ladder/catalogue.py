"""The windows of models that nobody stated, from the packaged snapshot of genai-prices.

Rule (rules.md 2): the catalogue is the last to be asked, and says nothing rather than something near. A name is
looked up as people state it: the bare name, behind a gateway's or provider's prefix, or as Bedrock spells it.
Entries of one name that differ give the smaller window: a reminder too early does less harm than one too late.

The snapshot is what the installed library carries; nothing is fetched. Its own lookups remember every name they
were ever asked for, so only its data and the matchers in it are used, behind a bounded memory of ours.
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from ..core.domain import MAX_TOKENS
from ..core.plan import Catalogue

if TYPE_CHECKING:
    from genai_prices.types import Provider

_REMEMBERED = 1024


def packaged_windows() -> Catalogue:
    """The catalogue of the installed snapshot.

    The first question loads it, which takes a third of a second: ask it once in a thread before serving.
    """
    return lru_cache(_REMEMBERED)(_window)


def _window(model: str) -> int | None:
    name = model.strip().lower()
    # A suffix in brackets is a harness's own and names a variant, often of another window.
    if not name or "[" in name:
        return None
    found = next(_windows(name), None)
    return found if found is not None and 0 < found <= MAX_TOKENS else None


def _windows(name: str) -> Iterator[int]:
    """What the snapshot says of `name`, the surest first."""
    head, rest = "", name
    while True:
        for provider in _providers():
            if _serves(provider, head, rest) and (found := provider.find_model(rest)) and found.context_window:
                yield found.context_window
        if "/" not in rest:
            break
        head, _, rest = rest.partition("/")
    by_id = _by_id()
    for known in (name, rest):
        if known in by_id:
            yield by_id[known]


def _serves(provider: "Provider", head: str, name: str) -> bool:
    """Whether `name` is to be looked up at `provider`: `head` names it, or else the name itself tells it."""
    if head and (provider.id == head or (provider.provider_match and provider.provider_match.is_match(head))):
        return True
    if provider.id == "aws":
        return "." in name and ":" in name
    return provider.model_match is not None and provider.model_match.is_match(name)


def _providers() -> "list[Provider]":
    from genai_prices.data import providers

    return providers


@cache
def _by_id() -> dict[str, int]:
    """The smallest window of each model by its whole id, and by the id's part behind the last slash."""
    windows: dict[str, int] = {}
    for provider in _providers():
        for model in provider.models:
            if model.context_window:
                for name in {model.id.lower(), model.id.lower().rpartition("/")[2]}:
                    windows[name] = min(model.context_window, windows.get(name, model.context_window))
    return windows
