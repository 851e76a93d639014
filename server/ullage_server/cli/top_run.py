"""One run in `ullage top`: its curve, and its ledger as it grows."""

from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Static

from ullage import AsyncClient, UllageError
from ullage.v1.ledger_pb2 import LedgerRecord

from .curve import Curve
from .plot import plot
from .screen import STYLES, moment, printable
from .timeline import Line

#: How many lines the curve has.
_LINES = 12


class RunScreen(Screen[None]):
    """A run, as its ledger tells it."""

    CSS = "#curve { height: auto; padding: 1 0; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "app.pop_screen", "back")]

    def __init__(self, client: AsyncClient, run_id: str) -> None:
        super().__init__()
        self.run_id = run_id
        self._client = client
        self._curve = Curve()
        self._next = 1

    def compose(self) -> ComposeResult:
        """The curve, and the records under it, the newest first."""
        yield Static(Text(f"run {self.run_id}", "bold"))
        yield Static(id="curve")
        yield DataTable(cursor_type="row")
        yield Footer()

    def on_mount(self) -> None:
        """Reads the ledger."""
        self.query_one(DataTable).add_columns("POSITION", "AT", "WHAT", "TURN", "TOLD")
        self.query_one(DataTable).focus()
        self.follow()

    def on_resize(self, event: Resize) -> None:
        """Draws the curve as wide as there is room."""
        self._draw()

    @work(exclusive=True)
    async def follow(self) -> None:
        """Reads what has come to the ledger since."""
        table = self.query_one(DataTable)
        try:
            async for record in self._client.read_ledger(self.run_id, self._next):
                self._curve.take(record)
                self._next = record.position + 1
                table.add_row(*_cells(record))
        except UllageError as error:
            self.notify(error.message, severity="error")
        table.sort(table.ordered_columns[0].key, key=lambda cell: int(cell.plain), reverse=True)
        self._draw()

    def _draw(self) -> None:
        lines = plot(self._curve, max(self.size.width - 2, 20), _LINES)
        self.query_one("#curve", Static).update(Text("\n").join(text_of(line) for line in lines))


def text_of(line: Line) -> Text:
    """A line of pieces as rich writes it."""
    return Text.assemble(*((text, STYLES.get(style, style)) for text, style in line), no_wrap=True)


def _cells(record: LedgerRecord) -> list[Text]:
    kind = record.WhichOneof("happened") or "unknown"
    happened = getattr(record, kind, None)
    turn = getattr(happened, "turn", "")
    at = moment(record.at.ToDatetime())
    told = printable(_told(record, kind))
    return [Text(str(each), no_wrap=True) for each in (record.position, at, kind.replace("_", " "), turn, told)]


def _told(record: LedgerRecord, kind: str) -> str:
    """What a record says, in a few words."""
    if kind == "usage_observed":
        observed = record.usage_observed
        used = f"{observed.reading.used_tokens:,} tokens" if observed.HasField("usage") else "no usage"
        return f"{used}: {observed.reminder.text}" if observed.HasField("reminder") else used
    if kind == "call_prepared":
        return " ".join(" ".join(one.text.split()) for one in record.call_prepared.insertions)
    if kind == "exchange_compacted":
        compacted = record.exchange_compacted
        return f"{compacted.source_bytes:,} bytes, {compacted.result_bytes:,} left"
    if kind == "run_finished":
        return record.run_finished.outcome
    return ""
