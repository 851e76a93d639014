"""The forms a recording is written in: what one line of each says of a model call; `sessions` has others.

Rule: a form takes the lines it knows by their keys and passes over all others, so that one pass over a file
tells which form it is. No form looks at a provider's words; a usage object is kept as it stands.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from .gathered import Exchanges, Gathered

MAX_TOKENS = 2**53 - 1

#: How many lines that are left out are named.
NAMED = 5

#: The model that Claude Code names where it wrote the reply itself, because a call failed.
_SYNTHETIC = "<synthetic>"

#: Where a response keeps its usage object; the client takes it from there.
_HELD_AS = ("usage", "usage_metadata", "usageMetadata")


@dataclass(frozen=True, slots=True)
class Seen:
    """What one line says of a call: whose it is, and what was reported.

    `run` tells runs in one file apart, `agent` a subagent from its parent (empty), `message` the lines of one
    call from others (empty: the line is a call of its own).
    """

    usage: object
    model: str
    run: str = ""
    agent: str = ""
    message: str = ""
    window: int = 0
    window_assumed: int = 0
    window_reset: bool = False
    exchange: Gathered | None = None


class Places:
    """The lines, or an array's entries, of which something is said: how many, and which the first few are."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[int] = []

    def add(self, at: int) -> None:
        """Another one; they come in order."""
        self.count += 1
        if len(self.first) < NAMED:
            self.first.append(at)


class Format(ABC):
    """The lines of one form, and the calls they tell of."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.taken = 0
        self.repeated = 0
        self.failed = 0
        self.abandoned = 0
        self.sums = 0
        self.passed = Places()

    def offer(self, at: int, item: object) -> None:
        """Takes the value of line `at`, or passes over it."""
        if self.take(item):
            self.taken += 1
        else:
            self.passed.add(at)

    def ended(self) -> None:  # noqa: B027  # most have nothing to do
        """All lines were offered."""

    @abstractmethod
    def take(self, item: object) -> bool:
        """Takes a line's value, if it is of this form; whether it was."""


class UsageLines(Format):
    """Objects with `raw_usage`, one a call, each with what else was known of it."""

    def __init__(self) -> None:
        super().__init__()
        # Of the last line: whether it was marked, and whether a mark on the next one is the same compaction's.
        self._last: dict[tuple[str, str], tuple[bool, bool]] = {}
        self._owed: set[tuple[str, str]] = set()

    def take(self, item: object) -> bool:
        """Takes an object with `raw_usage`."""
        if not isinstance(item, dict) or "raw_usage" not in item:
            return False
        run = word_of(item.get("sequence"))
        agent = (word_of(item.get("agent")) or "subagent") if item.get("is_subagent") is True else ""
        usage = usage_of(item["raw_usage"])
        repeated = item.get("dup_of_prev") is True
        reset = self._reset((run, agent), item.get("compacted_before") is True, repeated, says_nothing(usage))
        if repeated:
            self.repeated += 1
            return True
        self.seen.append(
            Seen(
                usage,
                model_of(item.get("model")),
                run,
                agent,
                word_of(item.get("msg_id")),
                tokens_of(item.get("window")),
                tokens_of(item.get("window_assumed")),
                reset,
            )
        )
        return True

    def _reset(self, whose: tuple[str, str], compacted: bool, repeated: bool, silent: bool) -> bool:
        """Whether this line's call is to tell a reset: once a compaction, with the first call there is after it.

        The mark may stay on behind a call that was aborted; that is the same compaction still.
        """
        marked, still = self._last.get(whose, (False, False))
        if compacted and not still and not (marked and repeated):
            self._owed.add(whose)
        self._last[whose] = (compacted, compacted and (repeated or silent))
        owed = whose in self._owed
        if not repeated:
            self._owed.discard(whose)
        return owed


class Transcript(Format):
    """A Claude Code transcript: an assistant's line for each block of a reply, between records of all kinds."""

    def __init__(self) -> None:
        super().__init__()
        self._reset: set[str] = set()
        self._known: set[str] = set()
        self._exchanges = Exchanges()

    def take(self, item: object) -> bool:
        """Takes an assistant's line; notes the mark of a compaction, and what tools gave for a call."""
        if not isinstance(item, dict):
            return False
        agent = _agent(item)
        if item.get("subtype") == "compact_boundary" or item.get("isCompactSummary") is True:
            self._reset.add(agent)
            return False
        message = item.get("message")
        if isinstance(message, dict) and item.get("type") == "user":
            self._exchanges.results(message)
        if not isinstance(message, dict) or not (item.get("type") == "assistant" or "usage" in message):
            return False
        if item.get("isApiErrorMessage") is True or message.get("model") == _SYNTHETIC:
            # Claude Code's own words where a call failed: a call that is tried again, and no turn.
            self.failed += 1
            return True
        name = word_of(message.get("id"))
        # A late line of a call that was made before the reset is not the first one after it.
        first = not name or name not in self._known
        self._known.add(name)
        reset = first and agent in self._reset
        if reset:
            self._reset.discard(agent)
        usage = usage_of(message.get("usage"))
        exchange = self._exchanges.reply(agent, message, word_of(item.get("uuid")))
        model = model_of(message.get("model"))
        self.seen.append(Seen(usage, model, "", agent, name, window_reset=reset, exchange=exchange))
        return True


class Bare(Format):
    """Usage objects as providers report them, whole responses that hold one, and `null` for no report.

    What Claude Code prints when it ends (`result`) holds the sum over all of its calls, which is no prompt.
    """

    def take(self, item: object) -> bool:
        """Takes an object that may be or hold a usage object, or `null`."""
        if item is not None and not (isinstance(item, dict) and _looks_like_usage(item)):
            return False
        if isinstance(item, dict) and item.get("type") == "result":
            self.sums += 1
            return True
        self.seen.append(Seen(item, model_of(item.get("model")) if isinstance(item, dict) else ""))
        return True


def _agent(item: dict[str, object]) -> str:
    """The subagent a transcript's record belongs to; empty for the session's own."""
    named = word_of(item.get("agentId")) or word_of(item.get("parent_tool_use_id"))
    return named or ("subagent" if item.get("isSidechain") is True else "")


def _looks_like_usage(item: dict[str, object]) -> bool:
    """Whether an object may be a usage object (some key holds a number, or nothing), or hold one."""
    return (
        not item
        or any(value is None or type(value) in (int, float) for value in item.values())
        or any(isinstance(item.get(name), dict) for name in _HELD_AS)
    )


def says_nothing(usage: object) -> bool:
    """Whether no count in a usage object is above 0."""
    left = [usage]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, int | float) and value > 0:
            return False
    return True


def usage_of(value: object) -> object:
    """A usage object; None for anything else."""
    return value if isinstance(value, dict) else None


def model_of(value: object) -> str:
    """A model's name; empty where none is."""
    name = word_of(value)
    return "" if name == _SYNTHETIC else name


def word_of(value: object) -> str:
    """A string that can be sent; empty for anything else."""
    if not isinstance(value, str) or len(value) > 256:
        return ""
    return value if value.isprintable() else ""


def tokens_of(value: object) -> int:
    """A stated number of tokens; 0 where none is stated."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= MAX_TOKENS:
        return 0
    return value
