"""A call that is about to be made, as PrepareCall tells of it."""

from ullage.v1 import insertion_pb2
from ullage.v1.run_service_pb2 import PrepareCallRequest

from ..core.call import Call
from ..core.errors import invalid
from ..core.insertion import Lifetime
from ..core.registry import DEFAULT_PRIORITY, Candidate, Edge
from ..core.tail import Tail, TailRole
from .times import from_duration, from_timestamp


def call_from(request: PrepareCallRequest) -> Call:
    """The call of a request; refused where a value is none of its type's."""
    tail, has = request.tail, request.HasField
    if tail.role not in _ROLES:
        raise invalid("tail.role", f"tail.role is {tail.role}, no value of TailRole")
    return Call(
        turn=request.turn,
        step=request.step,
        tail=Tail(_ROLES[tail.role], tail.is_error, tail.history_has_model_output),
        candidates=tuple(map(_candidate, request.candidates)),
        time_remaining=(
            from_duration("time_remaining", request.time_remaining) if has("time_remaining") else None
        ),
        session_id_in_context=request.session_id_in_context if has("session_id_in_context") else None,
        window_reset=request.window_reset,
        unplaced_ids=tuple(request.unplaced_ids),
        now=from_timestamp("now", request.now) if has("now") else None,
        model=request.model,
        context_tokens=request.context_tokens if has("context_tokens") else None,
    )


def _candidate(said: insertion_pb2.Candidate) -> Candidate:
    priority = said.priority or (0 if said.HasField("priority") else DEFAULT_PRIORITY)
    return Candidate(
        said.id, said.label, _EDGES.get(said.edge), _LIFETIMES.get(said.lifetime), priority, said.text
    )


_ROLES: dict[int, TailRole | None] = {
    insertion_pb2.TAIL_ROLE_UNSPECIFIED: None,
    **{role.value: role for role in TailRole},
}
_EDGES: dict[int, Edge] = {edge.value: edge for edge in Edge}
_LIFETIMES: dict[int, Lifetime] = {lifetime.value: lifetime for lifetime in Lifetime}
