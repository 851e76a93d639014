"""A process that has loaded the server and forks a new one whenever it is told to.

A server takes a second of CPU to load, which two hundred starts in a test need not pay. Nothing of a server runs
before the fork, and the fork runs the command `ullage` from its beginning; only the imports are done.

One word a line on stdin, one number a line on stdout: `start` gives the new server's process id, `poll` its exit
code, or nothing while it runs. The arguments are the command's own.
"""

import os
import sys

import genai_prices.data  # noqa: F401  # what the server loads late
import uvloop  # noqa: F401

import ullage_server.app
import ullage_server.cli.own_server
import ullage_server.cli.serve  # noqa: F401
from ullage_server.cli import main


def serve_orders() -> None:
    """Carries orders out; returns in each new server, and ends where there are no more."""
    server = 0
    for order in sys.stdin:
        if order == "start\n":
            server = os.fork()
            if not server:
                # What a server prints belongs to its log.
                os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
                return
            told = str(server)
        else:
            ended, status = os.waitpid(server, os.WNOHANG)
            told = str(os.waitstatus_to_exitcode(status)) if ended else ""
        sys.stdout.write(f"{told}\n")
        sys.stdout.flush()
    sys.exit()


serve_orders()
main()
