"""Settings and data by keys: YAML, TOML, INI."""

import re

from ..look import Look

_KEY = r"(?:\"[^\"]{1,80}\"|'[^']{1,80}'|[\w$./@*{}-][\w$ ./@*{}()-]{0,60})"
_YAML = re.compile(rf"\s{{0,60}}+(?:- )?{_KEY}:(?: +\S|\s*+$)|\s{{0,60}}+- \S|---\s*$")
_YAML_KEY = re.compile(r"\s*+(?:- )?[\w$./\"'@{}-]+:(?:\s|$)")
_EDGE = re.compile(
    r"\s*+(?:- |-$|---|\.\.\.|%|![\w!]+$|[\]}]|(?:- )?(?:[\w$./@{}*-]+|\"[^\"]{1,80}\"|'[^']{1,80}'):(?:\s|$))"
)
#: What opens a block of text.
_BLOCK = re.compile(r":\s{1,4}(?:![\w!]{1,40} )?[|>][+-]?\d?[+-]?\s*$")
_SECTION = re.compile(r"\s{0,8}+\[{1,2}[\w .:\"'/@*-]{1,120}\]{1,2}\s*(?:#.*)?$")
_PAIR = re.compile(r"\s{0,8}+[\w.\"'/:-]{1,80}\s{0,20}=(?:\s{0,20}[^=\s>]|\s*+$)")
_CLOSED = re.compile(r"\s{0,8}+[\]}\"']{1,3},?\s*$")
_COMMENT = re.compile(r"\s{0,60}+[#;]")
_SENTENCE = re.compile(r"\S(?:\S{0,30} ){8}")
_PROGRAM = (";", "{", "(", ")", "}")


def is_keyed(seen: Look, text: bytes) -> bool:
    """Whether nearly all lines are keys with values, entries of a list, or sections."""
    lines = [line for line in seen.lines if not _COMMENT.match(line)]
    return len(lines) >= 2 and (_is_sectioned(lines) or _is_stepped(lines))


def _is_sectioned(lines: list[str]) -> bool:
    """Sections in brackets, and pairs under them; what steps in goes on with a value."""
    at_edge = _at_edge(lines)
    sections = sum(bool(_SECTION.match(line)) for line in at_edge)
    pairs = sum(bool(_PAIR.match(line)) for line in at_edge)
    closed = sum(bool(_CLOSED.match(line)) for line in at_edge)
    ended = sum(line.rstrip().endswith((";", "{", "(")) for line in at_edge)
    return (
        (sections >= 3 or bool(sections and pairs))
        and sections + pairs + closed >= len(at_edge) * 0.85
        and ended < len(at_edge) * 0.1
    )


def _at_edge(lines: list[str]) -> list[str]:
    """The lines that step in least."""
    edge = min(len(line) - len(line.lstrip()) for line in lines)
    return [line for line in lines if line[edge].strip()]


def _is_stepped(lines: list[str]) -> bool:
    """Keys with a colon, that step in; a block of text may stand under one."""
    at_edge = _at_edge(lines)
    # At the left edge of YAML nothing stands but keys without blanks, entries, and what closes a value.
    if sum(bool(_EDGE.match(line)) for line in at_edge) < len(at_edge) * 0.95:
        return False
    own = _outside_blocks(lines)
    entries = [line for line in own if _YAML.match(line)]
    keys = sum(bool(_YAML_KEY.match(line)) for line in entries)
    stepped = sum(line[0] == " " for line in lines)
    ended = sum(line.rstrip().endswith(_PROGRAM) for line in own)
    sentences = sum(bool(_SENTENCE.match(line)) for line in own)
    return (
        len(entries) >= len(own) * 0.75
        and keys >= max(len(own) * 0.15, 2)
        and stepped >= len(lines) * 0.25
        and ended < len(own) * 0.15
        and sentences < len(own) * 0.15
    )


def _outside_blocks(lines: list[str]) -> list[str]:
    """The lines that stand in no block of text, which steps in further than the key that opens it."""
    own: list[str] = []
    under: int | None = None
    for line in lines:
        step = len(line) - len(line.lstrip(" "))
        if under is not None and step > under:
            continue
        under = step if _BLOCK.search(line) else None
        own.append(line)
    return own
