import asyncio
import gc

import pytest

from tests.ladder.fakes import World, command, threshold, unavailable
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.plan import Settled
from ullage_server.core.rung import MAX_NAMED, Command
from ullage_server.core.settings import Rearm
from ullage_server.ladder.building import Building
from ullage_server.ladder.document import MAX_DOCUMENT_BYTES


@pytest.fixture
def world() -> World:
    return World()


async def configure(
    world: World, change: Command, request_id: str = "", etag: str = "", *, validate_only: bool = False
) -> tuple[Building, bool]:
    return await world.ladder.configure(change, request_id, etag, validate_only)


async def refused(world: World, change: Command, reason: Reason, request_id: str = "", etag: str = "") -> Refusal:
    with pytest.raises(Refusal) as caught:
        await configure(world, change, request_id, etag)
    assert caught.value.reason is reason
    assert caught.value.recovery
    return caught.value


async def test_a_command_is_written_and_answered(world: World) -> None:
    world.texts["lab"] = "# mine\n"
    building, replayed = await configure(world, threshold(40))
    assert not replayed
    assert world.texts == {"lab": "# mine\n\n[context]\nsecond_threshold = 40\n"}
    assert building.stated == (Settled("context.second_threshold", "40", "lab"),)
    assert building.update_time == 7
    now = await world.ladder.building("lab")
    assert (now.etag, now.stated, now.settled) == (building.etag, building.stated, building.settled)
    assert world.journal.kept == {}


@pytest.mark.parametrize(
    "change",
    [
        threshold(30),
        threshold(91),
        threshold(-1),
        command(notices__every_steps=-1),
        command(clock__zone="Mars/Olympus"),
        command(context__finishing_act="two words"),
        command(models={"": 5}),
        command(models={"m": 0}),
        command(models={"m\n": 5}),
        command(reset=("context.first_threshold",)),
        command(notices__every_steps=6, reset=("notices.every_steps",)),
        command(models={"m": 5}, reset=("models",)),
        command(models={"m": 5}, reset=("models.m",)),
        threshold(40, "Lab"),
    ],
)
async def test_a_wrong_command_writes_nothing(world: World, change: Command) -> None:
    with pytest.raises(Refusal):
        await configure(world, change, "q")
    assert world.texts == {}
    assert world.journal.kept == {}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (command(reset=("models.m",) * (MAX_NAMED + 1)), "command.reset"),
        (command(models={f"m{number}": 1 for number in range(MAX_NAMED + 1)}), "command.models"),
    ],
)
async def test_a_command_that_names_too_much_is_refused(world: World, change: Command, field: str) -> None:
    refusal = await refused(world, change, Reason.ARGUMENT_INVALID)
    assert refusal.field == field
    assert str(MAX_NAMED) in refusal.message
    assert world.texts == {}


async def test_a_command_may_name_as_many_models_as_it_resets(world: World) -> None:
    models = {f"m{number}": 1 for number in range(MAX_NAMED)}
    assert len((await configure(world, command(models=models)))[0].stated) == MAX_NAMED
    building, _ = await configure(world, command(reset=tuple(f"models.{model}" for model in models)))
    assert building.stated == ()


async def test_a_key_may_be_reset_while_a_model_bears_its_name(world: World) -> None:
    await configure(world, command(models={"rearm": 5}, reset=("context.rearm",)))
    assert world.texts["lab"] == "[models]\nrearm = 5\n"


async def test_a_command_that_changes_nothing_makes_the_rung(world: World) -> None:
    building, _ = await configure(world, command())
    assert world.texts == {"lab": ""}
    assert building.stated == ()
    assert len(building.settled) == 8
    await configure(world, command("lab/alice", reset=("clock.zone", "models")))
    assert world.texts == {"lab": "", "lab/alice": ""}


async def test_a_command_that_changes_nothing_leaves_the_document_alone(world: World) -> None:
    world.texts["lab"] = "[context]\nsecond_threshold = 4_0\n"
    building, _ = await configure(world, threshold(40))
    assert "write" not in world.steps.done
    assert building == await world.ladder.building("lab")


