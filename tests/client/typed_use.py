"""How a typed program uses the client. It is checked, never run: what a type checker gets from each call."""

from typing import assert_type

import ullage
from ullage.v1 import building_pb2, plan_pb2, run_pb2


def synchronous() -> None:
    with ullage.Client("unix:/run/x", timeout=2) as client:
        assert_type(client, ullage.Client)
        run = client.start_run(
            model="m", context_tokens=1000, second_threshold=None, labels={"a": "b"}, time_budget=9.5
        )
        assert_type(run, ullage.Run)
        assert_type(run.plan, plan_pb2.RunPlan)
        assert_type(run.settled, list[plan_pb2.Settled])
        seen = run.observe({"prompt_tokens": 7}, dialect="openai_chat")
        assert_type(seen, ullage.Observation)
        if seen.reminder is not None:
            assert_type(seen.reminder.text, str)
        if seen.reading is not None:
            assert_type(seen.reading.percent, int | None)
        assert_type(run.status(), run_pb2.Run)
        assert_type(client.resume_run("r1"), ullage.Run)
        for listed in client.list_runs(state="active"):
            assert_type(listed, run_pb2.Run)
        assert_type(client.configure_building("lab", models={"m": 5}, reset=["clock.zone"]), building_pb2.Building)
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
        async for building in client.list_buildings():
            assert_type(building, building_pb2.Building)
        assert_type(await client.finish_run("r1"), run_pb2.Run)
