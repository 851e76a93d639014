"""Reports of a run: of tests, a compiler, a build, or of where a program broke.

Rule (rules.md 8): a report quotes the source it speaks of, so most of its lines may look like a program's. What
tells it are lines that stand in no source: they open it, close it with the outcome, or turn up all through it.
"""

import re

from ..look import Look
from .fences import outside_fences

#: Lines that only a report has: one row for each sort of program.
_ROWS = (
    r"={3,} \S.{0,200} ={3,}$|_{3,} \S.{0,200} _{3,}$|(?:_ ){8,}",  # banners
    r"collected \d{1,7} items?\b|E {3,}\S|\S{1,200}\.py:\d{1,7}: ?\w{0,60}$",  # pytest
    r"(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b.{0,20} \S{1,200}(?:::|\.py\b)|\S{1,200}\.py [.FEsxX]{1,200}\s",
    r"(?:FAIL|ERROR): \w{1,200} \(|Ran \d{1,7} tests? in ",  # unittest
    r"Traceback \(most recent call last\)|File \"[^\"]{1,300}\", line \d",  # Python
    r"--- (?:PASS|FAIL|SKIP): |=== (?:RUN|CONT|PAUSE|NAME) |(?:ok|FAIL)\s{1,8}\S{1,200}\s{1,8}[\d(]",  # Go
    r"goroutine \d{1,9} \[|\S{1,300}\.go:\d{1,7}(?: \+0x|$|: )|panic: |exit status \d",
    r"test \S{1,200} \.\.\. |test result: |running \d{1,7} tests?$|thread '[^']{0,200}'.{0,40} panicked",  # Rust
    r"--> \S{1,300}:\d{1,7}:\d|= (?:note|help): |at /\S{1,300}:\d{1,7}:\d|\|\s{1,200}[\^~-]{1,200}",
    r"(?:Compiling|Checking|Finished|Downloading|Updating) \S{1,100} (?:v\d|profile|\[)",
    r"(?:warning|error|fatal error)(?:\[[\w-]{1,20}\])?: \S",  # compilers and linters
    r"\S{1,300}(?::\d{1,7}(?::\d{1,6})?|\(\d{1,7},\d{1,6}\)): (?:fatal )?(?:error|warning|note|remark)\b",
    r"\S{1,300}:\d{1,7}:\d{1,6}: \S|\S{1,300}: In (?:member )?function ",
    r"(?:not )?ok \d{1,7}(?: |$)|TAP version \d|1\.\.\d{1,7}$|# (?:Subtest: |(?:tests|pass|fail) \d)",  # TAP
    r"at (?:async |new )?[\w$.<>/@ \[\]]{0,160}\(?\S{1,300}:\d{1,7}\)?|Caused by: |\.\.\. \d{1,4} more$",
    r"(?:Uncaught )?[\w.$]{0,100}(?:Error|Exception|Panic)(?: \[\w{1,40}\])?(?:: |$)",
    r"Test Suites?: |Tests: {1,9}\d|\d{1,7} (?:passed|failed|errors?|warnings?)\b.{0,80}$|Found \d{1,7} errors?\b",
    r"make(?:\[\d\])?: |ninja: |npm (?:ERR!|error|warn) |BUILD (?:SUCCESS|FAIL)|\[\d{1,6}/\d{1,6}\] ",
    r"\[ *\d{1,3}%\] ",
    r"FAIL(?:ED)?(?: \(|$)|OK(?: \(|$)|(?:Success|Done|Finished)\b.{0,80}[.!\d]s?$|Process exited|exit code:? \d",
)
_SURE = re.compile(r"\s{0,24}+(?:" + "|".join(_ROWS) + ")")
#: How many lines at either end may hold what opens or closes a report.
_ENDS = 6


def is_run(seen: Look) -> bool:
    """Whether lines that only a report has stand at an end and again within, or all through it."""
    lines = [line for line in outside_fences(seen) if line.strip()]
    sure = [bool(_SURE.match(line)) for line in lines]
    found = sum(sure)
    if found < 2:
        return False
    at_ends = any(sure[:_ENDS]) and any(sure[-_ENDS:])
    return found >= len(lines) * (0.04 if at_ends else 0.12)
