"""Callers of a server that keeps going away: agents that report their turns, and writers of rungs.

Each knows what it must hear, and compares it with every answer as it comes; at the end it asks for all of it once
more.
"""

import asyncio
from collections.abc import Sequence
from random import Random

from tests.e2e.killed import Siege
from tests.e2e.ledger_file import Row, one_after_the_other
from tests.e2e.plain_rule import Said, answers, said
from ullage import AsyncClient, AsyncRun, Building, BuildingChanges, RunStatus, UllageError, new_run_id

WINDOWS = (1000, 8192, 200_000, 1_048_576)


class Agent:
    """One run: what is reported of it, what it heard, and whether it was ended."""

    def __init__(self, siege: Siege, chance: Random, rung: str) -> None:
        self.siege = siege
        self.run_id = new_run_id()
        self.rung = rung
        self.window = chance.choice(WINDOWS)
        self.states_second = chance.choice([None, None, chance.randint(31, 90)])
        self.reports = rising(chance, self.window, turns=chance.randint(6, 20))
        self.finishes = chance.random() < 0.5
        self.run: AsyncRun | None = None
        self.heard: list[Said] = []
        self.ended: RunStatus | None = None

    async def live(self, client: AsyncClient) -> None:
        """Starts the run, reports its turns in order, each until it is answered, and perhaps ends it."""
        try:
            await self._live(client)
        except UllageError as error:
            self.blame(f"turn {len(self.heard) + 1}", error, "an answer")

    async def _live(self, client: AsyncClient) -> None:
        run = self.run = await self.start(client)
        second = run.plan.second_threshold
        if self.states_second not in (None, second):
            self.blame("froze", second, self.states_second)
        # The rule's answers to a run's first turns are those to all of its turns, cut short.
        expected = answers(self.reports, self.window, second)
        for turn, used in enumerate(self.reports, start=1):
            seen = await self.siege.persist(lambda used=used: run.observe(used))  # type: ignore[misc]
            self.siege.met["replayed"] += seen.replayed
            self.heard.append(said(seen))
            if run.last_turn != turn:
                self.blame(f"turn {turn}", run.last_turn, turn)
            self.compare(f"turn {turn}", self.heard[-1], expected[turn - 1])
        if self.finishes:
            self.ended = await self.siege.persist(lambda: client.finish_run(self.run_id, "done"))

    async def start(self, client: AsyncClient) -> AsyncRun:
        """The start, which is the same however often it is sent."""
        run = await self.siege.persist(
            lambda: client.start_run(
                self.run_id,
                address=self.rung,
                context_tokens=self.window,
                second_threshold=self.states_second,
            )
        )
        self.siege.met["starts replayed"] += run.replayed
        return run

    async def ask_again(self, client: AsyncClient) -> None:
        """Asks for every answer once more, the start's included, and for how the run stands."""
        again = await self.start(client)
        if (
            self.run is None
            or not again.replayed
            or (again.plan, again.settled)
            != (
                self.run.plan,
                self.run.settled,
            )
        ):
            self.blame("start", again, self.run, fault="missing")
        for turn, used in enumerate(self.reports[: len(self.heard)], start=1):
            try:
                seen = await again.observe(used, turn=turn)
            except UllageError as error:
                self.blame(f"turn {turn} asked again", error, "the recorded answer", fault="missing")
                continue
            if not seen.replayed:
                self.blame(f"turn {turn} asked again", "a new answer", "the recorded one", fault="missing")
            self.compare(f"turn {turn} asked again", said(seen), self.heard[turn - 1])
        stands = await client.get_run(self.run_id)
        given = sum(each.reminder is not None for each in self.heard)
        figures = (stands.last_turn, stands.revision, stands.insertions_given, stands.state)
        state = "finished" if self.finishes else "active"
        if figures != (len(self.reports), len(self.rows), given, state):
            self.blame("stands", figures, (len(self.reports), len(self.rows), given, state))
        if self.finishes and stands != self.ended:
            self.blame("ended", stands, self.ended)

    @property
    def rows(self) -> list[Row]:
        """What the ledger must hold."""
        return one_after_the_other(len(self.reports), finished=self.finishes)

    def compare(self, what: str, got: Said, wanted: Said) -> None:
        if got == wanted:
            return
        lost = wanted.reminder is not None and got.reminder is None
        doubled = wanted.reminder is None and got.reminder is not None
        self.blame(what, got, wanted, fault="lost" if lost else "doubled" if doubled else "wrong")

    def blame(self, what: str, got: object, wanted: object, fault: str = "wrong") -> None:
        self.siege.blame(fault, f"run {self.run_id}, {what}: got {got}, wanted {wanted}")


