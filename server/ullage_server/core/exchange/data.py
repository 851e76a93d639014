"""Data that must stay parseable, where it can be proved: JSON, JSON lines, XML.

Rule (rules.md 8): half a JSON is worse than none. A text that claims to be JSON is parsed where it is short; a
long one must open and close as JSON does, all along its lines.
"""

import json
import re

from .look import Look

#: Up to this size, in bytes, a text that claims to be JSON is parsed whole.
PROVED_BYTES = 256 << 10

_CLOSES = {"{": "}", "[": "]"}
_OPENS_JSON = re.compile(r'\{\s*(?:"|\}|\Z)|\[\s*(?:["{\[\]\-0-9]|true|false|null|\Z)')
#: A line of a JSON text that is written over several: what it opens with decides, and a log's `[12.5] up` is none.
_JSON_LINE = re.compile(
    r'\s*+(?:"(?:[^"\\]|\\.){0,400}(?:"\s*(?:[:,\]}]|$)|$)'
    r"|\{\s*(?:\"|\}|$)|\[\s*(?:[\"\[\]{]|-?[0-9.]{1,40}\s*,|$)|[\]}][\s\]},]*$"
    r"|(?:-?[0-9][0-9.eE+-]{0,40}|true|false|null)[\s\]},]*$)"
)
_JSON_KEY = re.compile(r'\s*+\{?\s*"(?:[^"\\]|\\.){1,120}"\s*:')
_RECORD_KEYS = (
    {"time", "timestamp", "ts", "@timestamp", "datetime", "date", "t", "asctime"},
    {"level", "severity", "lvl", "loglevel", "levelname", "log.level"},
    {"msg", "message", "event", "text", "fields", "action"},
)
_XML = re.compile(r"<(?:\?xml\b|!DOCTYPE (?!html)|!--|(?P<root>[A-Za-z_][\w.:-]{0,80})[\s/>])", re.IGNORECASE)
#: A tag, or an attribute on a line of its own.
_TAGGED = re.compile(r"\s*+(?:<|[\w:.-]{1,80}=[\"'])")
_HTML = re.compile(r"<(?:!DOCTYPE html|html|head|body)\b", re.IGNORECASE)


def is_data(seen: Look, text: bytes) -> bool:
    """Whether the text is JSON, JSON lines that are no log, or XML that is no page."""
    if is_json_lines(seen, logs=True):
        return False
    return _is_json(seen, text) or is_json_lines(seen, logs=False) or _is_xml(seen)


def is_json_lines(seen: Look, *, logs: bool) -> bool:
    """Whether each line is a JSON object of its own: records of a log, or (`logs` false) other data."""
    lines = seen.lines
    objects = [line for line in lines if line.startswith("{") and _OPENS_JSON.match(line)]
    if len(lines) < 2 or len(objects) < len(lines) * 0.9:
        return False
    records = sum(_is_record(line) for line in objects)
    return (records >= len(objects) * 0.7) is logs


def _is_record(line: str) -> bool:
    """Whether a line's object has a time, and a level or a message."""
    keys = {key.lower() for key in re.findall(r'"([^"\\]{1,40})"\s*:', line)}
    time, level, message = (bool(keys & names) for names in _RECORD_KEYS)
    return time and (level or message)


def _is_json(seen: Look, text: bytes) -> bool:
    if _OPENS_JSON.match(seen.first) and seen.last.endswith(_CLOSES[seen.first[0]]) and len(text) <= PROVED_BYTES:
        try:
            json.loads(text.decode().removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            pass
        else:
            return True
    if not seen.lines:
        return False
    opens = bool(_OPENS_JSON.match(seen.lines[0].lstrip()))
    if len(seen.lines) == 1:
        return opens and bool(_JSON_KEY.match(seen.lines[0]))
    # Its ends may be cut off, or something may stand around it: then its lines must say what it is.
    inside = sum(bool(_JSON_LINE.match(line)) for line in seen.lines)
    keys = sum(bool(_JSON_KEY.match(line)) for line in seen.lines)
    return inside >= len(seen.lines) * 0.9 and (opens or keys >= len(seen.lines) * 0.5)


def _is_xml(seen: Look) -> bool:
    first = seen.lines[0].lstrip() if seen.lines else ""
    opening = _XML.match(first)
    if opening is None or any(_HTML.match(line.lstrip()) for line in seen.lines[:5]):
        return False
    tagged = sum(bool(_TAGGED.match(line)) or line.rstrip().endswith(">") for line in seen.lines)
    return tagged >= len(seen.lines) * 0.5
