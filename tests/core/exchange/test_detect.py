"""Detection: what real material is, and that it looks at the ends alone."""

from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given

from tests.core.exchange.texts import TEXTS
from tests.shared_data import shared
from ullage_server.core.exchange.classes import KEEPS, ContentClass
from ullage_server.core.exchange.detect import detect
from ullage_server.core.exchange.look import HEAD_BYTES, LINE_CHARS, LINES, TAIL_BYTES, look


def test_real_outputs_are_told_right() -> None:
    right, total = Counter[str](), Counter[str]()
    for line in shared("data/labels.tsv").read_text().splitlines()[1:]:
        file, label, *_ = line.split("\t")
        found = detect((shared("data") / file).read_bytes()).name.lower()
        total[label] += 1
        right[label] += found == label
        assert not (found == "structured" and label in {"log", "diff", "code"}), f"{file} would never be cut"
    assert right.total() >= total.total() * 0.97
    assert {label: right[label] >= count * 0.9 for label, count in total.items()} == dict.fromkeys(total, True)


@given(TEXTS)
def test_any_text_is_something_and_always_the_same(text: bytes) -> None:
    assert detect(text) is detect(bytes(bytearray(text)))


def test_what_stands_between_the_ends_is_not_looked_at() -> None:
    head = b"".join(b"2026-03-14T09:26:53Z INFO pump: pressure %d bar\n" % number for number in range(400))
    short, long = head + b"\x00" * 1000 + head, head + b"{}\n" * 400_000 + head
    assert detect(short) is detect(long) is ContentClass.LOG
    seen = look(long)
    assert len(seen.page.encode()) <= HEAD_BYTES + TAIL_BYTES + 2
    assert len(seen.lines) <= sum(LINES)
    assert max(map(len, look(b"x" * (16 << 20)).lines)) == LINE_CHARS


