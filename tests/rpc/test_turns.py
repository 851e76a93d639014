"""Turns of watches: each gets one, in order, and the others of the loop come in between."""

import asyncio

from ullage_server.rpc.turns import AT_ONCE, Turns


async def test_each_gets_its_turn_in_order_and_others_come_in_between() -> None:
    turns, told = Turns(), list[int]()
    rounds = 0

    async def tell(number: int) -> None:
        await turns.take()
        told.append(number)

    async def others() -> None:
        nonlocal rounds
        while len(told) < 100:
            before = len(told)
            await asyncio.sleep(0)
            assert len(told) - before <= AT_ONCE
            rounds += 1

    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(others())
        for number in range(100):
            tasks.create_task(tell(number))
    assert told == list(range(100))
    assert rounds >= 100 / AT_ONCE


async def test_who_went_away_takes_no_turn() -> None:
    turns, told = Turns(), list[int]()

    async def tell(number: int) -> None:
        await turns.take()
        told.append(number)

    tasks = [asyncio.ensure_future(tell(number)) for number in range(AT_ONCE * 3)]
    await asyncio.sleep(0)
    for task in tasks[AT_ONCE:-2]:
        task.cancel()
    async with asyncio.timeout(60):
        await asyncio.gather(*tasks, return_exceptions=True)
        await turns.take()
    assert told == [*range(AT_ONCE), AT_ONCE * 3 - 2, AT_ONCE * 3 - 1]


async def test_one_alone_does_not_wait() -> None:
    turns = Turns()
    for _ in range(AT_ONCE):
        waiting = turns.take()
        try:
            waiting.send(None)
        except StopIteration:
            continue
        raise AssertionError("it waits")