async def test_an_etag_that_fits_and_one_that_does_not(world: World) -> None:
    first, _ = await configure(world, threshold(40))
    second, _ = await configure(world, threshold(41), etag=first.etag)
    assert second.etag != first.etag
    refusal = await refused(world, threshold(42), Reason.CONFIG_CHANGED, etag=first.etag)
    assert refusal.field == "etag"
    assert "41" in world.texts["lab"]
    await refused(world, threshold(42, "zoo"), Reason.CONFIG_CHANGED, etag=first.etag)
    assert "zoo" not in world.texts
    city = await world.ladder.building("")
    await configure(world, threshold(50, ""), etag=city.etag)
    await refused(world, threshold(51, ""), Reason.CONFIG_CHANGED, etag=city.etag)


async def test_an_answers_etag_is_that_of_the_document_it_leaves(world: World) -> None:
    building, _ = await configure(world, threshold(40))
    assert building.etag == (await world.ladder.building("lab")).etag


async def test_a_command_sent_twice_is_carried_out_once(world: World) -> None:
    first = await configure(world, threshold(40), "q")
    await configure(world, threshold(50), "r")
    again = await configure(world, threshold(40), "q", "an etag that never fitted")
    assert again == (first[0], True)
    assert "50" in world.texts["lab"]
    assert world.journal.open == {}


async def test_a_command_is_the_same_whatever_its_order(world: World) -> None:
    first = Command(
        "lab", {"clock.zone": "UTC", "notices.every_steps": 1}, {"a": 1, "b": 2}, ("context.rearm", "models.c")
    )
    turned = Command(
        "lab",
        {"notices.every_steps": 1, "clock.zone": "UTC"},
        {"b": 2, "a": 1},
        ("models.c", "context.rearm", "models.c"),
    )
    await configure(world, first, "q")
    assert (await configure(world, turned, "q"))[1]


@pytest.mark.parametrize(
    "other",
    [
        threshold(41),
        threshold(40, "zoo"),
        command(),
        command(context__second_threshold=40, clock__zone="UTC"),
        command(reset=("context.second_threshold",)),
        command(context__second_threshold=40, models={"m": 1}),
    ],
)
async def test_an_id_stands_for_one_command(world: World, other: Command) -> None:
    await configure(world, threshold(40), "q")
    texts = dict(world.texts)
    refusal = await refused(world, other, Reason.REQUEST_ID_REUSED, "q", "some etag")
    assert refusal.field == "request_id"
    assert world.texts == texts


async def test_a_malformed_id_is_refused(world: World) -> None:
    refusal = await refused(world, threshold(40), Reason.ARGUMENT_INVALID, "two words")
    assert refusal.field == "request_id"
    assert world.texts == {}


async def test_a_dry_run_answers_as_the_write_would_and_writes_nothing(world: World) -> None:
    dry, replayed = await configure(world, threshold(40), "q", validate_only=True)
    assert not replayed
    assert world.texts == {}
    assert world.journal.kept == {}
    assert (await configure(world, threshold(40), "q"))[0] == dry
    with pytest.raises(Refusal, match="etag"):
        await configure(world, threshold(50), etag="x", validate_only=True)
    with pytest.raises(Refusal, match="31 to 90"):
        await configure(world, threshold(30), validate_only=True)


async def test_a_dry_run_of_a_recorded_command_is_a_replay(world: World) -> None:
    first, _ = await configure(world, threshold(40), "q")
    await configure(world, threshold(50))
    assert await configure(world, threshold(40), "q", validate_only=True) == (first, True)
    with pytest.raises(Refusal, match="another command"):
        await configure(world, threshold(41), "q", validate_only=True)


async def test_a_broken_document_is_not_touched(world: World) -> None:
    for text in ("= 1\n", "[context]\nsecond_threshold = 95\n", "context = 3\n"):
        world.texts["lab"] = text
        refusal = await refused(
            world, command(clock__zone="UTC", context__rearm=Rearm.PER_RUN), Reason.CONFIG_UNREADABLE, "q"
        )
        assert "column" in refusal.message
        assert world.texts["lab"] == text
    assert world.journal.kept == {}


async def test_a_fault_is_told_where_it_stands_in_the_document_as_it_is(world: World) -> None:
    world.texts["lab"] = "[context]\nsecond_threshold = 40\n[clock]\nzone = 'Mars'\n"
    refusal = await refused(world, command(context__rearm=Rearm.PER_RUN), Reason.CONFIG_UNREADABLE)
    assert "line 4, column 1" in refusal.message


async def test_a_command_may_put_a_wrong_value_right(world: World) -> None:
    world.texts["lab"] = "[context]\nsecond_threshold = 95\n"
    building, _ = await configure(world, threshold(60))
    assert building.stated == (Settled("context.second_threshold", "60", "lab"),)


