"""Logs: lines that are records of what a program did: of servers, tests, builds, package managers, searches."""

import re

from ..look import Look, count
from .runs import is_run

_TIME = (
    r"(?:\d{4}[-/]\d\d?[-/]\d\d?[T ,]{0,2}\d\d:\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d"
    r"|\[ {0,6}\d{1,9}\.\d{3,9}\]|\d{4}-\d\d-\d\d\b)"
)
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE|PANIC|VERBOSE)"
#: What a line opens with that says by itself that it is a record: one row for each sort of program.
_RECORDS = (
    rf"[\[(<]?{_TIME}",  # a clock
    rf"[\[(]?{_LEVEL}[\])]?(?:[:\s]|$)",  # a level
    r"[\[(](?:info|debug|warn(?:ing)?|error|trace)[\])]",
    r"(?:[EW]|note|error|warning|fatal|info|hint|help)(?:\[[\w-]{1,20}\])?[:!] ",
    r"npm (?:ERR!|WARN|notice|error|warn) ",
    r"(?:PASS(?:ED)?|FAIL(?:ED|URE)?|SKIP(?:PED)?|ERROR|OK|ok|not ok|XFAIL)\b(?:[ :\d]|$)",  # a test's end
    r"--- (?:PASS|FAIL|SKIP)|=== (?:RUN|CONT|PAUSE|NAME)|\[ *(?:RUN|OK|PASSED|FAILED|-{6,}|={6,}) *\]",
    r"\?\s{1,8}\S{1,200}+\s{1,8}\[no test files\]",
    r"[✓✔✗✘×√●▶☓] |[.FEsxX]{8,}+(?: ++\[ *\d{1,3}%\])?$",
    r"={4,}+ [^\n]++(?<= ={4})$|_{4,}+ [^\n]++(?<= _{4})$|-{4,}+ [^\n]++(?<= -{4})$",  # a runner's banner
    r"\$ \S|> \S{1,80}@\S|\+{1,6}+ (?![-+*])\S",  # a command
    r"[*<>] (?:Trying|Connected|Host|ALPN|TLSv|SSL|Server|Connection|Closing|HTTP/\d|[A-Za-z-]{1,60}+: )",  # curl
    r"(?:Compiling|Checking|Building|Downloading|Downloaded|Installing|Collecting|Fetching|Updating|Running"
    r"|Finished|Preparing|Unpacking|Selecting|Setting up|Processing|Get:\d|Hit:\d|Ign:\d|Reading"
    r"|Requirement already|Using cached|Successfully|Tests?:|Traceback|added \d|up to date|Linking|Generating"
    r"|Cloning|remote:|Receiving)",
    r"\[ *\d{1,3}%\]|\[\d{1,6}/\d{1,6}\]|make(?:\[\d\])?: ",  # a build's progress
    r"at [\w$.<>/@ \[\]]{1,160}+\(|File \"[^\"\n]{1,200}\", line \d|Caused by: |\.\.\. \d{1,4} more$",  # a stack
    r"(?:commit [0-9a-f]{7,40}\b|Author(?:Date)?: |Commit(?:Date)?: |Date: {1,4}+[A-Z0-9]|Merge: )",
    r"[0-9a-f]{7,12} (?:\([^)\n]{1,80}\) )?\S",  # a commit in one line
    r"[*|\\/_][*|\\/_ ]*+(?:commit [0-9a-f]{7,40}\b|(?:Author|Date|Merge): |(?<= )[0-9a-f]{7,12} )",  # in a graph
    r"\d{1,7}:\d{1,6} {1,8}\S",  # a place in the file named above
    r"(?:[A-Z]:)?[^\s:(]++(?::\d{1,7}+(?::\d{1,6}+)?[:\-]|\(\d{1,7},\d{1,6}\):)",  # a place in a file
)
_RECORD = re.compile(r"\n[ \t]*+(?:" + "|".join(_RECORDS) + r")[^\n]*+", re.MULTILINE)
#: And what one ends with.
_RESULT = re.compile(
    r"(?:\.\.\. ?(?:ok|FAILED|passed|ignored|done|skipped)\b|PASSED\b|FAILED\b|SKIPPED\b|ERROR\b|XFAIL\b"
    r"|line (?<= line )\d{1,7}[.,])[^\n]*+"
)
#: A host, a service or a job before the clock; and what any clock has.
_LATER = re.compile(r"\n(?:[^\s|]++[ |\t]{1,3}+){1,4}?" + _TIME)
_CLOCK = re.compile(r"[:-](?<=\d\d[:-])\d\d")
_COMMIT = re.compile(r"(?:\* )?commit [0-9a-f]{7,40}\b")
_FRAME = re.compile(r"\n(?:[ \t]++(?:at \S|File \"|-->|[|│] ++[\^~])|-->|[ \t>]*+\d{1,5}+ *+[|│]|(?:E|>) {2})")
_LABEL = re.compile(r"\n\[[\w:./@-]{1,40}+\]\s++\S")
_FOUND = re.compile(
    r"\n(?:\d{1,7}[:-](?=\s|\S*?[A-Za-z#/])|[^\s:-]++(?:[:-][^\s:-]*+)*?[:-]\d{1,7}+[:-]|[\w./@+-]++(?<=\w):)"
)
_PATH = re.compile(r"\n[ \t]*+[│├└─|`+\u00a0-]*+[│├└─ |`+\u00a0-]*+[\w.@+~#,=\[\]()/ -]++$", re.MULTILINE)
#: A name of a file or of a test, and what joins its parts.
_NAME = re.compile(r"\n[\w@.][\w.@+~:\[\]-]*+[/*@]?$", re.MULTILINE)
_JOINT = re.compile(r"(?:\.(?<=\w\.)\w|-(?<=\w-)\w|_(?<=\w_)\w|::(?<=\w::)\w)[^\n]*+")
#: A path has a folder or an ending.
_DEEP = re.compile(r"(?:/|\.(?<=\w\.)\w{1,8}+$)[^\n]*+", re.MULTILINE)


