"""What a checkout says about timing becomes a command that times a range, or a whole program, without a profiler."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from engine.corpora import load_corpus
from engine.corpora.cudabeaver.timing import read_timing
from engine.devices.base import Device
from engine.devices.toolkit import Toolkit
from engine.errors import TaskError
from engine.harness.backends import time_command
from engine.harness.timing import parse_sizes, parse_time
from engine.task import Task
from tests.support.checkouts import write_checkout, write_instance

RANGES = """\
#include <unistd.h>
#include <nvtx3/nvToolsExt.h>
int main() {
  for (int i = 0; i < 2; ++i) {
    nvtxRangePushA("bench_region");
    nvtxRangePushA("inner");
    usleep(20000);
    nvtxRangePop();
    nvtxRangePop();
    usleep(50000);
  }
}
"""


def write_spec(root: Path, task: str, mode: str, command: str, include: list[str] | None = None) -> None:
    path = root / "benchmark" / "references" / f"{task}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    spec = {"task_id": task, "benchmark_command": command, "timing_mode": {"type": mode, "include": include}}
    path.write_text(json.dumps(spec))


def timed(root: Path, mode: str, command: str = "./test.out --perf", include: list[str] | None = None) -> Task:
    folder = write_instance(root, "cuda")
    write_spec(root, folder.name, mode, command, include)
    return load_corpus(root).tasks[folder.name]


def run(task: Task, folder: Path, toolkit: Toolkit) -> str:
    """What a task's timing prints in a folder that holds ``test.out``."""
    for name in task.libraries:
        for inner, source in task.harness_files.items():
            if inner.startswith(f"{name}/"):
                (folder / inner).parent.mkdir(exist_ok=True)
                (folder / inner).write_bytes(source.read_bytes())
    path = f"{toolkit.nvcc.parent}:{os.environ['PATH']}"
    assert task.spec.time_cmd is not None
    command = ["/bin/sh", "-c", task.spec.time_cmd]
    return subprocess.run(command, cwd=folder, env={"PATH": path}, capture_output=True, text=True, check=True).stdout


def test_a_range_is_timed_without_a_profiler(tmp_path: Path, toolkit: Toolkit):
    task = timed(tmp_path / "checkout", "region", include=["bench_region"])
    place = tmp_path / "workspace"
    place.mkdir()
    (place / "main.cu").write_text(RANGES)
    subprocess.run([str(toolkit.nvcc), "-o", "test.out", "main.cu", "-ldl"], cwd=place, check=True)
    assert task.spec.timing_parser is not None
    milliseconds = parse_time(task.spec.timing_parser, run(task, place, toolkit))
    assert milliseconds is not None
    assert 20.0 <= milliseconds < 45.0, "the mean of two passes, without what lies between them"


def test_a_range_that_is_never_entered_has_no_time(tmp_path: Path, toolkit: Toolkit):
    task = timed(tmp_path / "checkout", "region", include=["another_region"])
    place = tmp_path / "workspace"
    place.mkdir()
    (place / "main.cu").write_text(RANGES)
    subprocess.run([str(toolkit.nvcc), "-o", "test.out", "main.cu", "-ldl"], cwd=place, check=True)
    assert task.spec.timing_parser is not None
    assert parse_time(task.spec.timing_parser, run(task, place, toolkit)) is None


def test_a_whole_program_is_timed_by_the_clock(tmp_path: Path, toolkit: Toolkit):
    task = timed(tmp_path / "checkout", "total_elapsed", "sleep 0.02")
    assert task.spec.timing_parser is not None
    milliseconds = parse_time(task.spec.timing_parser, run(task, tmp_path, toolkit))
    assert milliseconds is not None
    assert 20.0 <= milliseconds < 1000.0


@pytest.mark.parametrize(
    ("mode", "command"),
    [
        ("kernels", "./test.out --perf"),
        ("total_elapsed", "make clean && make run"),
    ],
)
def test_what_cannot_be_timed_fairly_is_not_timed(tmp_path: Path, mode: str, command: str):
    task = timed(tmp_path, mode, command)
    assert task.spec.timing_parser is None
    assert task.spec.time_cmd is None


def test_a_region_that_is_no_name_reaches_no_shell(tmp_path: Path):
    assert timed(tmp_path, "region", include=["$(reboot)"]).spec.time_cmd is None


def test_a_prompt_does_not_show_our_timer(tmp_path: Path):
    assert "timing" in timed(tmp_path, "region", include=["bench_region"]).libraries


def test_a_task_without_a_spec_is_not_timed(tmp_path: Path):
    write_checkout(tmp_path, "cuda")
    assert read_timing(tmp_path, "cuda_1") is None


def test_a_faulty_spec_is_named(tmp_path: Path):
    write_spec(tmp_path, "x", "region", "./test.out")
    path = tmp_path / "benchmark" / "references" / "x.json"
    path.write_text(path.read_text().replace('"benchmark_command": "./test.out", ', ""))
    with pytest.raises(TaskError, match=re.escape(f"{path}: Object missing required field `benchmark_command`")):
        read_timing(tmp_path, "x")


def test_a_native_task_may_have_a_timing_command_of_its_own(make_task):
    task = make_task(
        spec={"check": None, "test_cmd": "./driver", "timing_parser": "^t: (.*)$", "time_cmd": "./driver t"}
    )
    assert time_command(task, Device("a GPU", sm=90)) == "./driver t"


def test_a_timing_command_without_a_parser_is_a_fault(make_task):
    with pytest.raises(TaskError, match="time_cmd: goes with test_cmd and a timing_parser"):
        make_task(spec={"check": None, "test_cmd": "./driver", "time_cmd": "./driver t"})


def test_the_judge_of_kernelbench_times_the_reference_too(tmp_path: Path):
    write_checkout(tmp_path, "kernelbench")
    (task,) = load_corpus(tmp_path).tasks.values()
    assert task.spec.time_cmd is not None
    assert task.spec.time_cmd.endswith("judge.py time 1")
    said = (
        "sealed 5f\ncompiled=True correctness=True trials=1\nKernel time: 2.5 ms\nReference time: 5.0 ms\nopened 6e\n"
    )
    assert parse_time(task.spec.timing_parser or "", said) == 2.5
    assert parse_time(task.spec.reference_parser or "", said) == 5.0


def test_cutlass_drivers_are_timed_size_by_size(tmp_path: Path):
    """As they print it: a heading, the reference, the solution, for every size."""
    write_checkout(tmp_path, "cutlass")
    (task,) = load_corpus(tmp_path).tasks.values()
    assert task.spec.timing_parser is not None
    assert task.spec.reference_parser is not None
    assert task.spec.time_cmd is not None, "launched as often as any program"
    said = "".join(
        f"\n=== {name}: M={size} ===\nPassed\nRef time: {ref} ms (avg over 10 trials, min: 0.9 ms)\n"
        f"Kernel time: {own} ms (avg over 10 trials, min: 0.9 ms)\nSpeedup: 1.00x\n"
        for name, size, ref, own in (("small", 1024, "1.0000", "2.0000"), ("large", 8192, "16.0000", "2.0000"))
    )
    rows = parse_sizes(task.spec.timing_parser, task.spec.reference_parser, said)
    assert rows is not None
    assert [(row.size, row.speedup) for row in rows] == [("small: M=1024", 0.5), ("large: M=8192", 8.0)]
