"""Servers under measurement: started as processes of their own, their CPU and memory read from the kernel."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc

_PAGE = os.sysconf("SC_PAGE_SIZE")
#: An echo's answer is as large as what it was sent.
_ANY_SIZE = [("grpc.max_receive_message_length", -1)]


class Process:
    """A server that is up, and a channel to it."""

    def __init__(self, pid: int, channel: grpc.aio.Channel) -> None:
        self.pid = pid
        self.channel = channel

    def cpu_seconds(self) -> float:
        """The CPU it has used so far, of all its threads, in user and kernel."""
        return time.clock_gettime((~self.pid << 3) | 2)  # as the C library's clock_getcpuclockid

    def resident_bytes(self) -> int:
        """What it holds in memory now."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * _PAGE


@asynccontextmanager
async def process(socket: Path, *command: str) -> AsyncIterator[Process]:
    """`python -m COMMAND…`, up when it answers on `socket`."""
    child = await asyncio.create_subprocess_exec(sys.executable, "-m", *command)
    try:
        async with grpc.aio.insecure_channel(f"unix:{socket}", _ANY_SIZE) as channel:
            deadline = time.monotonic() + 30
            while not socket.exists():
                if time.monotonic() > deadline or child.returncode is not None:
                    raise RuntimeError(f"{command[0]} did not start")
                await asyncio.sleep(0.05)
            await asyncio.wait_for(channel.channel_ready(), 30)
            yield Process(child.pid, channel)
    finally:
        if child.returncode is None:
            child.send_signal(signal.SIGTERM)
        await child.wait()
