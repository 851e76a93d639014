"""Reports of a run: of tests, a compiler, a build, or of where a program broke.

Rule (rules.md 8): a report quotes the source it speaks of, so most of its lines may look like a program's. What
tells it are lines that stand in no source: they open it, close it with the outcome, or turn up all through it.
"""

import re

from ..look import Look, as_told, count, told_of
from .fences import outside_fences

#: Lines that only a report has: one row for each sort of program.
_ROWS = (
    r"={3,}+ \S[^\n]*+(?<====)$|_{3,}+ \S[^\n]*+(?<=___)$|(?:_ ){8}",  # banners
    r"collected \d{1,7} items?\b|E {3,}+\S",  # pytest
    r"(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b[^\n]{0,20}? [^\s:]++(?:::|(?<=\.py)\b)",
    r"(?:FAIL|ERROR): \w{1,200}+ \(|Ran \d{1,7} tests? in ",  # unittest
    r"Traceback \(most recent call last\)|File \"[^\"\n]{1,300}\", line \d",  # Python
    r"--- (?:PASS|FAIL|SKIP): |=== (?:RUN|CONT|PAUSE|NAME) |(?:ok|FAIL)\s{1,8}\S{1,200}+\s{1,8}[\d(]",  # Go
    r"goroutine \d{1,9} \[|panic: |exit status \d",
    # Rust
    r"test \S{1,200}+ \.\.\. |test result: |running \d{1,7} tests?$|thread '[^'\n]{0,200}'[^\n]{0,40}? panicked",
    r"--> \S{1,300}?:\d{1,7}:\d|= (?:note|help): |at /\S{1,300}?:\d{1,7}:\d|\| {1,200}+[\^~-]",
    r"(?:Compiling|Checking|Finished|Downloading|Updating) \S{1,100}+ (?:v\d|profile|\[)",
    r"(?:warning|error|fatal error)(?:\[[\w-]{1,20}\])?: \S",  # compilers and linters
    r"(?:not )?ok \d{1,7}(?: |$)|TAP version \d|1\.\.\d{1,7}$|# (?:Subtest: |(?:tests|pass|fail) \d)",  # TAP
    r"at (?:async |new )?[^\n]{0,300}?:\d{1,7}\)?$|Caused by: |\.\.\. \d{1,4} more$",
    r"Test Suites?: |Tests: {1,9}\d|\d{1,7} (?:passed|failed|errors?|warnings?)\b|Found \d{1,7} errors?\b",
    r"make(?:\[\d\])?: |ninja: |npm (?:ERR!|error|warn) |BUILD (?:SUCCESS|FAIL)|\[\d{1,6}/\d{1,6}\] ",
    r"\[ *\d{1,3}%\] ",
    r"FAIL(?:ED)?(?: \(|$)|OK(?: \(|$)|(?:Success|Done|Finished)\b[^\n]{0,80}?[.!\d]s?$|Process exited"
    r"|exit code:? \d",
    # a class of error, and a place in a file
    r"(?:Uncaught )?[\w.$]++(?:(?<=Error|Panic)|(?<=Exception))(?: \[\w{1,40}+\])?(?:: |$)",
    r"(?:[A-Z]:)?[^\s:(]++(?:: In (?:member )?function |(?<=\.py) [.FEsxX]++\s|(?<=\.py):\d++: ?\w*+$"
    r"|(?<=\.go):\d++(?: \+0x|$|: )|(?::\d++){1,2}+: (?:fatal )?(?:error|warning|note|remark)\b|:\d++:\d++: \S"
    r"|\(\d++,\d++\): (?:fatal )?(?:error|warning|note|remark)\b)",
)
_SURE = re.compile(r"\n[ \t]*+(?:" + "|".join(_ROWS) + ")", re.MULTILINE)
#: How many lines at either end may hold what opens or closes a report.
_ENDS = 6


def is_run(seen: Look) -> bool:
    """Whether lines that only a report has stand at an end and again within, or all through it."""
    outside = outside_fences(seen)
    lines = seen.lines if outside is seen.page else told_of(outside)
    found = count(_SURE, as_told(lines))
    if found < 2:
        return False
    at_ends = _SURE.search(as_told(lines[:_ENDS])) and _SURE.search(as_told(lines[-_ENDS:]))
    return found >= len(lines) * (0.04 if at_ends else 0.12)
