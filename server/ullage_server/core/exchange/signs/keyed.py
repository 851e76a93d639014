"""Settings and data by keys: YAML, TOML, INI."""

import re

from ..look import Look

_KEY = r"(?:\"[^\"]{1,80}\"|'[^']{1,80}'|[\w$./@*{}-][\w$ ./@*{}()-]{0,60})"
_YAML = re.compile(rf"\s{{0,60}}(?:- )?{_KEY}:(?: +\S|\s*$)|\s{{0,60}}- \S|---\s*$")
_YAML_KEY = re.compile(r"\s*(?:- )?[\w$./\"'@{}-]+:(?:\s|$)")
_SECTION = re.compile(r"\s{0,8}\[{1,2}[\w .:\"'/@*-]{1,120}\]{1,2}\s*(?:#.*)?$")
_PAIR = re.compile(r"\s{0,8}[\w.\"'/-]{1,80} ?= ?\S")
_REST = re.compile(r"\s{0,8}[\w.\"'/-]{1,80} ?=\s*$|[\]}\"'] {0,2}.{0,200}$|\s{2,}\S")
_COMMENT = re.compile(r"\s{0,60}[#;]")
_SENTENCE = re.compile(r"\S(?:\S{0,30} ){8}")
_PROGRAM = (";", "{", "(", ")", "}")


def is_keyed(seen: Look, text: bytes) -> bool:
    """Whether nearly all lines are keys with values, entries of a list, or sections."""
    lines = [line for line in seen.lines if not _COMMENT.match(line)]
    return len(lines) >= 2 and (_is_sectioned(lines) or _is_stepped(lines))


def _is_sectioned(lines: list[str]) -> bool:
    """Sections in brackets, and pairs under them."""
    sections = sum(bool(_SECTION.match(line)) for line in lines)
    pairs = sum(bool(_PAIR.match(line)) for line in lines)
    rest = sum(bool(_REST.match(line)) for line in lines if not _PAIR.match(line) and not _SECTION.match(line))
    ended = sum(line.rstrip().endswith((";", "{", "(")) for line in lines)
    told = sections + pairs
    return bool(sections and pairs) and (
        told >= len(lines) * 0.4 and told + rest >= len(lines) * 0.85 and ended < len(lines) * 0.1
    )


def _is_stepped(lines: list[str]) -> bool:
    """Keys with a colon, that step in; a block of text may stand under one."""
    entries = [line for line in lines if _YAML.match(line)]
    blocks = sum(line[:4] == "    " and not _YAML.match(line) for line in lines)
    keys = sum(bool(_YAML_KEY.match(line)) for line in entries)
    stepped = sum(line[0] == " " for line in lines)
    ended = sum(line.rstrip().endswith(_PROGRAM) for line in lines)
    sentences = sum(bool(_SENTENCE.match(line)) for line in lines)
    return (
        len(entries) + blocks >= len(lines) * 0.85
        and len(entries) >= len(lines) * 0.6
        and keys >= len(lines) * 0.35
        and stepped >= len(lines) * 0.25
        and ended < len(lines) * 0.15
        and sentences < len(lines) * 0.1
    )