async def test_a_broken_upper_rung_refuses_and_a_broken_neighbour_does_not(world: World) -> None:
    world.texts.update({"lab": "x", "zoo": "x", "mill/bob": "x"})
    refusal = await refused(world, threshold(40, "lab/alice"), Reason.CONFIG_UNREADABLE, "q")
    assert refusal.subject == "building lab"
    assert "lab/alice" not in world.texts
    assert world.journal.kept == {}
    await configure(world, threshold(40, "mill"))
    await configure(world, threshold(40, "mill/alice"))


async def test_a_document_that_would_be_too_large_is_refused(world: World) -> None:
    world.texts["lab"] = "#" * (MAX_DOCUMENT_BYTES - 20) + "\n"
    refusal = await refused(world, threshold(40), Reason.ARGUMENT_INVALID, "q")
    assert str(MAX_DOCUMENT_BYTES) in refusal.message
    assert len(world.texts["lab"]) == MAX_DOCUMENT_BYTES - 19
    assert world.journal.kept == {}


async def test_what_is_recorded_is_durable_before_the_document_changes(world: World) -> None:
    await configure(world, threshold(40), "q")
    steps = [step for step in world.steps.done if step in ("asked", "write", "done")]
    assert steps == ["asked", "write", "done"]
    asked = world.journal.kept["q"]
    assert (asked.found_etag, asked.document) == ("absent", world.texts["lab"])


async def test_many_at_once_are_carried_out_one_after_the_other(world: World) -> None:
    await asyncio.gather(*(configure(world, command(models={f"m{number}": number + 1})) for number in range(30)))
    assert len((await world.ladder.building("lab")).stated) == 30


async def test_the_same_command_at_once_is_carried_out_once(world: World) -> None:
    answers = await asyncio.gather(*(configure(world, threshold(40), "q") for _ in range(10)))
    assert [replayed for _, replayed in answers].count(False) == 1
    assert len({building for building, _ in answers}) == 1
    assert world.steps.done.count("write") == 1


async def test_of_many_with_one_etag_one_is_carried_out(world: World) -> None:
    building, _ = await configure(world, threshold(40))
    answers = await asyncio.gather(
        *(configure(world, threshold(50 + number), etag=building.etag) for number in range(8)),
        return_exceptions=True,
    )
    refusals = [answer for answer in answers if isinstance(answer, Refusal)]
    assert len(refusals) == 7
    assert {refusal.reason for refusal in refusals} == {Reason.CONFIG_CHANGED}


async def test_an_id_that_another_server_took_meanwhile_is_answered_from_its_record(world: World) -> None:
    other = World()
    answer, _ = await configure(other, threshold(40), "q")

    def take_it(step: str) -> None:
        if step == "ask":
            world.journal.kept.update(other.journal.kept)

    world.steps.fail = take_it
    assert await configure(world, threshold(40), "q") == (answer, True)
    assert world.texts == {}


@pytest.mark.parametrize("request_id", ["", "q"])
async def test_a_caller_who_goes_away_at_any_moment_leaves_nothing_half_done(request_id: str) -> None:
    for moment in range(40):
        world = World()
        caller = asyncio.ensure_future(configure(world, threshold(40), request_id))
        for _ in range(moment):
            await asyncio.sleep(0)
        gone = caller.cancel()
        await asyncio.wait([caller])
        await world.ladder.close()
        if moment:
            assert world.texts == {"lab": "[context]\nsecond_threshold = 40\n"}
            assert world.journal.open == {}
        else:
            assert world.texts == {}
        async with asyncio.timeout(5):
            world.start()
            assert (await configure(world, threshold(40), request_id))[1] == bool(moment and request_id)
        assert caller.cancelled() == gone


async def test_a_caller_who_goes_away_while_another_is_served_waits_in_no_ones_way(world: World) -> None:
    first = asyncio.ensure_future(configure(world, threshold(40)))
    second = asyncio.ensure_future(configure(world, threshold(50)))
    third = asyncio.ensure_future(configure(world, threshold(60)))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait([first, second, third])
    await world.ladder.close()
    assert "60" in world.texts["lab"]


@pytest.mark.parametrize("request_id", ["", "q"])
async def test_a_caller_who_goes_away_before_its_turn_has_come_is_as_if_it_had_never_called(
    world: World, request_id: str
) -> None:
    first = asyncio.ensure_future(configure(world, threshold(40)))
    waiting = [asyncio.ensure_future(configure(world, threshold(50, "zoo"), request_id)) for _ in range(20)]
    await asyncio.sleep(0)
    for caller in waiting:
        caller.cancel()
    await asyncio.wait([first, *waiting])
    await world.ladder.close()
    assert world.texts == {"lab": "[context]\nsecond_threshold = 40\n"}
    assert world.journal.kept == {}


