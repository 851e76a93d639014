"""`ullage top`: all runs of a server, live.

Rule: what is shown is what the server tells; between two redraws of the screen the latest wins. Where the server
is away the last picture stays, and the line at the head says so. The terminal is left as it was.
"""

import sys

from .endings import Problem, carry_out
from .options import Below, Labels, Target, labels_of, server


def top(
    address: Below = "",
    label: Labels = None,
    target: Target = None,
) -> None:
    """Show all runs live: how full each window is, what has sounded, and one run's curve and ledger."""
    labels = labels_of(label)
    asked = server(target)

    def show() -> int:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise Problem("top needs a terminal", "`ullage watch` and `ullage runs` write to pipes")
        try:
            from .top_app import TopApp
        except ModuleNotFoundError as missing:
            if missing.name is None or missing.name.partition(".")[0] != "textual":
                raise
            raise Problem("top needs textual, which is not installed", "pip install '.[cli]'") from None
        app = TopApp(asked, address, labels)
        app.run()
        if app.problem is not None:
            raise app.problem
        return 0

    carry_out(show)
