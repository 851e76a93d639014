"""A timeline's lines: both thresholds can be seen in every bar, and a pipe's columns stand still."""

from dataclasses import replace

import pytest

from ullage_server.cli.timeline import ASCII, BLOCKS, Line, Timeline, Turn


def text(line: Line) -> str:
    return "".join(piece for piece, _ in line)


PIPE = Timeline(65)
TURN = Turn(7, 61_234, 30, None, ())


@pytest.mark.parametrize(
    ("percent", "bar"),
    [
        (None, "[............|.............|.............]"),
        (0, "[............|.............|.............]"),
        (29, "[###########.|.............|.............]"),
        (30, "[############|.............|.............]"),
        (64, "[############|############.|.............]"),
        (65, "[############|#############|.............]"),
        (100, "[############|#############|#############]"),
        (101, "[############|#############|############>]"),
        (2**31 - 1, "[############|#############|############>]"),
    ],
)
def test_a_bar_reaches_a_threshold_exactly_when_the_percent_does(percent: int | None, bar: str) -> None:
    assert text(PIPE.bar(percent)) == bar


@pytest.mark.parametrize("second", [31, 32, 65, 89, 90])
@pytest.mark.parametrize("width", [None, 20, 80, 120, 400])
@pytest.mark.parametrize("glyphs", [ASCII, BLOCKS])
def test_every_bar_shows_both_thresholds_and_is_as_wide_as_the_others(
    second: int, width: int | None, glyphs: object
) -> None:
    drawn = Timeline(second, BLOCKS if glyphs is BLOCKS else ASCII, width)
    for percent in (None, *range(102)):
        bar = text(drawn.bar(percent))
        assert len(bar) == drawn.cells + 2
        assert bar.count(drawn.glyphs.mark) == 2


def test_a_bar_on_a_terminal_grows_by_parts_of_a_cell() -> None:
    drawn = Timeline(65, BLOCKS, 80)
    bars = [text(drawn.bar(percent)) for percent in range(30)]
    assert len(set(bars)) > drawn.cells * 30 // 100


def test_the_columns_of_a_pipe_stand_still() -> None:
    turns = [TURN, Turn(1, None, None, None, ("no usage",)), Turn(12_345, 2_000_000_000, 999, None, ())]
    lines = [text(line) for turn in turns for line in PIPE.lines(turn)]
    assert lines == [
        "     7      61234   30% [############|.............|.............]",
        "     1          -     - [............|.............|.............]  no usage",
        " 12345 2000000000  999% [############|#############|############>]",
    ]


def test_in_a_pipe_a_reminder_ends_its_turns_line() -> None:
    (line,) = PIPE.lines(replace(TURN, reminder="[context] 30% of the window used.", notes=("window reset",)))
    assert text(line).endswith("]  window reset  [context] 30% of the window used.")


@pytest.mark.parametrize("width", [80, 120])
def test_on_a_terminal_nothing_is_wider_than_it(width: int) -> None:
    drawn = Timeline(65, BLOCKS, width)
    told = replace(TURN, reminder="many words " * 20, notes=("refused: " + "long reason " * 9,))
    lines = [text(drawn.head()), *map(text, drawn.lines(told))]
    assert len(lines) > 4
    assert all(len(line) <= width for line in lines)
    assert "".join(lines).split()[-2:] == ["many", "words"]
    assert sum(line.count("╰") for line in lines) == 2


def test_on_a_terminal_a_short_note_stands_behind_the_bar_and_numbers_are_grouped() -> None:
    (line,) = Timeline(65, BLOCKS, 80).lines(replace(TURN, notes=("no usage",)))
    assert text(line).startswith("     7     61,234   30% ▕")
    assert text(line).endswith("▏  no usage")


def test_the_head_names_the_thresholds_above_their_marks() -> None:
    head, bar = text(PIPE.head()), " " * 24 + text(PIPE.bar(0))
    marks = [place for place, glyph in enumerate(bar) if glyph == "|"]
    assert [head.index("30%"), head.index("65%")] == marks
    assert head.endswith("100%")
    assert "turn" in head
    assert "used" in head


@pytest.mark.parametrize(
    ("percent", "style"), [(29, "low"), (30, "first"), (64, "first"), (65, "handover"), (None, "low")]
)
def test_colours_tell_how_far_it_has_gone(percent: int | None, style: str) -> None:
    (line,) = PIPE.lines(replace(TURN, percent=percent))
    assert line[2][1] == style
