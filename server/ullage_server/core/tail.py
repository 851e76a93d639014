"""What stands last in a request.

Rule (rules.md 7): the tail is the last message of the request that is no insertion of ours; what may be said, and
where, goes by it. An empty history has none.
"""

from enum import Enum

from msgspec import Struct


class TailRole(Enum):
    """Who wrote the tail; numbered as `ullage.v1.TailRole`."""

    USER = 1
    ASSISTANT = 2
    TOOL_RESULT = 3


class Tail(Struct, frozen=True):
    """The tail: `role` None where the history is empty; `is_error` of a tool's result."""

    role: TailRole | None
    is_error: bool
    history_has_model_output: bool

    @property
    def is_user(self) -> bool:
        """Whether the user's words stand last."""
        return self.role is TailRole.USER

    @property
    def is_failed_tool(self) -> bool:
        """Whether a tool's error stands last."""
        return self.role is TailRole.TOOL_RESULT and self.is_error
