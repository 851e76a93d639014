"""What a crash, or a disk that failed, leaves behind is put right: at the next start, or by the next command."""

import pytest
from structlog.testing import capture_logs

from tests.ladder.fakes import Crash, World, command, threshold, unavailable
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.settings import Rearm

FORTY = "[context]\nsecond_threshold = 40\n"


async def crash(world: World, step: str, *, count: int = 1, request_id: str = "q") -> None:
    """A server that ends when it comes to `step` for the `count`th time."""
    left = count

    def fail(taken: str) -> Exception | None:
        nonlocal left
        left -= taken == step
        return Crash() if taken == step and not left else None

    world.steps.fail = fail
    with pytest.raises(Crash):
        await world.ladder.configure(threshold(40), request_id, "", validate_only=False)
    world.start()


@pytest.mark.parametrize("before", [None, "", "# mine\n", "[context]\nsecond_threshold = 33\n"])
@pytest.mark.parametrize("step", ["undone", "find", "read", "ask", "asked", "write", "written", "done"])
async def test_a_crash_at_any_step_leaves_all_or_nothing_and_the_same_answer(
    step: str, before: str | None
) -> None:
    whole, world = World(), World()
    if before is not None:
        whole.texts["lab"] = world.texts["lab"] = before
    answer, _ = await whole.ladder.configure(threshold(40), "q", "", validate_only=False)
    await crash(world, step)
    recorded = step in ("asked", "write", "written", "done")
    await world.ladder.mend()
    assert world.journal.open == {}
    assert world.texts.get("lab") == (whole.texts["lab"] if recorded else before)
    assert await world.ladder.configure(threshold(40), "q", "", validate_only=False) == (answer, recorded)
    assert world.texts == whole.texts


@pytest.mark.parametrize("step", ["asked", "write", "written", "done"])
async def test_the_same_command_again_puts_right_what_was_left_even_without_a_start(step: str) -> None:
    world = World()
    await crash(world, step)
    building, replayed = await world.ladder.configure(threshold(40), "q", "", validate_only=False)
    assert replayed
    assert world.texts == {"lab": FORTY}
    assert building.etag == (await world.ladder.building("lab")).etag
    assert world.journal.open == {}


async def test_mending_twice_is_mending_once() -> None:
    world = World()
    await crash(world, "write")
    await world.ladder.mend()
    await world.ladder.mend()
    assert world.steps.done.count("write") == 1
    assert world.texts == {"lab": FORTY}


async def test_a_crash_while_mending_is_mended() -> None:
    for step in ("undone", "read", "write", "written", "done"):
        world = World()
        await crash(world, "write")
        world.steps.fail = lambda taken, step=step: Crash() if taken == step else None  # type: ignore[misc]
        with pytest.raises(Crash):
            await world.ladder.mend()
        await world.start().mend()
        assert world.texts == {"lab": FORTY}
        assert world.journal.open == {}


async def test_a_document_that_is_written_already_is_only_marked() -> None:
    world = World()
    await crash(world, "done")
    await world.ladder.mend()
    assert world.steps.done.count("write") == 1
    assert world.journal.open == {}


async def test_a_document_that_somebody_changed_since_keeps_that_change() -> None:
    world = World()
    await crash(world, "write")
    world.texts["lab"] = "# by hand\n[clock]\nzone = 'UTC'\n"
    await world.ladder.mend()
    assert world.texts["lab"] == f"# by hand\n[clock]\nzone = 'UTC'\n\n{FORTY}"
    assert world.journal.open == {}


async def test_a_hand_edit_that_says_the_same_is_only_marked() -> None:
    world = World()
    await crash(world, "write")
    world.texts["lab"] = "context = {second_threshold = 40} # by hand\n"
    await world.ladder.mend()
    assert world.texts["lab"] == "context = {second_threshold = 40} # by hand\n"
    assert "write" not in world.steps.done
    assert world.journal.open == {}


async def test_all_kinds_of_values_are_carried_out_again() -> None:
    change = command(
        context__rearm=Rearm.PER_WINDOW,
        notices__include_subagents=False,
        clock__zone="UTC",
        models={"a.b": 5},
        reset=("notices.every_steps",),
    )
    world = World()
    world.texts["lab"] = "notices.every_steps = 1\n"
    world.steps.fail = lambda step: Crash() if step == "write" else None
    with pytest.raises(Crash):
        await world.ladder.configure(change, "q", "", validate_only=False)
    world.start()
    world.texts["lab"] += "# by hand\n"
    await world.ladder.mend()
    assert [(each.key, each.value) for each in (await world.ladder.building("lab")).stated] == [
        ("context.rearm", "per_window"),
        ("notices.include_subagents", "false"),
        ("clock.zone", "UTC"),
        ("models.a.b", "5"),
    ]


async def test_a_document_nobody_can_read_stops_no_start() -> None:
    world = World()
    await crash(world, "write")
    world.texts["lab"] = "= broken\n"
    with capture_logs() as logs:
        await world.ladder.mend()
    assert ["line 1, column 1" in log["why"] for log in logs] == [True]
    assert list(world.journal.open) == ["q"]
    assert world.texts["lab"] == "= broken\n"
    world.texts["lab"] = "# sound again\n"
    await world.ladder.mend()
    assert world.journal.open == {}
    assert world.texts["lab"] == f"# sound again\n\n{FORTY}"


async def test_a_command_that_failed_is_carried_out_before_the_next() -> None:
    world = World()
    world.steps.fail = lambda step: unavailable() if step == "write" else None
    with pytest.raises(Refusal) as caught:
        await world.ladder.configure(threshold(40), "q", "", validate_only=False)
    assert caught.value.reason is Reason.STORE_UNAVAILABLE
    world.steps.fail = lambda step: None
    await world.ladder.configure(threshold(50), "", "", validate_only=False)
    await world.start().mend()
    assert "50" in world.texts["lab"]
    assert world.journal.open == {}
    assert (await world.ladder.configure(threshold(40), "q", "", validate_only=False))[1]
    assert "50" in world.texts["lab"]


async def test_a_replay_is_not_answered_while_its_command_cannot_be_carried_out() -> None:
    world = World()
    await crash(world, "write")
    world.steps.fail = lambda step: unavailable() if step == "write" else None
    with pytest.raises(Refusal) as caught:
        await world.ladder.configure(threshold(40), "q", "", validate_only=False)
    assert caught.value.reason is Reason.STORE_UNAVAILABLE
    world.start()
    world.texts["lab"] = "= broken\n"
    with pytest.raises(Refusal) as caught:
        await world.ladder.configure(threshold(40), "q", "", validate_only=False)
    assert caught.value.reason is Reason.CONFIG_UNREADABLE


async def test_what_stays_undone_hinders_no_command_that_puts_the_document_right() -> None:
    world = World()
    await crash(world, "write")
    world.texts["lab"] = '[clock]\nzone = "Mars"\n'
    await world.ladder.configure(command(clock__zone="UTC"), "r", "", validate_only=False)
    assert "UTC" in world.texts["lab"]
    await world.ladder.mend()
    assert world.journal.open == {}
    assert world.texts["lab"] == f'[clock]\nzone = "UTC"\n\n{FORTY}'


async def test_what_is_undone_elsewhere_hinders_nobody() -> None:
    world = World()
    await crash(world, "write")
    world.texts["lab"] = "= broken\n"
    await world.ladder.configure(threshold(50, "zoo"), "", "", validate_only=False)
    assert "50" in world.texts["zoo"]
    assert list(world.journal.open) == ["q"]
