"""The session files of Codex and pi: what their records say of a model call.

Rule: a form takes the records it knows by their keys, as in `formats`, and a usage object is kept as it stands.
Codex tells the counts of the last call in an event of its own, again and again while nothing changes; pi keeps
them with the reply. pi's entries are a tree: what was said and then gone back on is no call of this run.
"""

from dataclasses import replace

from .formats import Format, Seen, model_of, says_nothing, tokens_of, usage_of, word_of


class CodexRollout(Format):
    """A rollout of Codex: records of a `type` with a `payload`; a `token_count` for each call, and repeats."""

    def __init__(self) -> None:
        super().__init__()
        self._model = ""
        self._total: object = None
        self._reset = False

    def take(self, item: object) -> bool:
        """Takes a `token_count` that tells of a new call; notes the model, and that the history was compacted."""
        if not isinstance(item, dict) or not isinstance(item.get("payload"), dict):
            return False
        kind, payload = item.get("type"), item["payload"]
        if kind == "turn_context":
            self._model = model_of(payload.get("model")) or self._model
        if kind == "compacted" or (kind == "event_msg" and payload.get("type") == "context_compacted"):
            self._reset = True
        if kind != "event_msg" or payload.get("type") != "token_count":
            return False
        info = payload.get("info")
        if not isinstance(info, dict):  # it tells of the limits of the account alone
            return True
        total = info.get("total_token_usage")
        if total is not None and total == self._total:
            self.repeated += 1
            return True
        self._total = total
        self.seen.append(
            Seen(
                usage_of(info.get("last_token_usage")),
                self._model,
                window=tokens_of(info.get("model_context_window")),
                window_reset=self._reset,
            )
        )
        self._reset = False
        return True


class PiSession(Format):
    """A session of pi: entries that each name the one before them, by `id` and `parentId`.

    The first version of the format has no names: each entry stands behind the last.
    """

    def __init__(self) -> None:
        super().__init__()
        self._before: dict[str, str] = {}
        self._last = ""
        self._compactions: set[str] = set()
        self._replies: dict[str, Seen] = {}

    def take(self, item: object) -> bool:
        """Takes the entry of a reply; notes where each entry stands, and where the history was compacted."""
        if not isinstance(item, dict):
            return False
        name = word_of(item.get("id")) or f"entry {len(self._before)}"
        self._before[name] = word_of(item["parentId"]) if "parentId" in item else self._last
        self._last = name
        if item.get("type") == "compaction":
            self._compactions.add(name)
        message = item.get("message")
        if not isinstance(message, dict) or message.get("role") != "assistant":
            return False
        ended = message.get("stopReason")
        if not isinstance(ended, str):
            return False
        usage = usage_of(message.get("usage"))
        if ended == "error" or (ended == "aborted" and says_nothing(usage)):
            self.failed += 1
        elif name in self._replies:
            self.repeated += 1
        else:
            self._replies[name] = Seen(usage, model_of(message.get("model")))
        return True

    def ended(self) -> None:
        """The calls are those on the way from the first entry to the last."""
        way: dict[str, None] = {}
        name = self._last
        while name in self._before and name not in way:
            way[name] = None
            name = self._before[name]
        reset = False
        for entry in reversed(way):
            reset = reset or entry in self._compactions
            if reply := self._replies.get(entry):
                self.seen.append(replace(reply, window_reset=reset))
                reset = False
        self.abandoned = len(self._replies) - len(self.seen)
