"""Playing a recorded run: what each call tells the server of its model and window."""

from typing import Any, cast

import pytest

from tests.cli.recorded import reading, usage_line, used
from ullage import ArgumentInvalid, AsyncRun, Observation, PreparedCall, Sounded
from ullage_server.cli.play import Played, Stated, play

SILENT = Observation(None, None, Sounded.NOTHING, replayed=False)
FREE = Stated(window=None, model="", threshold=None)


class Listener:
    """A run that keeps what it is told, and refuses the turns it is told to refuse."""

    def __init__(self, refused: dict[int, Exception] | None = None) -> None:
        self.told: list[tuple[str, int | None]] = []
        self.resets: list[int] = []
        self.prepared: list[tuple[int, bool, str, int | None]] = []
        self._refused = refused or {}

    async def prepare(
        self, messages: list[Any], *, turn: int, window_reset: bool, model: str, context_tokens: int | None
    ) -> PreparedCall:
        self.prepared.append((len(messages), window_reset, model, context_tokens))
        return PreparedCall(turn, 1, messages, messages, ())

    async def observe(
        self, usage: object, *, turn: int, window_reset: bool, model: str, context_tokens: int | None
    ) -> Observation:
        self.told.append((model, context_tokens))
        if window_reset:
            self.resets.append(turn)
        if turn in self._refused:
            raise self._refused[turn]
        return SILENT


async def played(listener: Listener, stated: Stated, *lines: Any) -> list[Played]:
    (run,) = reading(*lines).runs
    return [each async for each in play(cast(AsyncRun, listener), run, stated)]


async def test_a_recordings_window_follows_where_it_changes() -> None:
    listener = Listener()
    windows = [None, 1000, 1000, 2000, 0]
    await played(listener, FREE, *(usage_line(used(1), window=window) for window in windows))
    assert listener.told == [("", None), ("", None), ("", None), ("", 2000), ("", None)]


async def test_without_a_window_a_new_model_is_told_alone_so_that_its_window_is_found() -> None:
    listener = Listener()
    await played(listener, FREE, *(usage_line(used(1), model=model) for model in ("", "a", "b", "b", "a")))
    assert listener.told == [("", None), ("", None), ("b", None), ("", None), ("a", None)]


async def test_with_the_recordings_window_a_new_model_keeps_it() -> None:
    listener = Listener()
    await played(listener, FREE, *(usage_line(used(1), model=model, window=1000) for model in ("a", "b")))
    assert listener.told == [("", None), ("b", 1000)]


@pytest.mark.parametrize("window", [500, 0])
async def test_a_window_stated_on_the_command_line_holds_for_all_calls(window: int) -> None:
    listener = Listener()
    lines = [usage_line(used(1), model="a", window=1000), usage_line(used(1), model="b", window=2000)]
    await played(listener, Stated(window=window, model="", threshold=None), *lines)
    assert listener.told == [("", None), ("b", window)]


async def test_a_model_stated_on_the_command_line_holds_for_all_calls() -> None:
    listener = Listener()
    lines = [usage_line(used(1), model="a"), usage_line(used(1), model="b")]
    await played(listener, Stated(window=None, model="c", threshold=None), *lines)
    assert listener.told == [("", None), ("", None)]


async def test_a_refused_report_is_shown_and_the_run_goes_on() -> None:
    listener = Listener({2: ArgumentInvalid("too large"), 3: TypeError("no usage")})
    turns = await played(listener, FREE, *(usage_line(used(1)) for _ in range(4)))
    assert [(each.turn, each.refusal, each.answer is None) for each in turns] == [
        (1, "", False),
        (2, "too large", True),
        (3, "no usage", True),
        (4, "", False),
    ]


async def test_a_reset_is_told_with_its_turn() -> None:
    listener = Listener()
    await played(listener, FREE, usage_line(used(9)), usage_line(used(1), compacted_before=True))
    assert listener.resets == [2]


async def test_each_call_is_prepared_as_a_step_of_one_prompt_and_of_a_new_one_behind_a_reset() -> None:
    listener = Listener()
    lines = [usage_line(used(9)), usage_line(used(9), model="b"), usage_line(used(1), compacted_before=True)]
    await played(listener, Stated(window=500, model="", threshold=None), *lines)
    assert listener.prepared == [(1, False, "", None), (3, False, "b", 500), (1, True, "m", 500)]
