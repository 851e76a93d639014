"""What stays of a document with headings.

Rule (rules.md 8): every heading that fits is kept before any body. In this order:

* Room for one marker is set aside, for the end of the text.
* From the top, each heading is kept that fits into what is left, together with what stands between it and the one
  kept before: a marker on a line of its own or, where that is no longer, the text itself. One that does not fit is
  body.
* What is left is dealt to the bodies, from a kept heading to the next one; what stands before the first is a body
  too. Each gets the same; one that needs less is kept whole, and the others share what it did not need. Of a body
  that needs more its beginning stays.

A document without a heading so keeps its head.
"""

from .budget import fits, share
from .headings import headings


def keep_sections(text: bytes, limit: int, room: int) -> list[tuple[int, int]]:
    """The spans of `text` to keep within `limit` bytes, from each start to behind its last byte.

    `room` is the most that a marker takes. A span may end inside a character.
    """
    gap = room + 2  # a marker with its two line ends
    left = limit - room
    kept = [(0, 0)]
    for start, end in headings(text):
        cost = end - start + min(start - kept[-1][1], gap)
        if fits(cost, left):
            left -= cost
            kept.append((start, end))
    ends = [start for start, _ in kept[1:]] + [len(text)]
    # What a body needs beyond the marker that is paid for.
    needs = [end - body - min(end - body, gap) for (_, body), end in zip(kept, ends, strict=True)]
    last = len(text) - kept[-1][1]
    needs[-1] = last - min(last, room)
    left = max(left, 0)
    for rank, number in enumerate(sorted(range(len(kept)), key=needs.__getitem__)):
        part = share(left, len(kept) - rank)
        if fits(needs[number], part):
            left -= needs[number]
        else:
            left -= part
            ends[number] = kept[number][1] + part
    return [(start, end) for (start, _), end in zip(kept, ends, strict=True)]
