"""A run's curve as a picture.

Rule: it reads in black and white, and for those who tell colours apart badly: every mark has a shape of its own,
every line its own dashes, and the colours are those of Okabe and Ito. The same curve gives the same file.
"""

from typing import IO, TYPE_CHECKING, Any

from .curve import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLUE, _ORANGE, _RED, _GREY = "#0072B2", "#E69F00", "#D55E00", "#666666"
#: Up to so many points each is marked.
_MARKED = 80


def draw(curve: Curve, title: str, out: IO[bytes], form: str) -> None:
    """Draws `curve` into `out`, as "svg" or "png". Raises ModuleNotFoundError without the extra `[charts]`."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "ullage",
        "font.family": "sans-serif",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with mpl.rc_context(settings):
        figure = Figure(figsize=(9, 4.8 if curve.cuts else 4), layout="constrained")
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        if curve.cuts:
            window, cuts = figure.subplots(2, sharex=True, height_ratios=[4, 1])
            _draw_cuts(cuts, curve)
        else:
            window = cuts = figure.subplots()
        _draw_window(window, curve)
        cuts.set_xlabel("turn")
        figure.savefig(out, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)


def _draw_window(axes: "Axes", curve: Curve) -> None:
    from matplotlib.ticker import MaxNLocator

    turns = [point.turn for point in curve.points]
    fill = [point.percent if curve.in_percent else point.used_tokens for point in curve.points]
    few = len(turns) <= _MARKED
    axes.fill_between(turns, fill, color=_BLUE, alpha=0.12, linewidth=0)
    axes.plot(turns, fill, color=_BLUE, linewidth=1.6, marker="o" if few else "", markersize=3.5, label="used")
    if curve.in_percent:
        axes.set_ylabel("of the window, %")
        axes.set_ylim(0, max(100.0, *fill) * 1.06)
        for percent, dashes in ((30, (6, 3)), (curve.plan.second_threshold, (2, 2)), (100, (1, 0))):
            axes.axhline(percent, color=_GREY, linewidth=0.9, dashes=dashes)
            axes.annotate(
                f"{percent} %",
                (1.0, percent),
                xycoords=("axes fraction", "data"),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                color=_GREY,
            )
    else:
        axes.set_ylabel("tokens used")
        axes.set_ylim(0, max([*fill, 1]) * 1.08)
    at = dict(zip(turns, fill, strict=True))
    for handover, label, marker, color in (
        (False, "usage reminder", "^", _ORANGE),
        (True, "handover reminder", "D", _RED),
    ):
        told = [turn for turn, is_handover in curve.sounded.items() if is_handover is handover and turn in at]
        if told:
            heights = [at[turn] for turn in told]
            axes.plot(
                told, heights, marker, color=color, markeredgecolor="black", markersize=10, label=label, zorder=3
            )
    for number, turn in enumerate(sorted(curve.resets)):
        axes.axvline(
            turn, color="black", linewidth=1.1, linestyle=(0, (1, 2)), label="" if number else "window reset"
        )
    if turns:
        axes.set_xlim(min(turns) - 0.5, max(turns) + 0.5)
    else:
        axes.text(0.5, 0.5, "no usage was read", transform=axes.transAxes, ha="center", color=_GREY)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(loc="upper left", frameon=False, ncols=4, bbox_to_anchor=(0, 1.12), borderaxespad=0)


def _draw_cuts(axes: "Axes", curve: Curve) -> None:
    kib = [dropped / 1024 for dropped in curve.cuts.values()]
    axes.bar(list(curve.cuts), kib, width=0.8, color="white", edgecolor="black", hatch="////", linewidth=0.8)
    axes.set_ylabel("KiB cut")
