"""The session context: who the agent is, in which session, and what time it is.

Rule (rules.md 6): a block before the user's message at step 1 of a prompt, which stays; none where the plan names
no agent. Stable lines first, the date last, so that a cached prefix reaches as far as it can. The session's id is
in it while it is not in the window: at first, after a window reset, or where the caller says so.
"""

from collections.abc import Callable

from .call import Call
from .insertion import Insertion, InsertionKind, Lifetime, Placement, estimate_tokens
from .state import State

KEY = "session"

#: The date as people write it, to the minute, from nanoseconds since the epoch and the name of a time zone.
Dates = Callable[[int, str], str]

_SESSION = "\nsession: "


def session_context(run: State, call: Call, dates: Dates, at: int) -> Insertion | None:
    """The block that is due before `call`, None where none is; `at` is the time to tell where it states none."""
    plan = run.plan
    if not plan.agent or call.step != 1 or not call.tail.is_user:
        return None
    known = call.session_id_in_context
    if known is None:
        known = run.memory.session_in_window
    date = dates(at if call.now is None else call.now, plan.settings.clock_zone)
    text = f"<agent-context>\nagent: {plan.agent}\nrole: {'branch' if plan.parent_session_id else 'root'}"
    if plan.parent_session_id:
        text += f"\nparent session: {plan.parent_session_id}"
    if not known:
        text += f"{_SESSION}{plan.session_id}"
    text += f"\ndate: {date}\n</agent-context>"
    return Insertion(
        id=f"{call.turn}/{KEY}",
        keys=(KEY,),
        kind=InsertionKind.SESSION_CONTEXT,
        placement=Placement.BEFORE_TAIL,
        lifetime=Lifetime.DURABLE,
        text=text,
        estimated_tokens=estimate_tokens(text),
    )


def names_session(block: Insertion) -> bool:
    """Whether `block` is a session context that holds the session's id."""
    return block.kind is InsertionKind.SESSION_CONTEXT and _SESSION in block.text
