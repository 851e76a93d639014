"""The notice: a line on how full the window is, at regular steps of a prompt.

Rule (rules.md 4): it tells of the next prompt as projected, against the coming call's window, in compact counts
and a whole percent, all rounded half up. Nothing is said where either is unknown or the reading is stale. It comes
at steps 1, 1 + n, 1 + 2n, ... of a prompt, at step 1 only before a user message, and never with the text that the
last notice of this prompt had. It stands at the tail and stays there.
"""

from .call import Call
from .insertion import Insertion, InsertionKind, Lifetime, Placement, estimate_tokens
from .state import State

KEY = "notice"


def notice(run: State, call: Call, window: int) -> Insertion | None:
    """The notice that is due before `call`, against `window` tokens (0: unknown); None where none is."""
    settings, reading = run.plan.settings, run.reading
    every = settings.notices_every_steps
    if not every or (call.step - 1) % every or (call.step == 1 and not call.tail.is_user):
        return None
    if run.plan.subagent and not settings.notices_include_subagents:
        return None
    if reading is None or reading.stale or not window:
        return None
    used = reading.used_tokens if reading.projected_tokens is None else reading.projected_tokens
    percent = (200 * used + window) // (2 * window)
    text = f"Context window: {compact(used)} / {compact(window)} tokens used ({percent}%)"
    if (run.memory.notice_prompt, run.memory.notice_text) == (call.prompt, text):
        return None
    return Insertion(
        id=f"{call.turn}/{KEY}",
        keys=(KEY,),
        kind=InsertionKind.NOTICE,
        placement=Placement.AFTER_TAIL,
        lifetime=Lifetime.DURABLE,
        text=text,
        estimated_tokens=estimate_tokens(text),
    )


def compact(tokens: int) -> str:
    """A count as people say it: below 1000 as it is, then in `k`, then in `M` with at most one decimal."""
    thousands = (tokens + 500) // 1000
    if tokens < 1000:
        return str(tokens)
    if thousands < 1000:
        return f"{thousands}k"
    whole, tenths = divmod((tokens + 50_000) // 100_000, 10)
    return f"{whole}.{tenths}M" if tenths else f"{whole}M"
