import pytest

from tests.ladder.fakes import World, command, stated, threshold, unavailable
from ullage_server.core.errors import Reason, Refusal
from ullage_server.core.plan import Settled


@pytest.fixture
def world() -> World:
    return World()


async def refused(call: object, reason: Reason) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await call  # type: ignore[misc]
    assert caught.value.reason is reason
    assert caught.value.recovery
    return caught.value


async def test_rungs_come_nearest_first_and_only_those_that_are_there(world: World) -> None:
    world.texts.update({"": "context.second_threshold = 31\n", "lab/alice": "context.second_threshold = 33\n"})
    assert [rung.address for rung in await world.ladder.rungs("lab/alice")] == ["lab/alice", ""]
    assert [rung.address for rung in await world.ladder.rungs("lab/bob")] == [""]
    world.texts["lab"] = ""
    assert [rung.address for rung in await world.ladder.rungs("lab/alice")] == ["lab/alice", "lab", ""]
    assert [rung.source for rung in await world.ladder.rungs("lab")] == ["lab", "city"]
    assert await World().ladder.rungs("lab") == []


async def test_a_broken_rung_refuses_those_below_it_and_no_neighbour(world: World) -> None:
    world.texts.update({"lab": "x = 1\n[context]\nsecond_threshold = 95\n", "lab/alice": "", "works": ""})
    for address in ("lab", "lab/alice", "lab/nobody"):
        refusal = await refused(world.ladder.rungs(address), Reason.CONFIG_UNREADABLE)
        assert refusal.subject == "building lab"
        assert "line 3, column 1" in refusal.message
    assert await world.ladder.rungs("works")
    assert await world.ladder.rungs("labx") == []
    await refused(world.ladder.building("lab/alice"), Reason.CONFIG_UNREADABLE)
    world.texts.update({"works/bob": "= 1", "": ""})
    assert len(await world.ladder.rungs("works")) == 2


async def test_a_malformed_address_is_refused(world: World) -> None:
    for call in (world.ladder.rungs("Lab"), world.ladder.building("a/b/c"), world.ladder.window("/", "m")):
        await refused(call, Reason.ARGUMENT_INVALID)


async def test_a_store_that_is_away_is_no_broken_document(world: World) -> None:
    world.steps.fail = lambda step: unavailable()
    await refused(world.ladder.rungs("lab"), Reason.STORE_UNAVAILABLE)
    await refused(world.ladder.page(None, 5), Reason.STORE_UNAVAILABLE)
    world.texts["lab"] = ""
    world.steps.fail = lambda step: unavailable() if step == "read" else None
    await refused(world.ladder.page(None, 5), Reason.STORE_UNAVAILABLE)


async def test_a_window_is_the_nearest_rungs_then_the_catalogues(world: World) -> None:
    world.texts.update({"": "[models]\nm = 1\nn = 2\npackaged = 3\n", "lab": "[models]\nm = 10\n"})
    assert await world.ladder.window("lab/alice", "m") == 10
    assert await world.ladder.window("lab", "n") == 2
    assert await world.ladder.window("", "m") == 1
    assert await world.ladder.window("lab", "packaged") == 3
    assert await World().ladder.window("lab", "packaged") == 64
    assert await world.ladder.window("lab", "nobody") is None
    assert await world.ladder.window("lab", "") is None


async def test_a_building_tells_what_it_states_and_what_a_run_there_would_freeze(world: World) -> None:
    world.texts.update(
        {
            "": "[clock]\nzone = 'Asia/Tokyo'\n[models]\nm = 1\na = 2\n",
            "lab": "[context]\nsecond_threshold = 40\n[models]\n'm.1' = 5\nm = 10\n",
        }
    )
    building = await world.ladder.building("lab")
    assert building.stated == (
        Settled("context.second_threshold", "40", "lab"),
        Settled("models.m", "10", "lab"),
        Settled("models.m.1", "5", "lab"),
    )
    assert building.settled == (
        Settled("context.second_threshold", "40", "lab"),
        Settled("context.rearm", "per_run", "default"),
        Settled("context.finishing_act", "succeed", "default"),
        Settled("exchange.budget_bytes", "32768", "default"),
        Settled("notices.every_steps", "20", "default"),
        Settled("notices.include_subagents", "true", "default"),
        Settled("reminders.budget_chars", "8000", "default"),
        Settled("clock.zone", "Asia/Tokyo", "city"),
        Settled("models.a", "2", "city"),
        Settled("models.m", "10", "lab"),
        Settled("models.m.1", "5", "lab"),
    )
    assert building.update_time == 1


