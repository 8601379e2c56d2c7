"""``beaver-tui diff``: two steps of a stored trajectory."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from engine.corpora import builtin_folder
from tests.support.program import PROGRAM, beaver

RUN = Path(__file__).parents[1] / "fixtures" / "h200" / "run"
STAGNATING = ("--fixer", "scripted:stagnating")


def test_a_patch_turns_one_step_into_the_other(tmp_path: Path):
    """Into the second step from the broken start, and from there into the first."""
    start = next((builtin_folder() / "image_luma").glob("broken.*"))
    (tmp_path / "solution.cu").write_bytes(start.read_bytes())
    for steps in (("0", "2"), ("2", "1")):
        patch = beaver("diff", RUN, "image_luma", *steps, *STAGNATING).out
        subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch.encode(), check=True)
    first = beaver("diff", RUN, "image_luma", "0", "1", *STAGNATING).out
    subprocess.run(["git", "apply", "-R", "-"], cwd=tmp_path, input=first.encode(), check=True)
    assert (tmp_path / "solution.cu").read_bytes() == start.read_bytes()


def test_a_step_does_not_differ_from_itself():
    done = beaver("diff", RUN, "image_luma", "1", "1", *STAGNATING)
    assert (done.code, done.out) == (0, "")
    assert "no differences" in beaver("diff", RUN, "image_luma", "1", "1", *STAGNATING, "--format", "rich").out


def test_the_rich_form_has_numbers_and_signs():
    done = beaver("diff", RUN, "image_luma", "0", "1", "--fixer", "scripted:good", "--format", "rich", NO_COLOR="1")
    lines = done.lines
    assert lines[0] == "image_luma · scripted:good  solution.cu  step 0 to 1 +27 -18"
    assert ' 3  3   #include "solution.h"' in lines
    assert any(line.startswith(" 1    - // RGB to luma") for line in lines)
    assert any(line.startswith("    1 + // RGB to luma") for line in lines)
    assert "\x1b" not in done.out


@pytest.mark.skipif(
    shutil.which("script") is None, reason="needs util-linux's script, which gives a program a terminal"
)
def test_a_terminal_gets_colours_and_a_pipe_does_not():
    words = [*PROGRAM, "diff", str(RUN), "image_luma", "0", "1", "--fixer", "scripted:good"]
    there = subprocess.run(
        ["script", "-qec", " ".join(words), "/dev/null"], capture_output=True, text=True, check=True
    ).stdout
    assert "\x1b[32m" in there and "@@" not in there
    assert "\x1b" not in beaver(*words[len(PROGRAM) :]).out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("image_luma", "0", "1"), "more than one trajectory of image_luma; choose with --fixer, --attempt"),
        (("image_lumen", "0", "1"), "did you mean image_luma?"),
        (("image_luma", "0", "1", "--fixer", "nobody"), "no such trajectory of image_luma; the run has image_luma · "),
        (("image_luma", "0", "9", "--fixer", "scripted:good"), "has no step 9; its last is 1"),
        (("image_luma", "-1", "1"), "No such option"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(words: tuple[str, ...], complaint: str):
    done = beaver("diff", RUN, *words)
    assert done.code == 2 and complaint in done.err and len(done.err.splitlines()) == 1
