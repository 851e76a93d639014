"""Objects that hold named values: a mapping's keys, or an SDK object's attributes.

Rule: they are read alike, and never changed: what is to be other stands in a copy.
"""

import copy
from collections.abc import Mapping
from typing import Any


def value_of(holder: object, name: str) -> Any:
    """What `holder` has under that name; None where it has nothing."""
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def with_values(holder: Any, fields: Mapping[str, object]) -> Any:
    """A copy of `holder` with these values; what it holds beside is shared."""
    if isinstance(holder, Mapping):
        return {**holder, **fields}
    if callable(getattr(holder, "model_copy", None)):  # pydantic 2 alone knows where it keeps them
        return holder.model_copy(update=fields)
    changed = copy.copy(holder)
    for name, value in fields.items():
        try:
            setattr(changed, name, value)
        except (AttributeError, TypeError):  # frozen: but this copy is ours
            object.__setattr__(changed, name, value)
    return changed