async def test_a_building_nobody_configured_is_not_there_but_the_city_is(world: World) -> None:
    refusal = await refused(world.ladder.building("lab"), Reason.BUILDING_NOT_FOUND)
    assert (refusal.subject, refusal.field) == ("building lab", "address")
    city = await world.ladder.building("")
    assert (city.address, city.stated, city.update_time) == ("", (), 0)
    assert len(city.settled) == 8
    assert city.etag
    world.texts["lab/alice"] = ""
    await refused(world.ladder.building("lab"), Reason.BUILDING_NOT_FOUND)
    assert (await world.ladder.building("lab/alice")).address == "lab/alice"


async def test_a_broken_city_does_not_make_a_building(world: World) -> None:
    world.texts[""] = "x"
    await refused(world.ladder.building("lab"), Reason.BUILDING_NOT_FOUND)


async def test_an_etag_is_of_its_own_document(world: World) -> None:
    world.texts.update({"": "a = 1\n", "lab": "a = 1\n"})
    before = (await world.ladder.building("lab")).etag
    world.texts[""] = "a = 2\n"
    assert (await world.ladder.building("lab")).etag == before
    world.texts["lab"] = "a = 2\n"
    assert (await world.ladder.building("lab")).etag != before


async def test_buildings_are_listed_in_pages(world: World) -> None:
    world.texts.update(dict.fromkeys(["lab", "lab/a", "lab/b", "lab-x", "zoo"], ""))
    everything = ["", "lab", "lab-x", "lab/a", "lab/b", "zoo"]
    for limit in (1, 2, 3, 5, 6, 7):
        seen: list[str] = []
        after, more = None, True
        while more:
            page, more = await world.ladder.page(after, limit)
            assert 0 < len(page) <= limit
            seen += [building.address for building in page]
            after = seen[-1]
        assert seen == everything
    assert await world.ladder.page("zoo", 5) == ([], False)
    assert await world.ladder.page("zzz", 5) == ([], False)
    page, more = await world.ladder.page("lab/", 1)
    assert ([building.address for building in page], more) == (["lab/a"], True)


async def test_a_list_shows_a_broken_building_empty(world: World) -> None:
    world.texts.update(
        {"": "[clock]\nzone = 'Asia/Tokyo'\n", "lab": "x", "lab/a": "clock.zone = 'UTC'\n", "zoo": ""}
    )
    page, more = await world.ladder.page(None, 10)
    assert not more
    shown = {building.address: building for building in page}
    assert list(shown) == ["", "lab", "lab/a", "zoo"]
    for address in ("lab", "lab/a"):
        assert shown[address].stated == shown[address].settled == ()
        assert shown[address].etag
        assert shown[address].update_time == 1
    assert Settled("clock.zone", "Asia/Tokyo", "city") in shown["zoo"].settled
    assert shown["zoo"] == await world.ladder.building("zoo")
    world.texts[""] = "x"
    page, _ = await world.ladder.page(None, 10)
    assert [(building.stated, building.settled) for building in page] == [((), ())] * 4


async def test_a_page_reads_a_shared_rung_once(world: World) -> None:
    world.texts.update({"": "", "lab": "", **{f"lab/r{number}": "" for number in range(20)}})
    await world.ladder.page(None, 50)
    assert world.steps.done.count("read") == 22


async def test_a_long_document_is_read_alike(world: World) -> None:
    world.texts["lab"] = "# filler\n" * 5000 + "context.second_threshold = 40\n"
    assert stated((await world.ladder.rungs("lab"))[0]) == {"context.second_threshold": 40}


async def test_a_write_is_seen_by_the_next_reader(world: World) -> None:
    await world.ladder.configure(threshold(40, ""), "", "", validate_only=False)
    await world.ladder.configure(command(clock__zone="UTC"), "", "", validate_only=False)
    assert [stated(rung) for rung in await world.ladder.rungs("lab")] == [
        {"clock.zone": "UTC"},
        {"context.second_threshold": 40},
    ]