def is_log(seen: Look, text: bytes) -> bool:
    """Whether most lines are records, or what a search or a listing finds."""
    lines, told = seen.lines, seen.told
    if len(lines) < 2:
        return False
    if is_run(seen):
        return True
    if records(told) >= len(lines) * 0.5 or _COMMIT.match(lines[0]) or _is_labelled(seen):
        return True
    return (
        (len(lines) >= 4 and count(_FRAME, told) >= len(lines) * 0.4)
        or count(_FOUND, told) >= len(lines) * 0.8
        or _is_files(seen)
    )


def is_loose_log(seen: Look, text: bytes) -> bool:
    """Whether some lines are records, among what they tell of in words of their own."""
    return len(seen.lines) >= 5 and records(seen.told) >= max(len(seen.lines) * 0.12, 3)


def records(told: str) -> int:
    """How many lines say by themselves that they are records."""
    rest, opened = _RECORD.subn("", told)
    rest, ended = _RESULT.subn("", rest)
    return opened + ended + (count(_LATER, rest) if _CLOCK.search(rest) else 0)


def _is_labelled(seen: Look) -> bool:
    """Lines that open with a label in brackets: the job, the module, the process."""
    return seen.told.count("\n[") >= len(seen.lines) * 0.6 and count(_LABEL, seen.told) >= len(seen.lines) * 0.6


def _is_files(seen: Look) -> bool:
    """A list of files, by their paths or by their bare names."""
    return _is_paths(seen) or (
        len(seen.lines) >= 5
        and count(_NAME, seen.told) >= len(seen.lines) * 0.95
        and count(_JOINT, seen.told) >= len(seen.lines) * 0.3
    )


def _is_paths(seen: Look) -> bool:
    """A list of files: one path a line, most of them with a folder or an ending."""
    number = len(seen.lines)
    return (
        number >= 3
        and len(seen.told.split()) <= number * 2.5
        and count(_PATH, seen.told) >= number * 0.9
        and count(_DEEP, seen.told) >= number * 0.6
    )
