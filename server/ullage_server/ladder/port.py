"""What the ladder needs of the machine: a place for documents, and a log of the commands sent under an id.

Rule (rules.md 2): a write reads the whole document, changes its keys and writes it back. What was asked under
a `request_id`, and what came of it, is durable before the document changes hands, so that a crash between the
two is mended at the next start.
"""

from typing import NamedTuple, Protocol


class Document(NamedTuple):
    """A rung's document: its text, and when it was last written, in nanoseconds since the epoch."""

    text: str
    update_time: int


class Documents(Protocol):
    """Where the rungs' documents stand."""

    async def read(self, address: str) -> Document | None:
        """The document of the rung at `address`; None where there is none. Raises nothing else for a bad text."""

    async def write(self, address: str, document: Document, found: str | None) -> bool:
        """Puts `document` in the place of the text `found` (None: of nothing) as a whole; durable when it returns.

        False, and no change, where another text stands at `address` by now.
        """

    async def addresses(self) -> list[str]:
        """The addresses that have a document, in order; the city's is the empty one."""


class Asked(NamedTuple):
    """A command sent under an id: itself, the etag it found, the document and the answer that came of it."""

    request_id: str
    command: str
    found_etag: str
    document: str
    answer: str


class Journal(Protocol):
    """The commands that were sent under an id. A store keeps it."""

    async def find(self, request_id: str) -> Asked | None:
        """What was asked under `request_id`; None where nothing was."""

    async def ask(self, asked: Asked) -> bool:
        """Records `asked` as not yet done, durably. False, and no change, where its id is taken."""

    async def done(self, request_id: str) -> None:
        """Marks the command of `request_id` as carried out."""

    async def undone(self) -> list[Asked]:
        """The commands recorded and not marked as carried out, in the order they came."""
