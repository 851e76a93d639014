"""Invented exchanges for measurements: what an agent reads and runs, in ASCII or in many scripts, of any size."""

import itertools
from random import Random

from ullage.v1.exchange_pb2 import Block, Exchange, Part, Text, Thinking, ToolResult, ToolUse

_ASCII = [
    *("the", "harbour", "was", "quiet", "and", "a", "light", "burned", "in", "upper", "window", "while", "boats"),
    *("nobody", "had", "asked", "about", "since", "spring", "when", "ferry", "stopped", "old", "road", "opened"),
]
_MIXED = [
    *_ASCII,
    *("größer", "café", "naïve", "žluťoučký", "港は静かだった。", "кораблі", "стояли", "🦊", "tiếng", "ἄνεμος"),
]


def exchange(size: int, *, mixed: bool, seed: int) -> Exchange:
    """An exchange whose texts have about `size` bytes: a reply and the results of five calls.

    `mixed` strews words of many scripts among the ASCII ones. Another `seed` gives another exchange.
    """
    chance = Random(seed)
    words = _MIXED if mixed else _ASCII
    # What is said, what is read and what is run: a log, a program, a page of prose, a diff, and a short answer.
    assistant = [
        Block(thinking=Thinking(text=_prose(chance, words, size // 100), signature=chance.randbytes(64))),
        Block(text=Text(text=_prose(chance, words, size * 5 // 100))),
    ]
    texts = [
        _log(chance, words, size * 35 // 100),
        _program(chance, words, size * 30 // 100),
        _prose(chance, words, size * 20 // 100),
        _diff(chance, words, size * 10 // 100),
        "done",
    ]
    results = []
    for number, text in enumerate(texts):
        name = f"call-{seed}-{number}"
        assistant.append(Block(tool_use=ToolUse(id=name, name="run", input_json='{"path": "a/b.txt"}')))
        results.append(Block(tool_result=ToolResult(tool_use_id=name, parts=[Part(text=text)])))
    return Exchange(assistant=assistant, results=results)


def _lines(chance: Random, words: list[str], size: int, shapes: list[str]) -> str:
    """Lines of those shapes, each with words in the place of `{}`, `size` bytes in all or a little less.

    A block of them is repeated, for what stands in the middle of a text is not looked at.
    """
    block = []
    for number in range(200):
        shape = chance.choice(shapes)
        block.append(shape.replace("{}", " ".join(chance.choices(words, k=chance.randint(5, 12)))) % {"n": number})
    made: list[str] = []
    held = 0
    for line in itertools.cycle(f"{each}\n" for each in block):
        held += len(line.encode())
        if held > size:
            break
        made.append(line)
    return "".join(made)


def _prose(chance: Random, words: list[str], size: int) -> str:
    return _lines(chance, words, size, ["{}. {}, and {}.", "It was said that {}; {}.", "{}.\n"])


def _log(chance: Random, words: list[str], size: int) -> str:
    shapes = ["2026-03-01T10:%(n)02d:07Z INFO {}", "2026-03-01T10:%(n)02d:09Z WARN retry %(n)d: {}"]
    return _lines(chance, words, size, shapes)


def _program(chance: Random, words: list[str], size: int) -> str:
    shapes = ["def f%(n)d(x: int) -> int:", "    return x + %(n)d  # {}", "    if x > %(n)d:", "", "import os"]
    return _lines(chance, words, size, shapes)


def _diff(chance: Random, words: list[str], size: int) -> str:
    shapes = ["+    value = %(n)d  # {}", "-    value = 0  # {}", "     # {}", "@@ -%(n)d,4 +%(n)d,5 @@ def f():"]
    start = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,4 +1,5 @@\n"
    return start + _lines(chance, words, size, shapes)
