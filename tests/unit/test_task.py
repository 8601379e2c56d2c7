"""Tasks and corpora on disk: the native layout and the paper's flat one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from engine.corpora import builtin_folder, load_corpus
from engine.errors import TaskError
from engine.verdict import OUTCOME_BUCKETS, Category
from tests.support.tasks import write_task


def test_a_native_task_reads(make_task):
    task = make_task()
    assert task.id == "sum"
    assert set(task.harness_files) == {"driver.cpp"}
    assert set(task.checker_files) == {"check.py"}
    assert task.reference is not None


def test_the_papers_flat_layout_reads(tmp_path: Path):
    native = write_task(tmp_path / "native", "sum").folder
    flat = tmp_path / "flat"
    for part in ("input", "prompts", "testbench/sum", "broken_start", "error_logs", "checker", "references"):
        (flat / part).mkdir(parents=True)
    shutil.copy(native / "input.json", flat / "input" / "sum.json")
    shutil.copy(native / "prompt.txt", flat / "prompts" / "sum.txt")
    shutil.copy(native / "testbench" / "driver.cpp", flat / "testbench" / "sum")
    shutil.copy(native / "broken.cpp", flat / "broken_start" / "sum.cpp")
    shutil.copy(native / "error.log", flat / "error_logs" / "sum.log")
    shutil.copy(native / "reference.cpp", flat / "references" / "sum.cpp")
    shutil.copytree(native / "checker", flat / "checker" / "sum")
    corpus = load_corpus(flat)
    assert corpus.tasks["sum"].digest == load_corpus(tmp_path / "native").tasks["sum"].digest


def test_a_flat_task_may_keep_its_start_beside_its_testbench(tmp_path: Path):
    native = write_task(tmp_path / "native", "sum").folder
    flat = tmp_path / "flat"
    for part in ("input", "prompts", "testbench", "checker"):
        (flat / part).mkdir(parents=True)
    shutil.copy(native / "input.json", flat / "input" / "sum.json")
    shutil.copy(native / "prompt.txt", flat / "prompts" / "sum.txt")
    shutil.copytree(native / "testbench", flat / "testbench" / "sum")
    for name in ("broken.cpp", "error.log", "reference.cpp"):
        shutil.copy(native / name, flat / "testbench" / "sum")
    shutil.copytree(native / "checker", flat / "checker" / "sum")
    task = load_corpus(flat).tasks["sum"]
    assert set(task.harness_files) == {"driver.cpp"}


def test_the_example_of_the_paper_is_valid(tmp_path: Path):
    """The fields of appendix C.1, as they are."""
    fields = {
        "task_id": "CUDA/10",
        "source": "cuda_samples",
        "backend": "nvcc",
        "solution_file": "solution.cu",
        "build_cmd": "nvcc -O2 -arch=sm_80 -o test test_main.cu solution.cu",
        "test_cmd": "./test",
        "min_sm": 80,
        "requires": [],
        "anti_cheat": ["cublasSgemm", "cusolverDnSgetrf"],
        "timing_parser": "^Kernel time: ([0-9.]+) ms",
    }
    folder = tmp_path / "task"
    (folder / "testbench").mkdir(parents=True)
    (folder / "input.json").write_text(json.dumps(fields))
    for name in ("prompt.txt", "broken.cu", "error.log", "testbench/test_main.cu"):
        (folder / name).write_text("x")
    assert load_corpus(folder).tasks["CUDA/10"].spec.min_sm == 80


@pytest.mark.parametrize(
    "change", ["prompt.txt", "broken.cpp", "reference.cpp", "error.log", "testbench/driver.cpp", "checker/check.py"]
)
def test_whatever_decides_a_verdict_changes_the_digest(tmp_path: Path, change: str):
    task = write_task(tmp_path, "sum")
    before = load_corpus(tmp_path).digest
    path = task.folder / change
    path.write_text(path.read_text() + " ")
    assert load_corpus(tmp_path).digest != before


def test_two_tasks_of_one_id_are_refused(tmp_path: Path):
    write_task(tmp_path, "one")
    write_task(tmp_path, "two", spec={"task_id": "one"})
    with pytest.raises(TaskError, match="task_id: one is also the id of"):
        load_corpus(tmp_path)


def test_the_built_in_corpus_covers_every_category_that_a_start_can_show():
    tasks = load_corpus(builtin_folder()).tasks.values()
    assert {task.spec.category for task in tasks} == set(Category)
    assert {task.spec.start_bucket for task in tasks} == {
        "compile_error",
        "logic_error",
        "memory_crash",
        "timeout",
        "perf_broken",
    }
    assert {task.spec.backend for task in tasks} == {"nvcc", "make", "kernelbench"}
    for task in tasks:
        bucket = OUTCOME_BUCKETS[task.spec.category or ""]
        assert task.spec.start_bucket == ("perf_broken" if bucket == "passed" else bucket), task.id
        assert task.reference is not None
        # a log is of a GPU that showed the fault; an empty one is captured before a fixer sees the task
        assert task.error_log.strip()
