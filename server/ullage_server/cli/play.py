"""A recorded run, told to a server call by call, as the harness that made it would have.

Rule: each call is a turn, with what its provider reported, untouched. The window is the one stated on the command
line, else the recording's (and follows it where it changes), else what the server finds for the model, which is
told again where it changes. Before each call the server is asked what the model should hear: the calls are steps
of one prompt, and of a new one behind a reset. A report the server refuses is shown as such, and the run goes on.
Where the recording holds a call's whole exchange, it is compacted behind the report.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from ullage import ArgumentInvalid, AsyncClient, AsyncRun, Insertion, MessageTooLarge, Observation

from .recordings import Call, RecordedRun

#: What stands for the messages that a recording does not hold.
_PROMPT = {"role": "user", "content": "..."}
_STEP = (
    {"role": "assistant", "content": None, "tool_calls": [{"id": "call"}]},
    {"role": "tool", "tool_call_id": "call", "content": "..."},
)


@dataclass(frozen=True, slots=True)
class Stated:
    """What the command line states: a `window` of None and a `model` of "" leave it to the recording."""

    window: int | None
    model: str
    threshold: int | None


@dataclass(frozen=True, slots=True)
class Played:
    """One call and what came of it: the server's answer, or why it refused the report.

    `insertions` is what was said before it, but for the reminders that were shown with the report before;
    `dropped_bytes` what was cut out of its exchange, None where the recording holds none that is whole.
    """

    turn: int
    call: Call
    told_model: str
    answer: Observation | None
    insertions: tuple[Insertion, ...] = ()
    refusal: str = ""
    dropped_bytes: int | None = None

    @property
    def read(self) -> bool:
        """Whether this call's usage was read."""
        return (
            self.answer is not None and self.answer.reading is not None and self.answer.reading.turn == self.turn
        )


async def start(client: AsyncClient, run: RecordedRun, stated: Stated, labels: Mapping[str, str]) -> AsyncRun:
    """The run, started on the server."""
    # A window of 0 states none, and would be looked up by the model's name.
    return await client.start_run(
        model="" if stated.window == 0 else stated.model or run.model,
        context_tokens=run.window if stated.window is None else stated.window,
        second_threshold=stated.threshold,
        labels=labels,
    )


async def play(started: AsyncRun, run: RecordedRun, stated: Stated) -> AsyncIterator[Played]:
    """Each of the run's calls with its answer, in order."""
    model, window = stated.model or run.model, run.window
    history: list[object] = [_PROMPT]
    for turn, call in enumerate(run.calls, 1):
        told_model, told_window = "", None
        if not stated.model and call.model not in ("", model):
            told_model = model = call.model
        if stated.window is not None:
            # Of a model that is told alone the window would be looked up, and overrule the one that is stated.
            told_window = stated.window if told_model else None
        elif call.window not in (0, window):
            told_window = window = call.window
        elif window and told_model:
            told_window = window
        answer, insertions, refusals = None, tuple[Insertion, ...](), []
        if call.window_reset:
            history = [_PROMPT]
        try:
            prepared = await started.prepare(
                history,
                turn=turn,
                window_reset=call.window_reset,
                model=told_model,
                context_tokens=told_window,
            )
            insertions = tuple(one for one in prepared.insertions if one.kind not in ("usage", "handover"))
            history = [*prepared.history, *_STEP]
            answer = await started.observe(
                call.usage, turn=turn, window_reset=call.window_reset, model=told_model, context_tokens=told_window
            )
        except ArgumentInvalid as error:
            refusals.append(error.message)
        except (TypeError, ValueError) as error:
            refusals.append(str(error))
        dropped = None
        if call.exchange is not None and call.exchange.is_whole():
            try:
                dropped = (await started.compact(call.exchange.messages(), turn=turn)).dropped_bytes
            except (ArgumentInvalid, MessageTooLarge) as error:
                refusals.append(f"its exchange: {error.message}")
            except (TypeError, ValueError) as error:
                refusals.append(f"its exchange: {error}")
        yield Played(turn, call, told_model, answer, insertions, "; ".join(refusals), dropped)
