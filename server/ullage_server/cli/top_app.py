"""The screen of `ullage top`: a row a run, and the keys."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Footer, Input, Static

from ullage import AsyncClient, RunChanged, RunRemoved, RunStatus, UllageError

from .options import TIMEOUT
from .runs import percent, window
from .screen import printable
from .timeline import BLOCKS, Timeline
from .top_run import RunScreen, text_of

#: How often the screen follows what was told, in seconds: as fast as it is read, and not too much for a slow line.
REDRAW_SECONDS = 0.25
#: How long until a server that went away is asked again, in seconds.
AGAIN_SECONDS = 1.0
#: How often the ages are brought up to now, in seconds.
OLDER_SECONDS = 5.0

#: What stands in a row; the bar speaks for itself.
_COLUMNS = [
    "ADDRESS",
    "AGENT",
    "MODEL",
    "BAR",
    "FULL",
    "SOUNDED",
    "TURN",
    "AGE",
    "GIVEN",
    "CUT",
    "WINDOW",
    "STATE",
    "RUN",
]
#: The width of a timeline that has the shortest bar.
_NARROW = 46

#: What the rows can be ordered by, each with whether the greatest comes first.
_ORDERS: dict[str, bool] = {"fullest": True, "newest": True, "last changed": True, "address": False}


class TopApp(App[None]):
    """All runs, live.

    Attributes:
        problem: what ended it, None for the user.

    """

    CSS = "Input { display: none; dock: bottom; } #told { height: 1; } DataTable { height: 1fr; }"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit"),
        Binding("ctrl+c", "quit", show=False, priority=True),
        Binding("s", "order", "sort"),
        Binding("r", "turn_round", "reverse"),
        Binding("f", "finished", "finished runs"),
        Binding("slash", "filter", "address"),
        Binding("enter", "select", "open", show=True),
    ]

    def __init__(self, target: str, address: str = "", labels: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.problem: UllageError | None = None
        self._client = AsyncClient(target, timeout=TIMEOUT)
        self._target = target
        self._address = address
        self._labels = dict(labels or {})
        self._runs: dict[str, RunStatus] = {}
        self._changed: set[str] = set()
        self._order = "fullest"
        self._reversed = False
        self._with_finished = False
        self._below = ""
        self._away = ""

    def compose(self) -> ComposeResult:
        """A line that tells, the rows, the address that is typed, and the keys."""
        yield Static(id="told")
        yield DataTable(cursor_type="row", zebra_stripes=True)
        yield Input(placeholder="address, as lab or lab/alice; Enter takes it", id="address")
        yield Footer()

    def on_mount(self) -> None:
        """Begins to watch."""
        for title in _COLUMNS:
            self._table.add_column("" if title == "BAR" else title, key=title)
        self._table.focus()
        self._watch()
        self.set_interval(REDRAW_SECONDS, self._redraw)
        self.set_interval(OLDER_SECONDS, self._grow_older)

    @property
    def _table(self) -> "DataTable[Text]":
        # Also while another screen is open: the rows are of the first one.
        return self.screen_stack[0].query_one(DataTable)

    @work(exclusive=True)
    async def _watch(self) -> None:
        """Takes what the server tells; where it is away, asks again."""
        import asyncio

        met = False
        async with self._client:
            while True:
                try:
                    async for event in self._client.watch_runs(self._address, labels=self._labels):
                        met, self._away = True, ""
                        if isinstance(event, RunChanged):
                            self._runs[event.run.run_id] = event.run
                            self._changed.add(event.run.run_id)
                        elif isinstance(event, RunRemoved):
                            self._runs.pop(event.run_id, None)
                            self._changed.add(event.run_id)
                except UllageError as error:
                    if not met:
                        self.problem = error
                        self.exit()
                        return
                    self._away = "the server is away; what is shown is what it told last"
                    await asyncio.sleep(AGAIN_SECONDS)

    def _redraw(self) -> None:
        """Brings the rows up to what was told."""
        table, changed = self._table, self._changed
        self._changed = set()
        for run_id in changed:
            run = self._runs.get(run_id)
            if run is None or not self._is_shown(run):
                if run_id in table.rows:
                    table.remove_row(run_id)
            elif run_id in table.rows:
                for title, cell in zip(_COLUMNS, _cells(run), strict=True):
                    table.update_cell(run_id, title, cell, update_width=True)
            else:
                table.add_row(*_cells(run), key=run_id)
        if changed:
            self._sort()
            if isinstance(self.screen, RunScreen) and self.screen.run_id in changed:
                self.screen.follow()
        active = sum(run.state == "active" for run in self._runs.values())
        where = f" at {self._below or self._address}" if self._below or self._address else ""
        told = f"{active} active runs of {len(self._runs)}{where} on {self._target}, {self._order} first"
        self.screen_stack[0].query_one("#told", Static).update(
            Text(self._away or told, "bold red" if self._away else "dim")
        )

    def _grow_older(self) -> None:
        for row in list(self._table.rows):
            if run := self._runs.get(str(row.value)):
                self._table.update_cell(row, "AGE", _cells(run)[_COLUMNS.index("AGE")])

    def _is_shown(self, run: RunStatus) -> bool:
        below = run.plan.address == self._below or run.plan.address.startswith(f"{self._below}/")
        return (self._with_finished or run.state == "active") and (not self._below or below)

    def _sort(self) -> None:
        def key(cell: Text) -> tuple[object, ...]:
            run = self._runs[cell.plain]
            if self._order == "fullest":
                known = run.reading.percent if run.reading else None
                return (-1 if known is None else known, run.run_id)
            if self._order == "newest":
                return (run.start_time, run.run_id)
            return (
                (run.update_time, run.run_id) if self._order == "last changed" else (run.plan.address, run.run_id)
            )

        self._table.sort("RUN", key=key, reverse=_ORDERS[self._order] is not self._reversed)

    def action_order(self) -> None:
        """Orders the rows by the next thing."""
        orders = list(_ORDERS)
        self._order = orders[(orders.index(self._order) + 1) % len(orders)]
        self._sort()

    def action_turn_round(self) -> None:
        """Turns the order round."""
        self._reversed = not self._reversed
        self._sort()

    def action_finished(self) -> None:
        """Shows finished runs too, or no more."""
        self._with_finished = not self._with_finished
        self._changed |= self._runs.keys()

    def action_filter(self) -> None:
        """Has an address typed, whose runs alone are shown."""
        typed = self.query_one(Input)
        typed.display = True
        typed.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Takes the address that was typed."""
        self._below = event.value.strip().strip("/")
        event.input.display = False
        self._changed |= self._runs.keys()
        self._table.focus()

    def action_select(self) -> None:
        """Opens the run under the cursor."""
        self._table.action_select_cursor()

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Opens the run that was selected."""
        if event.row_key.value in self._runs:
            self.push_screen(RunScreen(self._client, str(event.row_key.value)))


def _cells(run: RunStatus) -> list[Text]:
    known = run.reading.percent if run.reading else None
    drawn = Timeline(run.plan.second_threshold, BLOCKS, _NARROW)
    number = window(run)
    return [
        Text(run.plan.address or "-"),
        Text(run.plan.agent or "-"),
        Text(printable(run.plan.model) or "-"),
        text_of(drawn.bar(known)),
        Text(percent(run), justify="right"),
        Text(run.sounded),
        Text(str(run.last_turn), justify="right"),
        Text(_age(run.start_time), justify="right"),
        Text(str(run.insertions_given), justify="right"),
        Text(f"{run.dropped_bytes / 1024:.0f} KiB" if run.dropped_bytes else "-", justify="right"),
        Text(f"{number:,}" if number else "-", justify="right"),
        Text(run.state),
        Text(run.run_id),
    ]


def _age(since: datetime) -> str:
    seconds = max(int((datetime.now(UTC) - since).total_seconds()), 0)
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
