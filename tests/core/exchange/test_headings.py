"""What is a heading, and what only looks like one."""

import pytest
from hypothesis import given

from tests.core.exchange.texts import TEXTS
from ullage_server.core.exchange.headings import MOST, headings


def found(text: str) -> list[str]:
    raw = text.encode()
    return [raw[start:end].decode() for start, end in headings(raw)]


@pytest.mark.parametrize(
    "text",
    [
        "# One\n",
        "###### Six\n",
        "   ## Indented\n",
        "## Closed ##\r\n",
        "# At the end",
        "Title\n=====\n",
        "Title of more words\n---\n",
        "Title\r\n---\r\n",
        "=====\nTitle\n=====\n",
        "=======\n Title\n=======\n",
        "Überschrift\n~~~~~~~~~~~\n",
        "水面\n^^^^\n",
        "``code``\n********\n",
        "     1→# Listed\n",
        "     1\t# Listed\n",
        "12: ## Listed\n",
        "     1→Title\n     2→-----\n",
        "     1→=====\n     2→Title\n     3→=====\n",
        "<h1>One</h1>\n",
        "<h1>\n# One\n</h1>\n",
        '  <H2 class="x">\n  Two\n  </H2>\n',
    ],
)
def test_a_heading_is_taken_whole(text: str) -> None:
    assert found(text) == [text]
    assert found(f"Before.\n\n{text}") == [text]
    if text.endswith("\n"):
        assert found(f"{text}\nAfter.\n") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/sh\n",
        "#no blank\n",
        "####### seven\n",
        "# \n",
        "    # indented code\n",
        "Text with # inside\n",
        "***\n",
        "\n---\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "| a | b |\n---\n",
        "- item\n---\n",
        "> quote\n---\n",
        "---\n---\n",
        "Longer than its underline\n~~~~\n",
        "Run\n```\ncode\n```\n",
        "x" * 600 + "\n===\n",
        "<h7>no</h7>\n",
        "<header>no</header>\n",
        "<h1>never closed\n",
        "<h1>" + "x" * 600 + "</h1>\n",
    ],
)
def test_what_only_looks_like_one(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "fenced",
    [
        "```\n# code\n```\n",
        "```bash\n# code\n```\n",
        "~~~\n# code\n~~~\n",
        "````md\n```\n# code\n```\n# code\n````\n",
        "```\n# code\n~~~\n# code\n``` x\n# code\n```\n",
        "1. item\n   ```\n# code\n   ```\n",
        "    7→```\n    8→# code\n    9→```\n",
    ],
)
def test_a_fence_hides_what_is_in_it(fenced: str) -> None:
    assert found(f"# One\n{fenced}## Two\n") == ["# One\n", "## Two\n"]


def test_a_fence_that_never_closes_reaches_to_the_end() -> None:
    assert found("# One\n```\n# code\n") == ["# One\n"]


def test_backticks_in_a_line_open_no_fence() -> None:
    assert found("```x``` is code\n# One\n") == ["# One\n"]


def test_html_on_one_line() -> None:
    assert found("<body><h1>One</h1><p>text</p><h2>Two</h2></body>") == ["<h1>One</h1>", "<h2>Two</h2>"]


def test_two_headings_in_a_row_share_nothing() -> None:
    assert found("# One\n---\nTitle\n=====\n=====\n## Two\n") == ["# One\n", "Title\n=====\n", "## Two\n"]


@given(TEXTS)
def test_headings_stand_apart_in_order_and_end_between_characters(text: bytes) -> None:
    behind = 0
    for start, end in headings(text):
        assert behind <= start < end <= len(text)
        text[behind:start].decode()
        text[start:end].decode()
        behind = end


@pytest.mark.parametrize(
    "unit",
    [
        b"\n",
        b"# a\n",
        b"---\n",
        b"a\n===\n",
        b"```\n",
        b"~~~~\n",
        b"=",
        b"`",
        b">",
        b" ",
        b"1",
        b"<h1>a</h1>",
        b"<h1 ",
    ],
    ids=repr,
)
def test_no_text_makes_the_look_go_back_on_itself(unit: bytes) -> None:
    size = 1 << 20
    # It would not come to an end.
    count = sum(1 for _ in headings(unit * (size // len(unit))))
    assert count <= MOST
