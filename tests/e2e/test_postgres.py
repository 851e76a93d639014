"""Servers on one PostgreSQL: what is refused at the start, and what happens while the database is away."""

import subprocess
import sys
import time

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

import ullage
from tests.postgres import Cluster, cluster, migrated
from tests.servers import environment, running_server


def health_of(target: str) -> int:
    with grpc.insecure_channel(target) as channel:
        check = health_pb2_grpc.HealthStub(channel).Check
        return int(check(health_pb2.HealthCheckRequest(), timeout=10, wait_for_ready=True).status)


def until(target: str, status: int) -> None:
    for _ in range(300):
        if health_of(target) == status:
            return
        time.sleep(0.1)
    raise AssertionError(f"the health service never said {status}")


def test_while_the_database_is_away_nothing_is_lost_and_then_all_goes_on() -> None:
    with (
        cluster() as mine,
        running_server("--store", migrated(mine)) as server,
        ullage.Client(server.target) as client,
        ullage.Client(server.target, timeout=1) as hasty,
    ):
        run = client.start_run("r", context_tokens=1000)
        run.observe(100)
        mine.stop("immediate")
        until(server.target, health_pb2.HealthCheckResponse.NOT_SERVING)
        with pytest.raises(ullage.UllageError) as refused:
            hasty.get_run("r")
        assert refused.value.code is grpc.StatusCode.UNAVAILABLE
        assert refused.value.reason == "STORE_UNAVAILABLE"
        assert refused.value.retry_delay
        assert str(mine.folder) not in str(refused.value)
        mine.start()
        run.observe(200)
        until(server.target, health_pb2.HealthCheckResponse.SERVING)
        assert client.get_run("r").last_turn == 2


def test_what_one_server_records_another_shows_and_tells_its_watchers(postgres: Cluster) -> None:
    store = migrated(postgres)
    with (
        running_server("--store", store) as one,
        running_server("--store", store) as other,
        ullage.Client(one.target) as here,
        ullage.Client(other.target) as there,
    ):
        run = here.start_run("r", context_tokens=1000)
        events = there.watch_runs()
        for seen in events:
            if isinstance(seen, ullage.SnapshotComplete):
                run.observe(100)
            if isinstance(seen, ullage.RunChanged) and seen.run.last_turn == 1:
                break
        here.configure_building("lab", context_second_threshold=70)
        assert there.start_run("s", address="lab", context_tokens=1000).plan.second_threshold == 70


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["serve", "--listen", "127.0.0.1:0"], "run `ullage migrate` once"),
        (["migrate", "--store", "mysql://u:secret@h/d"], "postgresql://USER@HOST/DATABASE"),
        (["migrate", "--store", "postgresql://u:secret@127.0.0.1:1/d"], "see that the database is up"),
        (["migrate"], "no store is named"),
    ],
)
def test_what_cannot_start_says_why_and_no_secret(postgres: Cluster, command: list[str], told: str) -> None:
    stated = ["--store", postgres.database()] if command[0] == "serve" else []
    ended = subprocess.run(
        [sys.executable, "-m", "ullage_server", *command, *stated],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode != 0
    assert told in " ".join(ended.stderr.split())
    assert "secret" not in ended.stderr
    assert "Traceback" not in ended.stderr
