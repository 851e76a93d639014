"""A recording's file, read, and what of it is left out, told on stderr.

Rule: without a file it is the bundled example. Stdin is read where it is named and only there: a pipe that nobody
fills must not hold up the example.
"""

import os
import stat
import sys
from importlib.resources import files
from pathlib import Path
from typing import IO

from .endings import Problem, say
from .recordings import Recording, RecordingError, read


def read_recording(file: str | None) -> tuple[Recording, str]:
    """What the file of that name holds, and how it is called; `-` is stdin. Raises Problem."""
    recording = _read(file)
    if file is None and _something_is_piped_in():
        say(
            "what is piped in is not read; this is the bundled example", "name it with - to have it read", "yellow"
        )
    _tell_what_is_left_out(recording)
    return recording, "example" if file is None else "stdin" if file == "-" else Path(file).name


def _read(file: str | None) -> Recording:
    name = "the example" if file is None else "stdin" if file == "-" else file
    try:
        if file == "-":
            return read(sys.stdin.buffer)
        with _open(file) as stream:
            return read(stream)
    except OSError as error:
        raise Problem(f"{name} can't be read: {error.strerror}") from None
    except RecordingError as error:
        raise Problem(f"{name} can't be played: {error}") from None


def _open(file: str | None) -> IO[bytes]:
    if file is not None:
        return Path(file).open("rb")
    return files("ullage_server.cli").joinpath("example.jsonl").open("rb")


def _something_is_piped_in() -> bool:
    """Whether stdin is a pipe or a file; what stands in for none, as /dev/null, is neither."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):  # there is none
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def _tell_what_is_left_out(recording: Recording) -> None:
    for count, what in (
        (recording.subagent_calls, "of subagents, which have windows of their own"),
        (recording.repeated, "told a second time"),
        (recording.failed, "that failed"),
        (recording.abandoned, "that were gone back on"),
    ):
        if count:
            say(f"left out {count} call{'s' * (count > 1)} {what}", style="dim")
    if recording.sums:
        sums = f"{recording.sums} sum{'s' * (recording.sums > 1)}"
        say(f"left out {sums} over a session's calls (a `result` of Claude Code)", style="dim")
    if recording.junk:
        one, several = ("entry", "entries") if recording.unit == "entry" else ("line", "lines")
        where = ", ".join(map(str, recording.junk_at))
        more = recording.junk - len(recording.junk_at)
        say(
            f"left out {recording.junk} {several if recording.junk > 1 else one} that can't be read: "
            f"{where}{f' and {more} more' * bool(more)}",
            style="yellow",
        )
