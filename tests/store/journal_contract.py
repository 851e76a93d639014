"""What every journal of commands must do. A store's own test file makes the journal and inherits this suite."""

import asyncio

import pytest

from ullage_server.ladder.port import Asked, Journal


def asked(request_id: str, command: str = "c") -> Asked:
    return Asked(request_id, command, f"etag of {request_id}", f"document of {request_id}\n", "answer")


class JournalContract:
    @pytest.fixture
    async def journal(self) -> Journal:
        raise NotImplementedError

    async def test_an_id_nobody_used_is_not_found(self, journal: Journal) -> None:
        assert await journal.find("q") is None
        assert await journal.undone() == []

    async def test_what_was_asked_is_found_as_it_was(self, journal: Journal) -> None:
        first = Asked("q:1.a_b-c", '{"k":"ü"}', "absent", "# Füllstand 🍺\r\n\r\na = 'x'\n", '{"a":"\\u0000"}')
        assert await journal.ask(first)
        assert await journal.find("q:1.a_b-c") == first
        assert await journal.find("Q:1.a_b-c") is None

    async def test_empty_texts_are_kept(self, journal: Journal) -> None:
        first = Asked("q", "", "", "", "")
        assert await journal.ask(first)
        assert await journal.find("q") == first

    async def test_a_large_document_is_kept(self, journal: Journal) -> None:
        first = Asked("q", "c", "e", "# ü\n" * 250_000, "a")
        assert await journal.ask(first)
        assert await journal.find("q") == first

    async def test_a_taken_id_is_not_asked_again(self, journal: Journal) -> None:
        assert await journal.ask(asked("q"))
        assert not await journal.ask(asked("q", "another"))
        assert not await journal.ask(asked("q"))
        assert await journal.find("q") == asked("q")
        assert await journal.undone() == [asked("q")]

    async def test_a_taken_id_stays_taken_when_it_is_done(self, journal: Journal) -> None:
        assert await journal.ask(asked("q"))
        await journal.done("q")
        assert not await journal.ask(asked("q", "another"))
        assert await journal.find("q") == asked("q")
        assert await journal.undone() == []

    async def test_the_undone_come_in_the_order_they_were_asked(self, journal: Journal) -> None:
        for request_id in ("z", "a", "m", "b"):
            assert await journal.ask(asked(request_id))
        await journal.done("a")
        assert [each.request_id for each in await journal.undone()] == ["z", "m", "b"]

    async def test_marking_twice_or_an_unknown_id_changes_nothing(self, journal: Journal) -> None:
        assert await journal.ask(asked("q"))
        assert await journal.ask(asked("r"))
        await journal.done("q")
        await journal.done("q")
        await journal.done("nobody")
        assert await journal.undone() == [asked("r")]
        assert await journal.find("nobody") is None

    async def test_of_many_at_once_under_one_id_one_is_recorded(self, journal: Journal) -> None:
        won = await asyncio.gather(*(journal.ask(asked("q", f"c{number}")) for number in range(10)))
        assert won.count(True) == 1
        kept = await journal.find("q")
        assert kept is not None
        assert kept.command == f"c{won.index(True)}"
        assert len(await journal.undone()) == 1
