"""A client process that reports turns as fast as it is answered, until it is killed.

`python -m tests.e2e.doomed TARGET RUN_ID…`. What it reports follows from the runs' ids, so that whoever kills it
knows. It says a word on stdout when its first report is answered.
"""

import asyncio
import sys
from random import Random

from tests.e2e.callers import rising
from ullage import AsyncClient

WINDOW = 200_000
TURNS = 400


def reports(run_id: str) -> list[int | None]:
    """What is reported of the run, turn by turn; some fill the window in ten turns, some in two hundred."""
    chance = Random(run_id)
    return rising(chance, WINDOW // chance.choice([1, 5, 20]), TURNS)


async def report(client: AsyncClient, run_id: str) -> None:
    run = await client.start_run(run_id, context_tokens=WINDOW)
    for used in reports(run_id):
        await run.observe(used)
        if run.last_turn == 1:
            sys.stdout.write("answered\n")
            sys.stdout.flush()


async def main(target: str, *run_ids: str) -> None:
    async with AsyncClient(target) as client:
        await asyncio.gather(*(report(client, run_id) for run_id in run_ids))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