LOG = "".join(f"2026-03-14 09:26:{n:02} INFO pump: pressure {n} bar, valve open\n" for n in range(60))
CODE = (
    "import os\n\n\ndef tide(level, gain):\n    if level > gain:\n        return level - gain\n    return 0\n" * 9
)
REPORT = (
    "=============== test session starts ===============\ncollected 3 items\n\ntest_tide.py F..   [100%]\n\n"
    "===================== FAILURES ====================\n____________________ test_ebb ____________________\n\n"
    "    def test_ebb():\n        tide = Tide(level=3)\n        for n in range(9):\n            tide.ebb(by=n)\n"
    ">       assert tide.level == 0\nE       assert -33 == 0\n\ntest_tide.py:7: AssertionError\n"
    "=============== 1 failed, 2 passed in 0.02s ===============\n"
)
CLEAR = {
    "a log in brackets": ("".join(f"[{n}.{n:06}] usb 1-1: device {n} is up\n" for n in range(60)), "LOG"),
    "a log": (LOG, "LOG"),
    "records as JSON lines": ('{"time": "2026-03-14", "level": "info", "msg": "up"}\n' * 40, "LOG"),
    "data as JSON lines": ('{"name": "oar", "price": 3}\n' * 40, "STRUCTURED"),
    "JSON": ('{"a": [' + "1, " * 900 + "1]}", "STRUCTURED"),
    "source": (CODE, "CODE"),
    "source under a comment like a heading": ("# Tides\n#\n# ## How they run\n" + CODE, "CODE"),
    "a document": ("# Tides\n\nThey come and go.\n\n## Ebb\n\nThe water falls.\n" * 9, "MARKUP"),
    "a document with a table": (
        "# Oars\n\n| name | price |\n|---|---|\n| oar | 3 |\n\n## More\n\nNone.\n",
        "MARKUP",
    ),
    "a table": ("name,price,stock\n" + "oar,3,40\n" * 40, "TABLE"),
    "settings": ('[tides]\nebb = 3\nflow = "up"\n\n[oars]\nprice = 3\n' * 4, "STRUCTURED"),
    "prose": ("The harbour keeps its lamps lit until the last boat is tied. " * 20, "PROSE"),
    "prose of another script": ("港は静かだった。灯りは消えない。" * 40, "PROSE"),
    "a patch": ("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n" * 9, "DIFF"),
    "files": ("".join(f"src/tides/ebb_{n}.py\n" for n in range(60)), "LOG"),
    "a page": ("<!DOCTYPE html>\n<html>\n<body>\n<h1>Tides</h1>\n<p>They run.</p>\n</body>\n</html>\n", "MARKUP"),
    "XML": ("<?xml version='1.0'?>\n<tides>\n" + "  <tide at='3'/>\n" * 40 + "</tides>\n", "STRUCTURED"),
    "base64": (("Ab3" * 20 + "\n") * 40, "UNKNOWN"),
    "a fragment": ("done", "UNKNOWN"),
    "a report of tests that quotes its source": (REPORT, "LOG"),
    "a report of a compiler": (
        "warning: unused import: `std::fs`\n --> src/lib.rs:1:5\n  |\n1 | use std::fs;\n  |     ^^^^^^^\n\n" * 6
        + "error: could not compile `tides` (lib) due to 1 previous error\n",
        "LOG",
    ),
    "a trace": (
        'Traceback (most recent call last):\n  File "tide.py", line 8, in <module>\n    print(ebb(1) + flow())\n'
        "          ^^^^^^\nNameError: name 'ebb' is not defined\n" * 3,
        "LOG",
    ),
    "types of a module": (
        "from typing import Any\n\nclass Tide:\n    level: int\n    gain: Any\n    at: str | None\n    name: str\n"
        "    def ebb(self, by: int) -> None: ...\n" * 6,
        "CODE",
    ),
    "settings that hold blocks of text": (
        "- name: ebb\n  help: |\n    The water falls, as it does twice a day.\n"
        "    Then it stands still for a while, and after that it comes back.\n  level: 3\n  flow:\n    up: true\n"
        * 6,
        "STRUCTURED",
    ),
    "settings that are mostly a block of text": (
        "name: ebb\non:\n  flow:\n    level: 3\njobs:\n  tide:\n    env:\n"
        + "".join(f"      LAMP_{n}: {n}\n" for n in range(24))
        + "    steps:\n      - name: Lamps\n        run: |\n"
        + "          lamps on && oars --out $HOME (all of them);\n" * 60
        + "  after:\n    steps:\n      - name: Night\n        run: lamps off\n",
        "STRUCTURED",
    ),
    "source under a long licence": (
        "".join(
            f"// You may copy clause {n} of this, in whole or in part, without any warranty.\n" for n in range(9)
        )
        + CODE,
        "CODE",
    ),
    "a script whose help comes first": (
        "<#\n.SYNOPSIS\nTells the tide.\n.DESCRIPTION\n"
        + "It asks the harbour for its level, waits for the answer, and says it in words.\n" * 30
        + "#>\nparam (\n    [string]$Harbour\n)\n$level = Get-Level $Harbour\nWrite-Output $level\n",
        "CODE",
    ),
    "names of a module with their types": (
        "import sys\nfrom typing import Final\n\n" + "".join(f"TIDE_{n}: Final[int]\n" for n in range(30)),
        "CODE",
    ),
    "what a search found, lined up": (
        "".join(f"tides.py:{n * 7 + 100}:        self.at  =  self.level  # {n}\n" for n in range(40)),
        "LOG",
    ),
    "lines of one file that a search found, lined up": (
        "".join(f"{n * 7 + 100}:        self.at    =  self.level  # {n}\n" for n in range(40)),
        "LOG",
    ),
    "columns set to the right": (
        "Harbour        Boats   Free  Used Berths\n"
        + "".join(f"north-{n:<8} {n * 37:5} {n * 613:6} {n * 7 % 100:4}% /quay/{n}\n" for n in range(40)),
        "TABLE",
    ),
    "rows parted by bars": (("|".join(["oar", "3", "40"] * 12) + "\n") * 40, "TABLE"),
    "a script under its licence": (
        "#!/bin/sh\n# Anyone may copy this, in whole or in part.\n# There is no warranty.\n\nset -e\ncd tides\n"
        "ebb --all\nflow\n\n# Then the lamps\nlamps on\n",
        "CODE",
    ),
    "names of files": ("".join(f"tide_{n}.py\n" for n in range(40)), "LOG"),
}
WRAPPED: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "numbered": lambda text: "".join(f"{n:6}\t{line}\n" for n, line in enumerate(text.splitlines(), 1)),
    "with arrows": lambda text: "".join(f"{n:6}→{line}\n" for n, line in enumerate(text.splitlines(), 1)),
    "of another system": lambda text: text.replace("\n", "\r\n"),
    "in colours": lambda text: "".join(f"\x1b[32m{line}\x1b[0m\n" for line in text.splitlines()),
    "with bars": lambda text: "".join(f"{n:4} | {line}\n" for n, line in enumerate(text.splitlines(), 1)),
    "under a preamble": lambda text: f"Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{text}",
    "before a note": lambda text: (
        f"{text}\n\n<system-reminder>\nThink of the tide before you sail. Never sail alone.\n</system-reminder>\n"
    ),
    "wrapped": lambda text: f"<returncode>0</returncode>\n<output>\n{text}\n</output>\n",
}


def _is_wrapped_so(name: str, how: str) -> bool:
    """One line has no numbers that rise."""
    return len(CLEAR[name][0].splitlines()) > 1 or how not in {"numbered", "with arrows", "with bars"}


@pytest.mark.parametrize(("name", "how"), [pair for pair in product(CLEAR, WRAPPED) if _is_wrapped_so(*pair)])
def test_what_is_clear_is_told_however_it_is_wrapped(name: str, how: str) -> None:
    text, kind = CLEAR[name]
    assert detect(WRAPPED[how](text).encode()).name == kind


#: Lines on which a pattern whose parts overlap tries every way to part them.
PARTED = (
    "|",
    "a|",
    "a| ",
    "a ",
    "a/",
    "1:",
    "[",
    "-=",
    "\t",
    "_ ",
    "(a",
    r"\"",
    "a::",
    r"*|\/",
    "= ",
    ")",
    "a\n",
    "# ",
    "PASSED ",
    "at :1",
)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("unit", PARTED)
def test_no_line_is_looked_at_over_and_over(unit: str) -> None:
    """It ends: with a pattern that goes back on what it took, one such line takes longer than anyone waits."""
    for length in (LINE_CHARS, 117):
        detect(((unit * length)[:length] + "\n").encode() * (HEAD_BYTES // length))


def test_every_class_has_its_row() -> None:
    assert set(KEEPS) == set(ContentClass)