async def test_at_the_end_the_command_under_way_is_finished_and_those_that_wait_are_refused(world: World) -> None:
    callers = [
        asyncio.ensure_future(configure(world, threshold(40 + number), f"q{number}")) for number in range(9)
    ]
    await asyncio.sleep(0)
    await world.ladder.close()
    assert (await callers[0])[0].stated
    for caller in callers[1:]:
        with pytest.raises(Refusal, match="going down") as caught:
            await caller
        assert caught.value.reason is Reason.DRAINING
    assert world.texts == {"lab": "[context]\nsecond_threshold = 40\n"}
    assert list(world.journal.kept) == ["q0"]
    await refused(world, threshold(50), Reason.DRAINING)


async def test_a_caller_of_a_dry_run_who_goes_away_keeps_nobody_waiting(world: World) -> None:
    dry = asyncio.ensure_future(configure(world, threshold(40), validate_only=True))
    await asyncio.sleep(0)
    dry.cancel()
    async with asyncio.timeout(5):
        await configure(world, threshold(50))
    assert "50" in world.texts["lab"]


HAND = "# by hand\n[clock]\nzone = 'UTC'\n"


@pytest.mark.parametrize(
    ("step", "request_id"),
    [(step, "q") for step in ("undone", "find", "read", "ask", "asked", "write")]
    + [(step, "") for step in ("undone", "read", "write")],
)
async def test_a_hand_edit_at_any_step_before_the_write_is_kept(world: World, step: str, request_id: str) -> None:
    world.texts["lab"] = "[context]\nrearm = 'per_run'\n"

    def edit_by_hand(taken: str) -> None:
        if taken == step:
            world.steps.fail = lambda step: None
            world.texts["lab"] = HAND

    world.steps.fail = edit_by_hand
    building, replayed = await configure(world, threshold(40), request_id)
    assert not replayed
    assert world.texts["lab"] == f"{HAND}\n[context]\nsecond_threshold = 40\n"
    assert Settled("context.second_threshold", "40", "lab") in building.stated
    assert world.journal.open == {}
    if request_id:
        assert await configure(world, threshold(40), request_id) == (building, True)


async def test_a_hand_edit_before_a_command_is_recorded_fits_its_etag_no_more(world: World) -> None:
    for request_id in ("", "q"):
        first, _ = await configure(world, threshold(40))
        by_hand = f"{HAND}# {request_id}\n"

        def edit_by_hand(taken: str, text: str = by_hand) -> None:
            if taken == "read":
                world.steps.fail = lambda step: None
                asyncio.get_running_loop().call_soon(world.texts.update, {"lab": text})

        world.steps.fail = edit_by_hand
        await refused(world, threshold(50), Reason.CONFIG_CHANGED, request_id, etag=first.etag)
        assert world.texts["lab"] == by_hand
        assert world.journal.kept == {}


@pytest.mark.parametrize("request_id", ["", "q"])
async def test_a_document_that_is_changed_by_hand_again_and_again_refuses(world: World, request_id: str) -> None:
    edits = 0

    def edit_by_hand(taken: str) -> None:
        nonlocal edits
        if taken == "write":
            edits += 1
            world.texts["lab"] = f"# edit {edits}\n"

    world.steps.fail = edit_by_hand
    refusal = await refused(world, threshold(40), Reason.CONFIG_CHANGED, request_id)
    assert "by hand" in refusal.message
    assert world.texts["lab"] == f"# edit {edits}\n"
    assert edits < 20
    world.steps.fail = lambda step: None
    # A command that was recorded comes before any other.
    await configure(world, command(clock__zone="UTC"))
    assert ("40" in world.texts["lab"]) == bool(request_id)
    assert world.journal.open == {}


async def test_a_write_that_fails_when_its_caller_is_gone_is_told_to_nobody(world: World) -> None:
    world.steps.fail = lambda step: unavailable() if step == "write" else None
    caller = asyncio.ensure_future(configure(world, threshold(40)))
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.wait([caller])
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))
    await world.ladder.close()
    del caller  # its traceback holds the task
    gc.collect()
    assert told == []
    world.start()
    await configure(world, threshold(41))