def rising(chance: Random, window: int, turns: int) -> list[int | None]:
    """The prompts of a run that fills its window, with drops, and with calls that report nothing."""
    reports: list[int | None] = []
    used = window // 50
    for _ in range(turns):
        used += chance.randint(0, window // 8)
        if chance.random() < 0.05:
            used = window // 20 + 1
        reports.append(None if chance.random() < 0.1 else used)
    return reports


class Scribe:
    """Writes one key of one rung over and over, each command under an id of its own."""

    def __init__(self, siege: Siege, rung: str, key: str, values: Sequence[int]) -> None:
        self.siege = siege
        self.rung = rung
        self.key = key
        self.values = values
        self.sent: list[tuple[str, int]] = []
        self.answered: dict[str, Building] = {}

    async def write(self, client: AsyncClient, chance: Random) -> None:
        """Sends the next command, sees that it holds, and now and then sends an old one again."""
        try:
            await self._write(client, chance)
        except UllageError as error:
            self.siege.blame("wrong", f"command {len(self.sent)} on {self.rung!r}: {error}")

    async def _write(self, client: AsyncClient, chance: Random) -> None:
        value = chance.choice(self.values)
        request_id = f"{self.rung.replace('/', '.')}:{self.key}:{len(self.sent)}"
        self.sent.append((request_id, value))
        await self._send(client, request_id, value)
        if chance.random() < 0.3:
            await self._send(client, *chance.choice(self.sent))
        stands = await self.siege.persist(lambda: client.get_building(self.rung))
        if self._stated(stands) != str(value):
            self.siege.blame("wrong", f"{request_id} stands as {self._stated(stands)}, wanted {value}")

    async def ask_again(self, client: AsyncClient) -> None:
        """Sends every command once more; each is answered as it was, and changes nothing."""
        before = await client.get_building(self.rung)
        for request_id, value in self.sent:
            await self._send(client, request_id, value)
        if await client.get_building(self.rung) != before or self._stated(before) != str(self.sent[-1][1]):
            self.siege.blame("wrong", f"{self.rung} {self.key} changed: {before}")

    async def _send(self, client: AsyncClient, request_id: str, value: int) -> None:
        changes: BuildingChanges = {self.key: value}  # type: ignore[misc]  # the key is one of them
        answer = await self.siege.persist(
            lambda: client.configure_building(self.rung, request_id=request_id, **changes)
        )
        if self.answered.setdefault(request_id, answer) != answer or self._stated(answer) != str(value):
            self.siege.blame("wrong", f"{request_id} answered {answer}, wanted {value}, as the first time")

    def _stated(self, building: Building) -> str | None:
        dotted = self.key.replace("_", ".", 1)
        return next((settled.value for settled in building.stated if settled.key == dotted), None)


async def keep_living(siege: Siege, chance: Random, rungs: Sequence[str], over: asyncio.Event) -> list[Agent]:
    """One run after the other, each to its end, until it is over."""
    agents: list[Agent] = []
    async with siege.client() as client:
        while not over.is_set():
            agents.append(Agent(siege, chance, chance.choice(rungs)))
            await agents[-1].live(client)
    return agents


async def keep_writing(siege: Siege, chance: Random, scribe: Scribe, over: asyncio.Event) -> None:
    """One command after the other, until it is over."""
    async with siege.client() as client:
        while not over.is_set():
            await scribe.write(client, chance)
            await asyncio.sleep(chance.uniform(0, 0.1))
