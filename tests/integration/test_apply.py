"""An accepted fix comes home: as a patch that git and patch take, or in its file's place."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.authoring.patch import Fix, bring_home, unified_diff
from engine.corpora import builtin_folder
from engine.errors import RunError
from engine.rundir import Cell
from engine.store import sha256
from tests.support.program import beaver, manifest
from tests.support.tasks import BROKEN, SOLUTION, WRONG, write_task

RECORDED = Path(__file__).parents[1] / "fixtures" / "h200" / "run"


def applied(folder: Path, patch: bytes, *command: str) -> None:
    subprocess.run(command, cwd=folder, input=patch, check=True, capture_output=True)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from([b"a\n", b"b\r\n", b"\x85\n", b"\n", b"c"])),
    st.lists(st.sampled_from([b"a\n", b"d\n", b"\xff\x0c\n", b"c"])),
)
@pytest.mark.parametrize("name", ["k.cu", "src/my kernel.cu"])
def test_git_takes_a_patch_exactly(
    tmp_path_factory: pytest.TempPathFactory, name: str, old: list[bytes], new: list[bytes]
):
    before, after = b"".join(old) or b"x\n", b"".join(new) or b"y\n"
    if before == after:
        return
    folder = tmp_path_factory.mktemp("program")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(before)
    applied(folder, unified_diff(name, before, after), "git", "apply", "--whitespace=nowarn", "-")
    assert (folder / name).read_bytes() == after


def test_a_fix_is_put_in_place_only_over_the_broken_start(tmp_path: Path):
    fix = Fix(Cell("t", "f"), 2, "k.cu", b"old\n", b"new\n")
    (tmp_path / "k.cu").write_bytes(b"old\n")
    assert bring_home(fix, tmp_path).read_bytes() == b"new\n"
    bring_home(fix, tmp_path)
    (tmp_path / "k.cu").write_bytes(b"edited meanwhile\n")
    with pytest.raises(RunError, match="is not the broken start any more"):
        bring_home(fix, tmp_path)
    assert (tmp_path / "k.cu").read_bytes() == b"edited meanwhile\n"
    with pytest.raises(RunError, match=r"nowhere/k\.cu"):
        bring_home(fix, tmp_path / "nowhere")


def test_nothing_is_printed_of_a_run_without_an_accepted_fix_unless_an_iteration_is_named(tmp_path: Path):
    corpus = tmp_path / "corpus"
    write_task(corpus, "one", answers={"s": [BROKEN + "//\n", WRONG]})
    run = tmp_path / "run"
    done = beaver("--batch", "--corpus", corpus, "--fixer", "scripted:s", "--device", "none", "--out", run, "-k", 1)
    assert done.code == 0, done.err
    refused = beaver("apply", run)
    assert refused.code == 2 and refused.out == ""
    assert "no accepted fix" in refused.err and "--iteration" in refused.err
    forced = beaver("apply", run, "--iteration", 1)
    assert forced.code == 0, forced.err
    (tmp_path / "solution.cpp").write_text(BROKEN)
    applied(tmp_path, forced.out.encode(), "patch", "-p1")
    assert (tmp_path / "solution.cpp").read_text() == BROKEN + "//\n"
    assert beaver("apply", run, "--iteration", 7).code == 2
    (corpus / "one" / "broken.cpp").write_text(SOLUTION)
    changed = beaver("apply", run, "--iteration", 1)
    assert changed.code == 2 and "not the task that the run began with" in changed.err


def test_of_several_trajectories_one_must_be_chosen_and_an_accepted_fix_is_found(tmp_path: Path):
    """The run was recorded on an H200; the tasks are today's, of which these have kept their starts."""
    several = beaver("apply", RECORDED)
    assert several.code == 2
    assert "choose with --task" in several.err and "softmax_rows · scripted:good" in several.err
    chosen = beaver("apply", RECORDED, "--task", "softmax_rows", "--fixer", "scripted:good", "--to", tmp_path)
    assert chosen.code == 2 and "solution.cu" in chosen.err
    start = builtin_folder() / "softmax_rows" / "broken.cu"
    (tmp_path / "solution.cu").write_bytes(start.read_bytes())
    done = beaver("apply", RECORDED, "--task", "softmax_rows", "--fixer", "scripted:good", "--to", tmp_path)
    assert done.code == 0, done.err
    fixed = (tmp_path / "solution.cu").read_bytes()
    rows = [row for row in manifest(RECORDED) if (row["task"], row["fixer"]) == ("softmax_rows", "scripted:good")]
    assert [row["solution"] for row in rows if row["passed"]] == [sha256(fixed)]
    assert beaver("apply", RECORDED, "--task", "softmax_rows", "--fixer", "scripted:stagnating").code == 2
