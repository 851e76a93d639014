"""Logs: lines that are records of what a program did: of servers, tests, builds, package managers, searches."""

import re

from ..data import is_json_lines
from ..look import Look
from .runs import is_run

_TIME = (
    r"(?:\d{4}[-/]\d\d?[-/]\d\d?[T ,]{0,2}\d\d:\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d"
    r"|\[ {0,6}\d{1,9}\.\d{3,9}\]|\d{4}-\d\d-\d\d\b)"
)
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE|PANIC|VERBOSE)"
#: What a line opens with that says by itself that it is a record: one row for each sort of program.
_RECORDS = (
    rf"[\[(<]?{_TIME}",  # a clock
    r"(?:[^\s|]{1,80}[ |\t]{1,3}){1,4}" + _TIME,  # a host, a service or a job before the clock
    rf"[\[(]?{_LEVEL}[\])]?(?:[:\s]|$)",  # a level
    r"[\[(](?:info|debug|warn(?:ing)?|error|trace)[\])]",
    r"(?:[EW]|note|error|warning|fatal|info|hint|help)(?:\[[\w-]{1,20}\])?[:!] ",
    r"npm (?:ERR!|WARN|notice|error|warn) ",
    r"(?:PASS(?:ED)?|FAIL(?:ED|URE)?|SKIP(?:PED)?|ERROR|OK|ok|not ok|XFAIL)\b[ :\d]",  # a test's end
    r"--- (?:PASS|FAIL|SKIP)|=== (?:RUN|CONT|PAUSE|NAME)|\[ *(?:RUN|OK|PASSED|FAILED|-{6,}|={6,}) *\]",
    r"\?\s{1,8}\S{1,200}\s{1,8}\[no test files\]",
    r"[✓✔✗✘×√●▶☓] |[.FEsxX]{8,}(?: {1,}\[ *\d{1,3}%\])?$",
    r"={4,} .{1,120} ={4,}$|_{4,} .{1,120} _{4,}$|-{4,} .{1,120} -{4,}$",  # a runner's banner
    r"\$ \S|> \S{1,80}@\S|\+{1,6} (?![-+*])\S",  # a command
    r"[*<>] (?:Trying|Connected|Host|ALPN|TLSv|SSL|Server|Connection|Closing|HTTP/\d|[A-Za-z-]{1,60}: )",  # curl
    r"(?:Compiling|Checking|Building|Downloading|Downloaded|Installing|Collecting|Fetching|Updating|Running"
    r"|Finished|Preparing|Unpacking|Selecting|Setting up|Processing|Get:\d|Hit:\d|Ign:\d|Reading"
    r"|Requirement already|Using cached|Successfully|Tests?:|Traceback|added \d|up to date|Linking|Generating"
    r"|Cloning|remote:|Receiving)",
    r"\[ *\d{1,3}%\]|\[\d{1,6}/\d{1,6}\]|make(?:\[\d\])?: ",  # a build's progress
    r"at [\w$.<>/@ \[\]]{1,160}\(|File \"[^\"]{1,200}\", line \d|Caused by: |\.\.\. \d{1,4} more$",  # a stack
    r"(?:[*|\\/_ ]{1,20} )?(?:commit [0-9a-f]{7,40}\b|Author(?:Date)?: |Commit(?:Date)?: |Date: {1,4}[A-Z0-9]"
    r"|Merge: )",
    r"(?:[*|\\/_ ]{0,20} )?[0-9a-f]{7,12} (?:\([^)]{1,80}\) )?\S",  # a commit in one line
    r"\d{1,7}:\d{1,6} {1,8}\S",  # a place in the file named above
    r"\S{1,200}(?::\d{1,7}(?::\d{1,6})?[:\-] ?|\(\d{1,7},\d{1,6}\): ?)",  # a place in a file
)
_RECORD = re.compile(r"\s*+(?:" + "|".join(_RECORDS) + ")")
#: And what one ends with.
_RESULT = re.compile(
    r"(?:\.\.\. ?(?:ok|FAILED|passed|ignored|done|skipped)|\b(?:PASSED|FAILED|SKIPPED|ERROR|XFAIL))\b"
    r"| at \S{1,200} line \d{1,7}\b"
)
_COMMIT = re.compile(r"(?:\* )?commit [0-9a-f]{7,40}\b")
_FRAME = re.compile(r"\s++at \S|\s++File \"|\s*+-->|[\s>]*\d{1,5} *[|│]|\s++[|│] +[\^~]|E {2,}|> {2,}")
_LABEL = re.compile(r"\[[\w:./@-]{1,40}\]\s+\S")
_FOUND = re.compile(
    r"\d{1,7}[:-](?=\s|\S*[A-Za-z#/])|[^\s:]{1,240}[:-]\d{1,7}[:-]|[\w./@+-]{1,240}/[\w.@+-]{1,120}:"
)
_PATH = re.compile(r"\s{0,8}+[│├└─ |`+\u00a0-]{0,24}[\w.@+~#,=\[\]()/ -]{1,240}")
#: A name of a file or of a test, and what joins its parts.
_NAME = re.compile(r"[\w@.][\w.@+~:\[\]-]{0,200}[/*@]?")
_JOINT = re.compile(r"\w(?:[.-]|::|_)\w")
_ENDING = re.compile(r"\w\.\w{1,8}$")


def is_log(seen: Look, text: bytes) -> bool:
    """Whether most lines are records, or what a search or a listing finds."""
    lines = seen.lines
    if is_json_lines(seen, logs=True):
        return True
    if len(lines) < 2:
        return False
    if is_run(seen):
        return True
    if records(lines) >= len(lines) * 0.5 or _COMMIT.match(lines[0]) or _is_labelled(lines):
        return True
    frames = sum(bool(_FRAME.match(line)) for line in lines)
    found = sum(bool(_FOUND.match(line)) for line in lines)
    return (len(lines) >= 4 and frames >= len(lines) * 0.4) or found >= len(lines) * 0.8 or _is_files(lines)


def is_loose_log(seen: Look, text: bytes) -> bool:
    """Whether some lines are records, among what they tell of in words of their own."""
    lines = seen.lines
    return len(lines) >= 5 and records(lines) >= max(len(lines) * 0.12, 3)


def records(lines: list[str]) -> int:
    """How many lines say by themselves that they are records."""
    return sum(bool(_RECORD.match(line) or _RESULT.search(line, 1, 180)) for line in lines)


def _is_labelled(lines: list[str]) -> bool:
    """Lines that open with a label in brackets: the job, the module, the process."""
    return sum(bool(_LABEL.match(line)) for line in lines) >= len(lines) * 0.6


def _is_files(lines: list[str]) -> bool:
    """A list of files, by their paths or by their bare names."""
    names = sum(bool(_NAME.fullmatch(line)) for line in lines)
    joined = sum(bool(_JOINT.search(line)) for line in lines)
    return _is_paths(lines) or (len(lines) >= 5 and names >= len(lines) * 0.95 and joined >= len(lines) * 0.3)


def _is_paths(lines: list[str]) -> bool:
    """A list of files: one path a line, most of them with a folder or an ending."""
    paths = [line for line in lines if _PATH.fullmatch(line) and line.count(" ") - line.count("  ") <= 12]
    deep = sum("/" in line or bool(_ENDING.search(line)) for line in paths)
    words = sum(len(line.split()) for line in paths)
    return (
        len(lines) >= 3
        and len(paths) >= len(lines) * 0.9
        and deep >= len(lines) * 0.6
        and words <= len(paths) * 2.5
    )
