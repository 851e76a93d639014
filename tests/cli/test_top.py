"""`ullage top`: the rows, the keys, one run, a server that goes and comes, and the terminal as it was."""

import asyncio
import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
from collections.abc import Callable, Iterator

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, Input, Static

import ullage
from tests.cli.command import argv, asked, environment
from tests.servers import Server, running_server
from ullage_server.cli.top_app import TopApp
from ullage_server.cli.top_run import RunScreen


@pytest.fixture
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


def rows(app: TopApp) -> list[list[str]]:
    """What stands in the rows, from the top."""
    table = app.screen_stack[0].query_one(DataTable)
    return [[cell.plain for cell in table.get_row_at(number)] for number in range(table.row_count)]


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    for _ in range(300):
        await pilot.pause(0.1)
        if holds():
            return
    raise AssertionError("it never came to hold")


async def test_the_rows_follow_the_runs_and_the_keys_order_and_choose_them(server: Server) -> None:
    async with ullage.AsyncClient(server.target) as client:
        a = await client.start_run("a", context_tokens=1000, address="lab", agent="scout", model="m-1")
        b = await client.start_run("b", context_tokens=1000, address="tower/eve")
        done = await client.start_run("done", address="lab")
        await done.finish()
        await a.observe(310)
        app = TopApp(server.target)
        async with app.run_test(size=(140, 24)) as pilot:
            await until(pilot, lambda: len(rows(app)) == 2)
            assert rows(app)[0][:3] == ["lab", "scout", "m-1"]
            assert rows(app)[0][4:7] == ["31%", "first", "1"]
            assert "│" in rows(app)[0][3], "the thresholds are marked in the bar"
            assert [row[-1] for row in rows(app)] == ["a", "b"], "the fullest first, the unread last"
            await b.observe(700)
            await until(pilot, lambda: [row[-1] for row in rows(app)] == ["b", "a"])
            assert rows(app)[0][4:6] == ["70%", "handover"]
            await pilot.press("r")
            assert [row[-1] for row in rows(app)] == ["a", "b"]
            await pilot.press("r", "s")
            assert [row[-1] for row in rows(app)] == ["b", "a"], "the newest first"
            await pilot.press("f")
            await until(pilot, lambda: len(rows(app)) == 3)
            await pilot.press("slash")
            app.query_one(Input).value = "lab"
            await pilot.press("enter")
            await until(pilot, lambda: sorted(row[-1] for row in rows(app)) == ["a", "done"])
            told = str(app.query_one("#told", Static).content)
            assert told.startswith("2 active runs of 3 at lab on ")


async def test_one_run_shows_its_curve_and_its_ledger_as_it_grows(server: Server) -> None:
    async with ullage.AsyncClient(server.target) as client:
        run = await client.start_run("a", context_tokens=1000)
        await run.observe(310)
        app = TopApp(server.target)
        async with app.run_test(size=(100, 40)) as pilot:
            await until(pilot, lambda: len(rows(app)) == 1)
            await pilot.press("enter")
            await until(
                pilot, lambda: isinstance(app.screen, RunScreen) and app.screen.query_one(DataTable).row_count == 2
            )
            assert "30%" in str(app.screen.query_one("#curve", Static).content)
            await run.observe(650)
            await until(pilot, lambda: app.screen.query_one(DataTable).row_count == 3)
            newest = [cell.plain for cell in app.screen.query_one(DataTable).get_row_at(0)]
            assert newest[0] == "3"
            assert newest[4].startswith("650 tokens: [context] 65%")
            await pilot.press("escape")
            assert rows(app)[0][-1] == "a"


async def test_a_server_that_goes_is_told_of_and_followed_again_when_it_is_back(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ullage_server.cli.top_app.TIMEOUT", 0.5)
    monkeypatch.setattr("ullage_server.cli.top_app.AGAIN_SECONDS", 0.1)
    async with ullage.AsyncClient(server.target) as client:
        run = await client.start_run("a", context_tokens=1000)
        app = TopApp(server.target)
        async with app.run_test(size=(100, 24)) as pilot:
            await until(pilot, lambda: len(rows(app)) == 1)
            server.kill()
            await until(pilot, lambda: "is away" in str(app.query_one("#told", Static).content))
            assert len(rows(app)) == 1
            await asyncio.to_thread(server.start)
            await run.observe(310)
            await until(pilot, lambda: rows(app)[0][4] == "31%")
            assert "is away" not in str(app.query_one("#told", Static).content)


async def test_no_server_at_the_start_is_a_problem_like_any_other(server: Server) -> None:
    server.kill()
    app = TopApp(server.target)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.problem is not None)
    assert isinstance(app.problem, ullage.ServerUnreachable)


def test_without_a_terminal_it_says_so(target: str) -> None:
    done = asked("top", "--target", target)
    assert (done.returncode, done.stdout) == (1, "")
    assert "top needs a terminal" in done.stderr


@pytest.mark.parametrize("key", [b"q", b"\x03"])
def test_the_terminal_is_left_as_it_was(server: Server, key: bytes) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    written = b""
    with subprocess.Popen(
        argv("top", "--target", server.target),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(TERM="xterm-256color"),
        start_new_session=True,
    ) as process:
        os.close(theirs)
        too_late = threading.Timer(30, process.kill)
        too_late.start()
        pressed = False
        while True:
            try:
                read = os.read(ours, 65536)
            except OSError:  # nobody holds the other end any more
                break
            if not read:
                break
            written += read
            if not pressed and b"active runs of" in written:
                pressed = True
                os.write(ours, key)
        too_late.cancel()
    os.close(ours)
    assert pressed, written
    assert b"\x1b[?1049h" in written, "another screen was opened"
    assert written.rindex(b"\x1b[?1049l") > written.rindex(b"\x1b[?1049h"), "and was closed again"
    assert b"\x1b[?25h" in written[written.rindex(b"\x1b[?1049l") - 200 :], "the cursor is back"
