"""What lines of reports and logs open with, and what they end with: a row for each sort of program.

Rule (rules.md 8): a report quotes the source it speaks of, so most of its lines may look like a program's. What
tells it are lines that stand in no source.
"""

import re
from typing import NamedTuple

from ..look import count

_TIME = (
    r"(?:\d{4}[-/]\d\d?[-/]\d\d?[T ,]{0,2}\d\d:\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d"
    r"|\[ {0,6}\d{1,9}\.\d{3,9}\]|\d{4}-\d\d-\d\d\b)"
)
#: Lines that only the report of a run has: of tests, of a compiler, of a build, or of where a program broke.
_RUNS = (
    r"===++ \S[^\n]*+(?<====)$|___++ \S[^\n]*+(?<=___)$|_ _ _ _ _ _ _ _ ",  # banners
    r"collected \d++ items?\b|E   ++\S",  # pytest
    r"(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b[^\n]{0,20}? [^ \t\n:]++(?:::|(?<=\.py)\b)",
    r"FAIL: \w++ \(|ERROR: \w++ \(|Ran \d++ tests? in ",  # unittest
    r"Traceback \(most recent call last\)|File \"[^\"\n]++\", line \d",  # Python
    r"--- (?:PASS|FAIL|SKIP): |=== (?:RUN|CONT|PAUSE|NAME) |ok\s++\S++\s++[\d(]|FAIL\s++\S++\s++[\d(]",  # Go
    r"goroutine \d++ \[|panic: |exit status \d",
    r"test \S++ \.\.\. |test result: |running \d++ tests?$|thread '[^'\n]*+'[^\n]{0,40}? panicked",  # Rust
    r"--> \S{1,300}?:\d++:\d|= (?:note|help): |at /\S{1,300}?:\d++:\d|\| ++[\^~-]",
    r"(?:Compiling|Checking|Finished|Downloading|Updating) \S++ (?:v\d|profile|\[)",
    r"(?:warning|error|fatal error)(?:\[[\w-]++\])?: \S",  # compilers and linters
    r"ok \d++(?: |$)|not ok \d++(?: |$)|TAP version \d|1\.\.\d++$|# (?:Subtest: |(?:tests|pass|fail) \d)",  # TAP
    r"at (?:async |new )?[^\n]{0,300}?:\d++\)?$|Caused by: |\.\.\. \d++ more$",  # a stack
    r"Test Suites?: |Tests: ++\d|\d++ (?:passed|failed|errors?|warnings?)\b|Found \d++ errors?\b",
    r"make(?:\[\d\])?: |ninja: |npm (?:ERR!|error|warn) |BUILD (?:SUCCESS|FAIL)|\[\d++/\d++\] |\[ *+\d++%\] ",
    r"FAIL(?:ED)?(?: \(|$)|OK(?: \(|$)|(?:Success|Done|Finished)\b[^\n]{0,80}?[.!\d]s?$|Process exited"
    r"|exit code:? \d|Uncaught \w",
)
#: Lines that are records of some sort, or what a search found.
_RECORDS = (
    rf"[\[(<]?{_TIME}",  # a clock
    r"[\[(]?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE|PANIC|VERBOSE)[\])]?(?:[:\s]|$)",
    r"[\[(](?:info|debug|warn(?:ing)?|error|trace)[\])]",
    r"(?:[EW]|note|error|warning|fatal|info|hint|help)(?:\[[\w-]++\])?[:!] |npm (?:WARN|notice) ",
    r"(?:PASS(?:ED)?|FAIL(?:ED|URE)?|SKIP(?:PED)?|OK|ok|not ok|XFAIL)\b(?:[ :\d]|$)",  # a test's end
    r"--- (?:PASS|FAIL|SKIP)|=== (?:RUN|CONT|PAUSE|NAME)|\[ *+(?:RUN|OK|PASSED|FAILED|-{6,}+|={6,}+) *+\]",
    r"\?\s++\S++\s++\[no test files\]|[✓✔✗✘×√●▶☓] |[.FEsxX]{8,}+(?: ++\[ *+\d++%\])?$",
    r"====++ [^\n]++(?<= ====)$|____++ [^\n]++(?<= ____)$|----++ [^\n]++(?<= ----)$",  # a banner
    r"\$ \S|> \S{1,80}@\S|\+++ (?![-+*])\S",  # a command
    r"[*<>] (?:Trying|Connected|Host|ALPN|TLSv|SSL|Server|Connection|Closing|HTTP/\d|[A-Za-z-]++: )",  # curl
    r"(?:Compiling|Checking|Building|Download(?:ing|ed)|Installing|Collecting|Fetching|Updating|Running|Finished"
    r"|Preparing|Unpacking|Selecting|Setting up|Processing|Get:\d|Hit:\d|Ign:\d|Reading|Requirement already"
    r"|Using cached|Successfully|Tests?:|Traceback|added \d|up to date|Linking|Generating|Cloning|remote:"
    r"|Receiving)",
    r"\[ *+\d++%\]|\[\d++/\d++\]|at [\w$.<>/@ \[\]]++\(",  # a build's progress, a stack
    r"commit [0-9a-f]{7,40}+\b|Author(?:Date)?: |Commit(?:Date)?: |Date: ++[A-Z0-9]|Merge: ",  # commits
    r"[0-9a-f]{7,12}+ (?:\([^)\n]++\) )?\S",
    r"[*|\\/_][*|\\/_ ]*+(?:commit [0-9a-f]{7,40}+\b|(?:Author|Date|Merge): |(?<= )[0-9a-f]{7,12}+ )",
    r"\d++:\d++ ++\S",  # a place in the file named above
)
#: What opens with a word: for the run of a program a class of errors, or a place in a file and a word on it.
_RUN_WORD = (
    r"(?:(?<=Error|Panic)|(?<=Exception))(?: \[\w++\])?(?:: |$)",
    r": In (?:member )?function |(?<=\.py) [.FEsxX]++\s|(?<=\.py):\d++: ?\w*+$|(?<=\.go):\d++(?: \+0x|$|: )",
    r"(?::\d++(?::\d++)?|\(\d++,\d++\)): (?:fatal )?(?:error|warning|note|remark)\b|:\d++:\d++: \S",
)
#: And else any place in a file.
_WORD = r":\d++(?::\d++)?[:\-]|\(\d++,\d++\):"
_LINE = re.compile(
    rf"\n[ \t]*+(?:(?P<run>{'|'.join(_RUNS)})|{'|'.join(_RECORDS)}"
    rf"|[^ \t\n:(]++(?:(?P<place>{'|'.join(_RUN_WORD)})|{_WORD}))[^\n]*+",
    re.MULTILINE,
)
#: What ends such a line, or stands in it: each opens with what it is, which is found fast.
_RESULTS = (
    re.compile(r"\.\.\. ?(?:ok|FAILED|passed|ignored|done|skipped)\b[^\n]*+"),
    re.compile(r"E(?:D\b(?<=PASSED|FAILED|KIPPED)|RROR\b)[^\n]*+"),
    re.compile(r"line (?<= line )\d++[.,][^\n]*+"),
)
#: A host, a service or a job before the clock; and what any clock has.
_LATER = re.compile(r"\n(?:[^ |\t\n]++[ |\t]{1,3}+){1,4}?" + _TIME + r"[^\n]*+")
_CLOCK = re.compile(r":(?<=\d\d:)\d\d")

#: What a search found: a line by its number, or behind the path of its file.
_SEARCHED = re.compile(
    r"\n(?:\d{1,7}[:-](?=\s|\S*?[A-Za-z#/])"
    r"|[^ \t\n:-]++(?:[:-][^ \t\n:-]*+)*?[:-]\d{1,7}+[:-]|[\w.@+-]*+/[\w./@+-]++:)"
)


class Found(NamedTuple):
    """How many lines only the report of a run has, and how many are records, those among them."""

    runs: int
    records: int


def found(told: str) -> Found:
    """What lines of `told` say by themselves that they are of a report or a log."""
    runs = records = 0

    def take(line: re.Match[str]) -> str:
        nonlocal runs, records
        runs += line.lastgroup is not None
        records += 1
        return ""

    rest = _LINE.sub(take, told)
    if _CLOCK.search(rest):
        rest, later = _LATER.subn("", rest)
        records += later
    return Found(runs, records + sum(count(result, rest) for result in _RESULTS))


def is_search(told: str) -> bool:
    """Whether nearly all lines of `told` are what a search found."""
    most = told.count("\n") * 0.8
    return told.count(":") + told.count("-") >= most and count(_SEARCHED, told) >= most
