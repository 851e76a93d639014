"""Where an answer is written: a terminal in colours, a pipe in plain text, or a program in JSON lines.

Rule: to a pipe goes no escape code and one line a thing; in JSON mode stdout holds JSON alone. What a server or a
file says can never steer the terminal: what can't be printed is shown as its escape.
"""

import json
import sys
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from .timeline import Line

#: How the pieces of a line look, by the names of their styles.
STYLES = {
    "head": "dim",
    "low": "green",
    "first": "yellow",
    "handover": "bold red",
    "mark": "bright_black",
    "note": "cyan",
    "title": "bold",
    "key": "cyan",
}


def printable(text: str) -> str:
    """`text` with every character that can't be printed as its escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


def moment(time: datetime) -> str:
    """A moment of UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


class Screen:
    """Stdout, written line by line."""

    def __init__(self, *, as_json: bool = False) -> None:
        reconfigure = getattr(sys.stdout, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
        self._console = Console(theme=Theme(STYLES), highlight=False, soft_wrap=True)
        self.as_json = as_json
        self.terminal = self._console.is_terminal and not as_json
        self.width = self._console.width
        self.unicode = self.terminal and self._console.encoding.startswith("utf")

    def line(self, line: Line) -> None:
        """One line of pieces, each in its style; nothing in JSON mode."""
        if self.as_json:
            return
        pieces = [(printable(text), style) for text, style in line]
        if self.terminal:
            self._console.print(Text.assemble(*pieces))
        else:
            sys.stdout.write("".join(text for text, _ in pieces).rstrip() + "\n")

    def title(self, text: str) -> None:
        """A line about what follows: to a pipe it begins with `#`, so that a program can pass over it."""
        self.line([(text, "title")] if self.terminal else [(f"# {text}", "")])

    def row(self, value: dict[str, Any]) -> None:
        """One JSON object on a line; nothing out of JSON mode."""
        if self.as_json:
            sys.stdout.write(json.dumps(value) + "\n")

    def flush(self) -> None:
        """Hands on what was written, for whoever waits at the other end."""
        sys.stdout.flush()
