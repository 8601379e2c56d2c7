"""Failing candidates of a stored run become tasks, if they pass the paper's four filters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from engine.authoring.harvest import Harvest, harvest_runs, promising
from engine.authoring.harvest import failures as all_failures
from engine.corpora import load_corpus
from engine.harness.examine import Harness
from engine.rundir import RunDirectory
from engine.verify import Effort, open_state
from tests.support.program import beaver
from tests.support.tasks import BROKEN, CRASH, SOLUTION, WRONG, write_task

LONG_BROKEN = BROKEN + "// one\n// two\n// three\n"
LONG_WRONG = "\n\n\n" + WRONG


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """Built only: what fails to build was judged, what would have to run was not."""
    answers = {"s": [LONG_BROKEN, LONG_BROKEN + "// the same\n", BROKEN, LONG_WRONG]}
    write_task(tmp_path / "corpus", "one", broken=CRASH, error_log="x", answers=answers)
    done = beaver(
        *("--batch", "--corpus", tmp_path / "corpus", "--fixer", "scripted:s", "--device", "none", "--observe"),
        *("--out", tmp_path / "run"),
    )
    assert done.code == 0, done.err
    return RunDirectory(tmp_path / "run")


@pytest.fixture
def keeping(harness: Harness) -> Iterator[Harness]:
    with closing(replace(harness, keep_builds=True)) as made:
        yield made


def test_the_filters_that_need_no_run_count_what_they_drop(run: RunDirectory):
    found = list(all_failures([run]))
    assert [failure.category for failure in found] == ["buildability"] * 3
    harvest = Harvest()
    kept = promising(found, harvest)
    assert harvest.failures == 3
    assert harvest.dropped == {"diverse": 1, "non-trivial": 1}
    assert [failure.code for failure in kept] == [LONG_BROKEN.encode()]
    unsolved = Harvest()
    assert promising([replace(failure, fix=None) for failure in found], unsolved) == []
    assert unsolved.dropped == {"solvable": 3}


async def test_what_is_reproducible_here_becomes_a_sound_task(run: RunDirectory, keeping: Harness, tmp_path: Path):
    out = tmp_path / "harvested"
    with open_state(tmp_path / "state.jsonl") as state:
        first = await harvest_runs([run], keeping, state, out, Effort(repeats=2))
        second = await harvest_runs([run], keeping, state, out, Effort(repeats=2))
    assert first.made == second.made
    (task,) = load_corpus(out).tasks.values()
    assert task.id.startswith("one.buildability.")
    assert (task.spec.category, task.spec.start_bucket) == ("buildability", "compile_error")
    assert task.spec.source == "harvest" and task.spec.source_model == "scripted:s"
    assert task.broken == LONG_BROKEN.encode()
    assert task.reference is not None and task.reference.read_text() == SOLUTION
    assert "error: expected" in task.error_log
    assert set(task.checker_files) == {"check.py"}


async def test_what_passes_on_this_machine_is_not_harvested(run: RunDirectory, keeping: Harness, tmp_path: Path):
    task = load_corpus(tmp_path / "corpus").tasks["one"]
    (task.folder / "testbench" / "driver.cpp").write_text("int main() {}\n")
    (task.folder / "checker" / "check.py").write_text(
        "import json, sys\njson.dump({'passed': True}, open('result.json', 'w'))\n"
    )
    spec = (task.folder / "input.json").read_text().replace(" solution.cpp", "")
    (task.folder / "input.json").write_text(spec)
    with open_state(tmp_path / "state.jsonl") as state:
        found = await harvest_runs([run], keeping, state, tmp_path / "none", Effort(repeats=2))
    assert found.made == []
    assert found.dropped["reproducible"] == 1
    assert not (tmp_path / "none").exists()
