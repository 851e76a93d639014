"""A wave: the tool uses of a reply and their results, each use with exactly one.

Rule (rules.md 8): grouping half a wave would give other bytes than the replay of the same history, so a wave that
is not whole is refused, and the ids at fault are named: WAVE_INCOMPLETE where results are missing, doubled or not
asked for. Two tool uses with one id are malformed, for nothing could tell their results apart: ARGUMENT_INVALID.
"""

from collections import Counter
from collections.abc import Sequence

from ..errors import Reason, Refusal, invalid

#: How many ids of a kind a message names, and how many bytes of each: an error must fit a response's headers.
_NAMED, _BYTES = 4, 64


def is_whole(asked: Sequence[str], answered: Sequence[str]) -> bool:
    """Whether each of the ids `asked`, all different, is `answered` once, and nothing else is."""
    return len(set(asked)) == len(asked) and Counter(asked) == Counter(answered)


def check_wave(subject: str, asked: Sequence[str], answered: Sequence[str]) -> None:
    """Refused where a tool use of `asked` has not exactly one result in `answered`, or a result no tool use."""
    uses, results = Counter(asked), Counter(answered)
    if twice := [name for name, count in uses.items() if count > 1]:
        raise invalid(
            "exchange.assistant",
            f"several tool uses of the reply have the id {_named(twice)}; each has an id of its own",
        )
    faults = []
    if missing := [name for name in uses if name not in results]:
        faults.append(f"no result for {_named(missing)}")
    if surplus := [name for name in results if name not in uses]:
        faults.append(f"no tool use for the result of {_named(surplus)}")
    if doubled := [name for name, count in results.items() if count > 1 and name in uses]:
        faults.append(f"more than one result for {_named(doubled)}")
    if faults:
        raise Refusal(
            Reason.WAVE_INCOMPLETE,
            f"the wave is not whole: {'; '.join(faults)}; each tool use has exactly one result",
            subject=subject,
            recovery="send the exchange once each tool use has one result; answer an aborted call with an error",
            field="exchange.results",
        )


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(_shown, names[:_NAMED])) + more


def _shown(name: str) -> str:
    raw = name.encode()
    shown = raw[:_BYTES].decode(errors="ignore")
    printable = "".join(char if char.isprintable() else "?" for char in shown)
    return f'"{printable}{"…" if len(raw) > _BYTES else ""}"'
