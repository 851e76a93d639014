"""How a command ends: one line for what went wrong and one for what to do, and a code that says which it was.

Rule: 0 it was done; 1 it was refused, or could not be done; 2 it was asked wrongly; 130 the user broke it off; 141
nobody reads on. No traceback is shown for any of them.
"""

import errno
import os
import sys
from collections.abc import Callable
from typing import NoReturn

import typer
from rich.console import Console

from ullage import ConfigChanged, RunNotFound, ServerUnreachable, UllageError

from .screen import printable

#: What to do of the errors for which a command has other words than the client.
_RECOVERIES: dict[type[UllageError], str] = {
    ServerUnreachable: "name the one that runs with --target or in ULLAGE_TARGET (`make run`'s is "
    "127.0.0.1:50151), or start one with `ullage serve`",
    RunNotFound: "`ullage runs` lists those there are",
    ConfigChanged: "`ullage building show` tells the etag it has now",
}


class Problem(Exception):
    """What is told to the user instead of an answer: what is wrong, and what to do now."""

    def __init__(self, message: str, recovery: str = "", code: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.recovery = recovery
        self.code = code


def say(message: str, recovery: str = "", style: str = "red") -> None:
    """Tells the user something beside the answer, on stderr."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print("ullage:", style=style, end=" ")
    console.print(printable(message), markup=False)
    for line in recovery.splitlines():
        console.print(f"        {printable(line)}", style="dim", markup=False)


def carry_out(work: Callable[[], int]) -> NoReturn:
    """Does a command's work, and ends the command with the code it gives."""
    try:
        code = work()
        sys.stdout.flush()
    except Problem as problem:
        say(problem.message, problem.recovery)
        code = problem.code
    except UllageError as error:
        say(error.message, _RECOVERIES.get(type(error), error.recovery))
        code = 1
    except BrokenPipeError:
        # What is still buffered has no reader either; it must not be tried again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        say("the answer could not be written: no space is left there", "make room, or send it elsewhere")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except KeyboardInterrupt:
        code = 130
    raise typer.Exit(code)
