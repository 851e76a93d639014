"""What every store must do. A store's own test file makes it and inherits this suite."""

from collections.abc import AsyncIterator

import pytest

from tests.store.journal_contract import JournalContract
from ullage_server.store.port import Append, Cursor, Run, Standing, Store


def append(
    run_id: str,
    position: int,
    *,
    turn: int = 0,
    kind: str = "usage_observed",
    address: str = "",
    start: int = 1,
    labels: dict[str, str] | None = None,
    finished: bool = False,
    payload: bytes | None = None,
) -> Append:
    payload = f"{run_id}/{position}".encode() if payload is None else payload
    begins = Run(run_id, address, start, labels or {}, b"plan") if position == 1 else None
    return Append(run_id, position, 7, kind, turn, payload, position + 40, b"after " + payload, begins, finished)


class StoreContract(JournalContract):
    @pytest.fixture
    async def store(self) -> AsyncIterator[Store]:
        raise NotImplementedError
        yield  # noqa: PT022  # makes it a generator, as the stores' own fixtures are

    @pytest.fixture
    async def journal(self, store: Store) -> Store:
        return store

    async def test_what_was_appended_is_read_back(self, store: Store) -> None:
        assert await store.append([append("r", 1), append("r", 2, turn=1), append("s", 1)]) == [True] * 3
        assert [(row.position, row.payload) for row in await store.rows("r", 1, 10)] == [(1, b"r/1"), (2, b"r/2")]
        assert await store.position("r") == 2
        assert await store.standing("r") == Standing(Run("r", "", 1, {}, b"plan"), 2, 42, b"after r/2")

    async def test_nothing_is_there_before_it_is_appended(self, store: Store) -> None:
        assert await store.standing("r") is None
        assert await store.position("r") == 0
        assert await store.rows("r", 1, 10) == []
        assert await store.row_of_turn("r", "usage_observed", 1) is None
        assert await store.page("", None, {}, None, 10) == []

    async def test_a_position_is_won_once(self, store: Store) -> None:
        assert await store.append([append("r", 1)]) == [True]
        assert await store.append([append("r", 1, payload=b"other")]) == [False]
        assert [row.payload for row in await store.rows("r", 1, 10)] == [b"r/1"]

    async def test_in_a_batch_a_conflict_fails_its_own_append_only(self, store: Store) -> None:
        await store.append([append("r", 1)])
        batch = [append("a", 1), append("r", 1, payload=b"late"), append("r", 2), append("r", 2, payload=b"late")]
        assert await store.append(batch) == [True, False, True, False]
        assert await store.position("a") == 1
        found = await store.standing("r")
        assert found is not None
        assert (found.position, found.state) == (2, b"after r/2")

    async def test_a_turns_newest_record_of_a_kind_is_found(self, store: Store) -> None:
        kinds = [("run_started", 0), ("usage_observed", 3), ("call_prepared", 3), ("call_prepared", 3)]
        await store.append([append("r", n, kind=kind, turn=turn) for n, (kind, turn) in enumerate(kinds, 1)])
        for kind, turn, position in [("usage_observed", 3, 2), ("call_prepared", 3, 4), ("run_started", 0, 1)]:
            row = await store.row_of_turn("r", kind, turn)
            assert row is not None
            assert row.position == position
        assert await store.row_of_turn("r", "usage_observed", 4) is None
        assert await store.row_of_turn("s", "usage_observed", 3) is None

    async def test_every_record_has_a_number_and_numbers_rise(self, store: Store) -> None:
        assert (await store.last_change(), await store.changes(0, 10)) == (0, [])
        await store.append([append("a", 1, address="lab"), append("b", 1), append("a", 1, payload=b"late")])
        await store.append([append("a", 2)])
        found = await store.changes(0, 10)
        told = [(change.run_id, change.position, change.address) for change in found]
        assert told == [("a", 1, "lab"), ("b", 1, ""), ("a", 2, "lab")]
        numbers = [change.number for change in found]
        assert numbers == sorted(set(numbers))
        assert numbers[-1] == await store.last_change()
        assert await store.changes(numbers[0], 1) == found[1:2]
        assert await store.changes(numbers[-1], 10) == []
        await store.append([append("b", 2)])
        (last,) = await store.changes(numbers[-1], 10)
        assert (last.run_id, last.number) == ("b", await store.last_change())

    async def test_rows_come_in_pages(self, store: Store) -> None:
        await store.append([append("r", n) for n in range(1, 8)])
        assert [row.position for row in await store.rows("r", 1, 3)] == [1, 2, 3]
        assert [row.position for row in await store.rows("r", 4, 3)] == [4, 5, 6]
        assert [row.position for row in await store.rows("r", 7, 3)] == [7]

    async def test_a_page_of_runs_is_newest_first_and_goes_on_behind_its_cursor(self, store: Store) -> None:
        await store.append(
            [append(name, 1, start=start) for name, start in [("a", 5), ("b", 9), ("c", 5), ("d", 1)]]
        )
        assert [run.run_id for run, *_ in await store.page("", None, {}, None, 2)] == ["b", "c"]
        assert [run.run_id for run, *_ in await store.page("", None, {}, Cursor(5, "c"), 2)] == ["a", "d"]
        assert await store.page("", None, {}, Cursor(1, "d"), 2) == []

    async def test_a_page_holds_an_address_and_all_below_it(self, store: Store) -> None:
        places = ["", "lab", "lab/ada", "lab/bob", "labx", "lab-x", "la"]
        await store.append([append(f"r{n}", 1, address=place) for n, place in enumerate(places)])

        async def at(address: str) -> set[str]:
            return {run.address for run, *_ in await store.page(address, None, {}, None, 10)}

        assert await at("lab") == {"lab", "lab/ada", "lab/bob"}
        assert await at("lab/ada") == {"lab/ada"}
        assert await at("eve") == set()
        assert await at("") == set(places)

    async def test_a_page_holds_one_state_or_both(self, store: Store) -> None:
        await store.append([append("on", 1), append("off", 1)])
        await store.append([append("off", 2, finished=True)])
        for finished, runs in [(None, {"on", "off"}), (True, {"off"}), (False, {"on"})]:
            assert {run.run_id for run, *_ in await store.page("", finished, {}, None, 10)} == runs

    @pytest.mark.parametrize("key", ["team", "a.b", 'a"b', "a'b", "ключ", "$.x", ""])
    async def test_a_page_holds_the_runs_whose_labels_are_equal(self, store: Store, key: str) -> None:
        both, one = {key: "x", "job": "2"}, {key: "x"}
        await store.append([append("a", 1, labels=one), append("b", 1, labels=both), append("c", 1)])
        assert {run.run_id for run, *_ in await store.page("", None, one, None, 10)} == {"a", "b"}
        assert [(run.run_id, run.labels) for run, *_ in await store.page("", None, both, None, 10)] == [
            ("b", both)
        ]
        assert await store.page("", None, {key: "X"}, None, 10) == []
        assert await store.page("", None, {f"{key}?": "x"}, None, 10) == []
