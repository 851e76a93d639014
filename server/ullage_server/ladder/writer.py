"""The one way a document changes hands: a command, checked, recorded under its id, and carried out.

Rule (rules.md 2): what was asked under a `request_id`, and the document and answer that come of it, are durable
before the document is written; a crash between the two is mended at the next start. The same id again gives the
recorded answer, before the etag is looked at; for another command it is refused. An etag that no longer fits
refuses. A command on a rung that is not there makes it, even one that changes nothing: so a building comes to be.

Commands are carried out one after the other, in the order they came. One whose caller goes away before its turn
has come is dropped, as if it had never been sent; one whose turn has come is carried to its end in a task of its
own, so that a caller who goes away leaves nothing half done. At the end of the server, those whose turn has not
come are refused with DRAINING, and only the one under way is waited for.

A document may be changed by hand at any time. A command whose document has changed since it was read starts over
on what is there now, a few times. Once it is recorded it holds: it is carried out on whatever the document says by
then, and its answer tells of the rung without that change.
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
from .threads import writing

_log = structlog.get_logger()

#: What hinders a command only for a while.
_PASSING = (Reason.STORE_UNAVAILABLE, Reason.CONFIG_CHANGED)

#: How often a command starts over whose document is changed by hand meanwhile.
_STARTS = 5


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
        self._closed = False
        #: The command under way, which has the lock: nobody else may hold it.
        self._under_way: asyncio.Task[tuple[Building, bool]] | None = None

    async def configure(
        self, command: Command, request_id: str, fits: str, validate_only: bool
    ) -> tuple[Building, bool]:
        """The building that comes of `command`, and whether it is a replay; `fits` is the etag to meet, or empty.

        `validate_only` answers as the write would, a replay's recorded answer too, and writes nothing.
        """
        command = check_command(command, self._zones)
        if request_id:
            check_name("request_id", request_id)
        # Waiting ends when the caller is cancelled.
        await self._lock.acquire()
        if self._closed:
            self._lock.release()
            raise Refusal(
                Reason.DRAINING,
                "the server is going down and carries out no more commands; nothing was recorded",
                subject=subject(command.address),
                recovery="send it again; the next server takes it",
            )
        task = asyncio.ensure_future(
            self._foretell(command, request_id, fits)
            if validate_only
            else self._carry_out(command, request_id, fits)
        )
        self._under_way = task
        task.add_done_callback(self._ended)
        # And so does this; what it waits for does not.
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
        """Takes no more commands, refuses those that wait, and returns when the one under way is at its end."""
        self._closed = True
        async with self._lock:
            pass

    def _ended(self, task: asyncio.Task[tuple[Building, bool]]) -> None:
        self._under_way = None
        self._lock.release()
        if not task.cancelled():
            # Its caller may be gone, and then nobody else takes what it raised.
            task.exception()

    async def _foretell(self, command: Command, request_id: str, fits: str) -> tuple[Building, bool]:
        if asked := await self._asked(request_id, command):
            return decode_building(asked.answer), True
        return (await self._outcome(command, fits)).building, False

    async def _carry_out(self, command: Command, request_id: str, fits: str) -> tuple[Building, bool]:
        await self._catch_up(command.address, request_id)
        if asked_before := await self._asked(request_id, command):
            return decode_building(asked_before.answer), True
        for _ in range(_STARTS):
            outcome = await self._outcome(command, fits)
            if not request_id:
                if await self._put(command.address, outcome.found, outcome.text, outcome.building.update_time):
                    return outcome.building, False
            elif await self._text(command.address) == outcome.found:
                return await self._record(command, request_id, outcome)
        raise _restless(command.address)

    async def _record(self, command: Command, request_id: str, outcome: _Outcome) -> tuple[Building, bool]:
        """Records `command` and what comes of it, and carries it out."""
        asked = Asked(
            request_id,
            encode_command(command),
            etag(outcome.found),
            outcome.text,
            encode_building(outcome.building),
        )
        if not await self._journal.ask(asked):
            # Another server took the id since; it carries the command out.
            if asked_before := await self._asked(request_id, command):
                return decode_building(asked_before.answer), True
            raise Refusal(
                Reason.STORE_UNAVAILABLE,
                "the journal of commands did not keep what it was given",
                subject=subject(command.address),
                recovery="send the command again, it is safe",
            )
        await self._redo(asked)
        return outcome.building, False

    async def _text(self, address: str) -> str | None:
        found = await self._documents.read(address)
        return found.text if found else None

    async def _put(self, address: str, found: str | None, text: str, update_time: int) -> bool:
        """Puts `text` in the place of `found`; False where something else stands there by now."""
        return text == found or await self._documents.write(address, Document(text, update_time), found)

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
                if asked.request_id == request_id or refusal.reason in _PASSING:
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
        new, own = await writing(self._edited, old or "", command)
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
        for _ in range(_STARTS):
            text = await self._text(command.address)
            if etag(text) == asked.found_etag or text == asked.document:
                new, updated = asked.document, decode_building(asked.answer).update_time
            else:
                # Somebody changed the document since: the command holds, the recorded text does not.
                new, _ = await writing(self._edited, text or "", command)
                updated = self._now()
            if await self._put(command.address, text, new, updated):
                await self._journal.done(asked.request_id)
                return
        raise _restless(command.address)


def _restless(address: str) -> Refusal:
    return Refusal(
        Reason.CONFIG_CHANGED,
        f"the document of {subject(address)} is being changed by hand, each time before the command is written",
        subject=subject(address),
        recovery="send the command again when nobody else is changing the document; that is safe",
    )


def _warn(asked: Asked, refusal: Refusal) -> None:
    _log.warning(
        "a command stays undone", request_id=asked.request_id, why=refusal.message, recovery=refusal.recovery
    )
