"""`ullage chart`: what stands in the picture, and when there is none."""

import re
from pathlib import Path

import pytest

import ullage
from tests.cli.command import asked
from tests.cli.command import ullage as run_ullage

ROOT = Path(__file__).resolve().parents[2]


def texts(picture: Path) -> list[str]:
    """What can be read in an SVG."""
    return re.findall(r"<text[^>]*>([^<]+)</text>", picture.read_text())


def drawn(out: Path, *arguments: str, target: str = "") -> list[str]:
    # A process of its own: the server that plays a recording writes its log where this one's stderr is.
    done = run_ullage("chart", *arguments, "-o", str(out), *(["--target", target] if target else []))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return texts(out)


def test_the_picture_in_the_readme_is_the_bundled_recordings(tmp_path: Path) -> None:
    made = drawn(tmp_path / "c.svg")
    assert {"example, claude-sonnet-4-5, window 200,000 tokens", "usage reminder", "handover reminder"} <= set(
        made
    )
    assert {"30 %", "65 %", "100 %", "of the window, %", "turn"} <= set(made)
    assert made == texts(ROOT / "docs" / "chart.svg"), "make it anew: ullage chart -o docs/chart.svg"
    again = tmp_path / "again.svg"
    drawn(again)
    assert again.read_bytes() == (tmp_path / "c.svg").read_bytes()


def test_a_run_on_a_server_with_all_that_may_happen(target: str, tmp_path: Path) -> None:
    with ullage.Client(target) as client:
        run = client.start_run("charted", context_tokens=1000, second_threshold=70, context_rearm="per_window")
        reply = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read", "input": {}}]}
        result = {"type": "tool_result", "tool_use_id": "a", "content": "It was said again. " * 4000}
        for turn, used in enumerate((100, 310, 750, 1100), 1):
            run.observe(used)
            if turn == 2:
                assert run.compact([reply, {"role": "user", "content": [result]}]).dropped_bytes
        run.prepare([{"role": "user", "content": "go"}], window_reset=True)
        run.observe(50)
        plain = client.start_run("unknown")
        plain.observe(100)
        client.start_run("nothing")
    shown = drawn(tmp_path / "c.svg", "charted", target=target)
    assert {"run charted, window 1,000 tokens", "70 %", "window reset", "KiB cut", "handover reminder"} <= set(
        shown
    )
    shown = drawn(tmp_path / "u.svg", "unknown", target=target)
    assert {"run unknown, window unknown", "tokens used"} <= set(shown)
    assert not {"30 %", "window reset", "KiB cut", "usage reminder"} & set(shown)
    assert "no usage was read" in drawn(tmp_path / "n.svg", "nothing", target=target)
    assert asked("chart", "charted", "-o", str(tmp_path / "c.png"), "--target", target).returncode == 0
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_a_recording_is_drawn_as_it_is_played(tmp_path: Path) -> None:
    recording = tmp_path / "r.jsonl"
    recording.write_text(
        '{"input_tokens": 400, "output_tokens": 1}\nnull\n{"input_tokens": 700, "output_tokens": 1}\n'
    )
    shown = drawn(tmp_path / "c.svg", str(recording), "--window", "1000", "--threshold", "80")
    assert {"r.jsonl, window 1,000 tokens", "80 %", "usage reminder"} <= set(shown)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["-o", "c.pdf"], 2, ".svg nor .png"),
        ([], 2, "--out"),
        (["nobody", "-o", "{}/c.svg"], 1, "there is no run nobody"),
        (["-o", "{}/none/c.svg"], 1, "can't be written"),
        (["{}", "-o", "{}/c.svg"], 1, "can't be read"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    target: str, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    done = run_ullage("chart", *[each.format(tmp_path) for each in arguments], "--target", target)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_it_says_what_to_install(tmp_path: Path) -> None:
    done = run_ullage("chart", "-o", str(tmp_path / "c.svg"), without="matplotlib")
    assert done.returncode == 1
    assert "pip install '.[charts]'" in done.stderr
    assert "Traceback" not in done.stderr
