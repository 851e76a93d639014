"""The one way a document changes hands: a command, checked, recorded under its id, and carried out.

Rule (rules.md 2): what was asked under a `request_id`, and the document and answer that come of it, are durable
before the document is written; a crash between the two is mended at the next start. The same id again gives the
recorded answer, before the etag is looked at; for another command it is refused. An etag that no longer fits
refuses. A command on a rung that is not there makes it, even one that changes nothing: so a building comes to be.

Commands are carried out one after the other, each in a task of its own, so that a caller who goes away leaves
nothing half done.
"""

import asyncio
from collections.abc import Callable, Collection
from typing import NamedTuple

import structlog

from ..core.errors import Reason, Refusal, invalid
from ..core.names import check_name
from ..core.rung import Command, Rung, check_command
from .building import Building, describe
from .codec import decode_building, decode_command, encode_building, encode_command
from .document import MAX_DOCUMENT_BYTES, etag, parse, subject
from .edit import edit
from .look import Look
from .port import Asked, Document, Documents, Journal

_log = structlog.get_logger()


class _Outcome(NamedTuple):
    """What would come of a command: the text it found, the one it leaves, and the answer."""

    found: str | None
    text: str
    building: Building


class Writer:
    """Carries out commands on `documents`, and records in `journal` those that have an id."""

    def __init__(
        self, documents: Documents, journal: Journal, zones: Collection[str], now: Callable[[], int]
    ) -> None:
        self._documents = documents
        self._journal = journal
        self._zones = zones
        self._now = now
        self._lock = asyncio.Lock()
        self._begun: set[asyncio.Task[tuple[Building, bool]]] = set()

    async def configure(
        self, command: Command, request_id: str, fits: str, validate_only: bool
    ) -> tuple[Building, bool]:
        """The building that comes of `command`, and whether it is a replay; `fits` is the etag to meet, or empty.

        `validate_only` answers as the write would, a replay's recorded answer too, and writes nothing.
        """
        command = check_command(command, self._zones)
        if request_id:
            check_name("request_id", request_id)
        if validate_only:
            if asked := await self._asked(request_id, command):
                return decode_building(asked.answer), True
            return (await self._outcome(command, fits)).building, False
        task = asyncio.ensure_future(self._carry_out(command, request_id, fits))
        self._begun.add(task)
        task.add_done_callback(self._ended)
        # Waiting ends when the caller is cancelled; what it waits for does not.
        await asyncio.wait([task])
        return task.result()

    async def mend(self) -> None:
        """Carries out what the journal holds undone. What cannot be done now stays undone, and is logged."""
        async with self._lock:
            for asked in await self._journal.undone():
                try:
                    await self._redo(asked)
                except Refusal as refusal:
                    _warn(asked, refusal)

    async def close(self) -> None:
        """Returns when every command that was begun has come to its end."""
        while self._begun:
            await asyncio.wait(self._begun)

    def _ended(self, task: asyncio.Task[tuple[Building, bool]]) -> None:
        self._begun.discard(task)
        if not task.cancelled():
            # Its caller may be gone, and then nobody else takes what it raised.
            task.exception()

    async def _carry_out(self, command: Command, request_id: str, fits: str) -> tuple[Building, bool]:
        async with self._lock:
            await self._catch_up(command.address, request_id)
            if asked_before := await self._asked(request_id, command):
                return decode_building(asked_before.answer), True
            outcome = await self._outcome(command, fits)
            if request_id:
                record = Asked(
                    request_id,
                    encode_command(command),
                    etag(outcome.found),
                    outcome.text,
                    encode_building(outcome.building),
                )
                if not await self._journal.ask(record):
                    # Another server took the id since; it carries the command out.
                    if asked_before := await self._asked(request_id, command):
                        return decode_building(asked_before.answer), True
                    raise Refusal(
                        Reason.STORE_UNAVAILABLE,
                        "the journal of commands did not keep what it was given",
                        subject=subject(command.address),
                        recovery="send the command again, it is safe",
                    )
            if outcome.text != outcome.found:
                await self._documents.write(command.address, Document(outcome.text, outcome.building.update_time))
            if request_id:
                await self._journal.done(request_id)
            return outcome.building, False

    async def _catch_up(self, address: str, request_id: str) -> None:
        """Carries out what was recorded for `address` before and whose write failed then.

        It comes before anything new, or it would undo that when it is mended. What cannot be done for what the
        document holds stays undone and hinders no other command, which may be the one that corrects it.
        """
        for asked in await self._journal.undone():
            if decode_command(asked.command).address != address:
                continue
            try:
                await self._redo(asked)
            except Refusal as refusal:
                if asked.request_id == request_id or refusal.reason is Reason.STORE_UNAVAILABLE:
                    raise
                _warn(asked, refusal)

    async def _asked(self, request_id: str, command: Command) -> Asked | None:
        """What was asked under `request_id`, where it was this command; refused where it was another."""
        if not request_id or not (asked := await self._journal.find(request_id)):
            return None
        if asked.command != encode_command(command):
            raise Refusal(
                Reason.REQUEST_ID_REUSED,
                f"request_id {request_id} was used for another command; an id stands for one command",
                subject=subject(command.address),
                recovery="send this command under a new request_id",
                field="request_id",
            )
        return asked

    async def _outcome(self, command: Command, fits: str) -> _Outcome:
        """What would come of `command` now; nothing is written."""
        address = command.address
        look = Look(self._documents, self._zones)
        found = await look.document(address)
        old = found.text if found else None
        if fits and fits != etag(old):
            raise Refusal(
                Reason.CONFIG_CHANGED,
                f"{subject(address)} has changed since this etag was given",
                subject=subject(address),
                recovery="read it again with GetBuilding, and send the command with the etag it has now",
                field="etag",
            )
        new, own = await asyncio.to_thread(self._edited, old or "", command)
        updated = found.update_time if found and found.text == new else self._now()
        rungs = [own, *await look.upper_rungs(address)]
        return _Outcome(old, new, describe(address, rungs, etag(new), updated))

    def _edited(self, text: str, command: Command) -> tuple[str, Rung]:
        new = edit(text, command)
        if len(new.encode()) > MAX_DOCUMENT_BYTES:
            raise invalid(
                "command",
                f"the document of {subject(command.address)} would be larger than {MAX_DOCUMENT_BYTES} bytes, "
                "the most a document has",
                recovery="state fewer models, or reset those that no run uses",
            )
        try:
            return new, parse(command.address, new, self._zones)
        except Refusal:
            # The command does not correct what was wrong before: say where that is in the text as it stands.
            parse(command.address, text, self._zones)
            raise

    async def _redo(self, asked: Asked) -> None:
        """Carries out `asked`, which was recorded, and perhaps done, but not marked as done."""
        command = decode_command(asked.command)
        found = await self._documents.read(command.address)
        text = found.text if found else None
        if etag(text) == asked.found_etag or text == asked.document:
            new, updated = asked.document, decode_building(asked.answer).update_time
        else:
            # Somebody changed the document since: the command holds, the recorded text does not.
            new, _ = await asyncio.to_thread(self._edited, text or "", command)
            updated = self._now()
        if new != text:
            await self._documents.write(command.address, Document(new, updated))
        await self._journal.done(asked.request_id)


def _warn(asked: Asked, refusal: Refusal) -> None:
    _log.warning(
        "a command stays undone", request_id=asked.request_id, why=refusal.message, recovery=refusal.recovery
    )
