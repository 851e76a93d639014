"""How a typed program uses the client. It is checked, never run: what a type checker gets from each call."""

from datetime import datetime
from typing import assert_type

import ullage


def synchronous() -> None:
    with ullage.Client("unix:/run/x", timeout=2) as client:
        assert_type(client, ullage.Client)
        run = client.start_run(
            model="m", context_tokens=1000, second_threshold=None, labels={"a": "b"}, time_budget=9.5
        )
        assert_type(run, ullage.Run)
        assert_type(run.plan, ullage.Plan)
        assert_type(run.settled, tuple[ullage.Settled, ...])
        seen = run.observe({"prompt_tokens": 7}, dialect="openai_chat")
        assert_type(seen, ullage.Observation)
        if seen.reminder is not None:
            assert_type(seen.reminder.text, str)
        if seen.reading is not None:
            assert_type(seen.reading.percent, int | None)
        status = run.status()
        assert_type(status, ullage.RunStatus)
        assert_type(status.reading, ullage.Reading | None)
        assert_type(status.finish_time, datetime | None)
        assert_type(client.resume_run("r1"), ullage.Run)
        answer = run.compact([{"role": "assistant", "content": "done"}])
        assert_type(answer, ullage.CompactedExchange)
        assert_type(answer.must_offload, tuple[ullage.TextVerdict, ...])
        for replayed in client.replay([(3, {"role": "assistant", "content": "done"})], run_id="r1"):
            assert_type(replayed, ullage.ReplayedExchange | ullage.DroppedHalfWave)
        assert_type(run.fork(3, second_threshold=50), ullage.Run)
        run.fork(3, modle="m")  # type: ignore[call-arg]
        for listed in client.list_runs(state="active"):
            assert_type(listed, ullage.RunStatus)
        assert_type(client.configure_building("lab", models={"m": 5}, reset=["clock.zone"]), ullage.Building)
        client.start_run(modle="m")  # type: ignore[call-arg]
        client.start_run(context_rearm="never")  # type: ignore[arg-type]
        client.list_runs(state="over")  # type: ignore[arg-type]
        client.configure_building("lab", second_threshold=50)  # type: ignore[call-arg]
        try:
            run.finish()
        except ullage.RunFinished as error:
            assert_type(error.field_violations, tuple[tuple[str, str], ...])
            assert_type(error.retry_delay, float | None)


async def asynchronous() -> None:
    async with ullage.AsyncClient() as client:
        assert_type(client, ullage.AsyncClient)
        run = await client.start_run("r1")
        assert_type(run, ullage.AsyncRun)
        assert_type(await run.observe(None), ullage.Observation)
        assert_type(await run.compact([]), ullage.CompactedExchange)
        assert_type(await run.fork(3), ullage.AsyncRun)
        async for replayed in client.replay([]):
            assert_type(replayed, ullage.ReplayedExchange | ullage.DroppedHalfWave)
        async for building in client.list_buildings():
            assert_type(building, ullage.Building)
        assert_type(await client.finish_run("r1"), ullage.RunStatus)
