"""A run's curve in the cells of a terminal.

Rule: what is drawn is what the ledger holds. A cell of the width stands for as many turns as it must, and shows
the fullest of them; where it stands for none, the last one goes on.
"""

from ..core.thresholds import FIRST_PERCENT
from .curve import Curve
from .timeline import Line

_EIGHTHS = " ▁▂▃▄▅▆▇█"
#: What stands before the plot: a percent and a gap.
_AXIS = 6


def plot(curve: Curve, width: int, height: int) -> list[Line]:
    """The curve in that many cells, the fullest at the top; one line of words where it has no percent."""
    if not curve.in_percent:
        return [[("no percent: the window is unknown, or nothing was read", "dim")]]
    columns = max(width - _AXIS, 1)
    first, last = curve.points[0].turn, curve.points[-1].turn
    step = (last - first + 1) / columns
    levels = _levels(curve, first, step, columns)
    top = max(100.0, *levels)
    marks = {
        round((height - 1) * percent / top): percent
        for percent in (100, curve.plan.second_threshold, FIRST_PERCENT)
    }
    resets = {min(int((turn - first) / step), columns - 1) for turn in curve.resets if turn >= first}
    lines: list[Line] = []
    for row in reversed(range(height)):
        label = f"{marks[row]}%".rjust(_AXIS - 1) + " " if row in marks else " " * _AXIS
        cells = []
        for column, level in enumerate(levels):
            eighths = min(max(round(level * height / top * 8) - row * 8, 0), 8)
            empty = "┊" if column in resets else "╌" if row in marks else " "
            cells.append(_EIGHTHS[eighths] if eighths else empty)
        lines.append([(label, "dim"), ("".join(cells), _style(curve, row, height, top))])
    behind = f"turn {last}"
    lines.append([(" " * _AXIS + f"turn {first}".ljust(max(columns - len(behind), 0)) + behind, "dim")])
    return lines


def _levels(curve: Curve, first: int, step: float, columns: int) -> list[float]:
    """The percent of each column."""
    fullest: dict[int, float] = {}
    for point in curve.points:
        column = min(int((point.turn - first) / step), columns - 1)
        fullest[column] = max(fullest.get(column, 0.0), point.percent)
    levels: list[float] = []
    for column in range(columns):
        levels.append(fullest.get(column, levels[-1] if levels else 0.0))
    return levels


def _style(curve: Curve, row: int, height: int, top: float) -> str:
    """The style of a row: how far what reaches it has gone past the thresholds."""
    percent = row * top / height
    if percent < FIRST_PERCENT:
        return "low"
    return "first" if percent < curve.plan.second_threshold else "handover"
