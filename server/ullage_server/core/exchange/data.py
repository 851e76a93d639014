"""Data that must stay parseable, where it can be proved: JSON, JSON lines, XML.

Rule (rules.md 8): half a JSON is worse than none. A text that claims to be JSON is parsed where it is short and
its lines do not say it; a long one must open and close as JSON does, all along its lines.
"""

import json
import re

from .look import Look, count

#: Up to this size, in bytes, a text that claims to be JSON is parsed whole.
PROVED_BYTES = 64 << 10

_CLOSES = {"{": "}", "[": "]"}
_OPENS_JSON = re.compile(r'\{\s*(?:"|\}|\Z)|\[\s*(?:["{\[\]\-0-9]|true|false|null|\Z)')
_OBJECT = re.compile(r'\n\{[ \t]*+(?:["}]|$)', re.MULTILINE)
#: A line of a JSON text that is written over several: what it opens with decides, and a log's `[12.5] up` is none.
_JSON_LINE = re.compile(
    r'\n[ \t]*+(?:"(?:[^"\\\n]|\\.)*+(?:"[ \t]*+(?:[:,\]}]|$)|\\?$)'
    r"|\{[ \t]*+(?:[\"}]|$)|\[[ \t]*+(?:[\"\[\]{]|-?[0-9.]++[ \t]*+,|$)|[\]}][ \t\]},]*+$"
    r"|(?:-?[0-9][0-9.eE+-]*+|true|false|null)[ \t\]},]*+$)",
    re.MULTILINE,
)
_JSON_KEY = re.compile(r'\n[ \t]*+\{?[ \t]*+"(?:[^"\\\n]|\\.)++"[ \t]*+:')
_KEY = re.compile(r'"([^"\\\n]{1,40})"\s*+:')
_RECORD_KEYS = (
    {"time", "timestamp", "ts", "@timestamp", "datetime", "date", "t", "asctime"},
    {"level", "severity", "lvl", "loglevel", "levelname", "log.level"},
    {"msg", "message", "event", "text", "fields", "action"},
)
_XML = re.compile(r"<(?:\?xml\b|!DOCTYPE (?!html)|!--|(?P<root>[A-Za-z_][\w.:-]{0,80})[\s/>])", re.IGNORECASE)
#: A tag, an attribute on a line of its own, or the end of a tag.
_TAGGED = re.compile(r"\n(?:[ \t]*+(?:<|[\w:.-]++=[\"'])|[^\n]*+(?<=>))")
_HTML = re.compile(r"<(?:!DOCTYPE html|html|head|body)\b", re.IGNORECASE)


def is_json_log(seen: Look, text: bytes) -> bool:
    """Whether each line is a JSON object that is a record: with a time, and a level or a message."""
    return _is_json_lines(seen) and sum(map(_is_record, seen.lines)) >= len(seen.lines) * 0.6


def is_data(seen: Look, text: bytes) -> bool:
    """Whether the text is JSON, JSON lines that are no log, or XML that is no page."""
    return _is_json(seen, text) or _is_json_lines(seen) or _is_xml(seen)


def _is_json_lines(seen: Look) -> bool:
    return len(seen.lines) >= 2 and count(_OBJECT, seen.told) >= len(seen.lines) * 0.9


def _is_record(line: str) -> bool:
    keys = set(map(str.lower, _KEY.findall(line)))
    time, level, message = (not keys.isdisjoint(names) for names in _RECORD_KEYS)
    return time and (level or message)


def _is_json(seen: Look, text: bytes) -> bool:
    opens = bool(_OPENS_JSON.match(seen.first))
    return _is_json_by_lines(seen) or (opens and seen.last.endswith(_CLOSES[seen.first[0]]) and _is_parsed(text))


def _is_json_by_lines(seen: Look) -> bool:
    """Its ends may be cut off, or something may stand around it: then its lines must say what it is."""
    if not seen.lines:
        return False
    opens = bool(_OPENS_JSON.match(seen.lines[0].lstrip()))
    if len(seen.lines) == 1:
        return opens and bool(_JSON_KEY.match(seen.told))
    half = len(seen.lines) * 0.5
    keyed = opens or (seen.told.count('"') > half and count(_JSON_KEY, seen.told) >= half)
    return keyed and count(_JSON_LINE, seen.told) >= len(seen.lines) * 0.9


def _is_parsed(text: bytes) -> bool:
    if len(text) > PROVED_BYTES:
        return False
    try:
        json.loads(text.decode().removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False
    return True


def _is_xml(seen: Look) -> bool:
    opening = _XML.match(seen.lines[0].lstrip())
    if opening is None or any(_HTML.match(line.lstrip()) for line in seen.lines[:5]):
        return False
    return count(_TAGGED, seen.told) >= len(seen.lines) * 0.5
