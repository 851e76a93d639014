"""What a text may be, and what of each kind is kept when it is shortened: one table.

Rule (rules.md 8): prose and tables are read from the top; of code and diffs the middle repeats; a log's news is at
its end; of a document the headings are the information. Half a JSON is worse than none, and nothing is thrown away
on a guess: those are left whole, for the harness to store elsewhere.
"""

from enum import Enum


class ContentClass(Enum):
    """What a text was found to be; numbered as `ullage.v1.ContentClass`."""

    PROSE = 1
    CODE = 2
    DIFF = 3
    LOG = 4
    STRUCTURED = 5
    TABLE = 6
    MARKUP = 7
    UNKNOWN = 8


class Keep(Enum):
    """What of a text stays when it is cut."""

    HEAD = "head"
    ENDS = "ends"
    TAIL = "tail"
    SECTIONS = "sections"


#: What stays of each class; None: it is never cut.
KEEPS: dict[ContentClass, Keep | None] = {
    ContentClass.PROSE: Keep.HEAD,
    ContentClass.TABLE: Keep.HEAD,
    ContentClass.CODE: Keep.ENDS,
    ContentClass.DIFF: Keep.ENDS,
    ContentClass.LOG: Keep.TAIL,
    ContentClass.MARKUP: Keep.SECTIONS,
    ContentClass.STRUCTURED: None,
    ContentClass.UNKNOWN: None,
}
