"""Settings and data by keys: YAML, TOML, INI."""

import re

from ..look import Look, as_told, count

_YAML = re.compile(
    r"\n[ \t]*+(?:- )?(?:(?:\"[^\"\n]++\"|'[^'\n]++'|[\w$./@*{}-][\w$ ./@*{}()-]*+):(?: ++\S|$)|- \S|---$)"
    r"|\n[ \t]*+- \S",
    re.MULTILINE,
)
_YAML_KEY = re.compile(r"\n[ \t]*+(?:- )?[\w$./\"'@{}-]++:(?:[ \t]|$)", re.MULTILINE)
#: At the left edge of YAML nothing stands but keys without blanks, entries, and what closes a value.
_EDGE = re.compile(
    r"\n[ \t]*+(?:- |-$|---|\.\.\.|%|![\w!]++$|[\]}]"
    r"|(?:- )?(?:[\w$./@{}*-]++|\"[^\"\n]++\"|'[^'\n]++'):(?:[ \t]|$))",
    re.MULTILINE,
)
#: What opens a block of text.
_BLOCK = re.compile(r":\s{1,4}(?:![\w!]{1,40} )?[|>][+-]?\d?[+-]?$")
_SECTION = re.compile(r"\n[ \t]*+\[{1,2}+[\w .:\"'/@*-]++\]{1,2}+[ \t]*+(?:#[^\n]*+)?$", re.MULTILINE)
_PAIR = re.compile(r"\n[ \t]*+[\w.\"'/:-]++[ \t]*+=(?:[ \t]*+[^=\s>]|$)", re.MULTILINE)
_CLOSED = re.compile(r"\n[ \t]*+[\]}\"']{1,3}+,?$", re.MULTILINE)
_COMMENT = re.compile(r"\n[ \t]*+[#;][^\n]*+")
#: More words in a line make a sentence.
_WORDS = 8
#: What steps in is told by what stands above it: how much of a text is looked at in one piece, in characters.
_PIECE = 3000
_PROGRAM = (";", "{", "(", ")", "}")


def is_keyed(seen: Look, text: bytes) -> bool:
    """Whether nearly all lines are keys with values, entries of a list, or sections."""
    return is_settings(seen.told, seen.page)


def is_settings(told: str, page: str) -> bool:
    """Whether the lines of `told`, none of them blank, are those of settings; `page` is where they are from."""
    if "\n[" not in told and " [" not in told and told.count(": ") + told.count(":\n") < 2:
        return False
    told = _COMMENT.sub("", told)
    lines = told[1:].split("\n")
    if len(lines) < 2:
        return False
    return (("\n[" in told or " [" in told) and _is_sectioned(lines)) or (
        told.count("\n ") >= len(lines) * 0.25
        and count(_YAML_KEY, told) >= max(len(lines) * 0.1, 2)
        and _is_stepped(page[:_PIECE])
    )


def _is_sectioned(lines: list[str]) -> bool:
    """Sections in brackets, and pairs under them; what steps in goes on with a value."""
    at_edge = _at_edge(lines)
    told = as_told(at_edge)
    sections, pairs = count(_SECTION, told), count(_PAIR, told)
    ended = sum(line.endswith((";", "{", "(")) for line in at_edge)
    return (
        (sections >= 3 or bool(sections and pairs))
        and sections + pairs + count(_CLOSED, told) >= len(at_edge) * 0.85
        and ended < len(at_edge) * 0.1
    )


def _at_edge(lines: list[str]) -> list[str]:
    """The lines that step in least."""
    edge = min(len(line) - len(line.lstrip()) for line in lines)
    return [line for line in lines if line[edge].strip()]


def _is_stepped(page: str) -> bool:
    """Keys with a colon, that step in; a block of text may stand under one."""
    lines = [line.rstrip() for line in _COMMENT.sub("", page).split("\n") if line.strip()]
    if not lines:
        return False
    at_edge = _at_edge(lines)
    if count(_EDGE, as_told(at_edge)) < len(at_edge) * 0.95:
        return False
    own = _outside_blocks(lines)
    entries = [line for line in own if _YAML.match("\n" + line)]
    keys = count(_YAML_KEY, as_told(entries))
    return (
        len(entries) >= len(own) * 0.75
        and keys >= max(len(own) * 0.15, 2)
        and sum(line.endswith(_PROGRAM) for line in own) < len(own) * 0.15
        and sum(len(line.split()) > _WORDS for line in own) < len(own) * 0.15
    )


def _outside_blocks(lines: list[str]) -> list[str]:
    """The lines that stand in no block of text, which steps in further than the key that opens it."""
    own: list[str] = []
    under: int | None = None
    for line in lines:
        step = len(line) - len(line.lstrip(" "))
        if under is not None and step > under:
            continue
        under = step if line[-1] in "|>+-0123456789" and _BLOCK.search(line) else None
        own.append(line)
    return own
