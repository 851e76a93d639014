"""Why a command is refused: one exception, told apart by its reason.

Rule (wire.md, Errors): every error says what was being done, to what, what is wrong, and what to do now.
Core raises `Refusal`; the interceptor of errors turns it into a `google.rpc.Status`, and adds what was being done:
the RPC's own action.
"""

from enum import Enum


class Reason(Enum):
    """The reasons of `ullage.v1.ErrorReason`, without their prefix."""

    ARGUMENT_INVALID = 1
    THRESHOLD_OUT_OF_DOMAIN = 2
    RUN_NOT_FOUND = 3
    BUILDING_NOT_FOUND = 4
    RUN_ALREADY_EXISTS = 5
    RUN_FINISHED = 6
    TURN_ALREADY_RECORDED = 7
    TURN_OUT_OF_ORDER = 8
    WAVE_INCOMPLETE = 9
    EXCHANGE_ALREADY_COMPACTED = 10
    FORK_PAST_END = 11
    FORK_BEFORE_ORIGIN = 12
    REQUEST_ID_REUSED = 13
    CONFIG_CHANGED = 14
    CONFIG_UNREADABLE = 15
    UNAUTHENTICATED = 16
    NOT_PERMITTED = 17
    MESSAGE_TOO_LARGE = 18
    OVERLOADED = 19
    STORE_UNAVAILABLE = 20
    DEADLINE_PASSED = 21
    DRAINING = 22
    RECORD_UNKNOWN = 23
    UNSUPPORTED = 24
    INTERNAL = 25


class Refusal(Exception):  # it refuses; nothing broke
    """A command that is not carried out; nothing of it is recorded.

    `message` says what is wrong and what is right, `subject` what the command was about, `recovery` what to
    do now. `field` is the dotted name of the request's field at fault, empty where no single field is.
    None of them ever holds a secret, a path or a driver's text.
    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        subject: str,
        recovery: str,
        field: str = "",
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.subject = subject
        self.recovery = recovery
        self.field = field


def invalid(field: str, message: str, *, recovery: str = "") -> Refusal:
    """The refusal of one field's value: ARGUMENT_INVALID with that field named."""
    return Refusal(
        Reason.ARGUMENT_INVALID,
        message,
        subject=field,
        recovery=recovery or f"correct {field} and send the request again",
        field=field,
    )
