"""Instances of the checkout in the real harness: libraries are found, commands fit, evidence decides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from engine import events as ev
from engine.corpora import load_corpus
from engine.devices.choose import choose_device
from engine.harness.examine import Harness
from engine.harness.preflight import machine_lacks, preflight
from engine.task import Task
from engine.verdict import Category, classify
from tests.support.checkouts import SOLUTION, write_checkout, write_instance
from tests.support.examining import examine


def without_needs(task: Task) -> Task:
    """The same task on a machine that has everything."""
    return replace(task, spec=msgspec.structs.replace(task.spec, requires=[]))


async def test_what_was_rewritten_is_in_the_evidence(tmp_path: Path, harness: Harness):
    write_checkout(tmp_path, "kernelbench")
    (task,) = load_corpus(tmp_path).tasks.values()
    _, events = await examine(harness, without_needs(task), b"right = 1")
    built = next(event for event in events if isinstance(event, ev.Built))
    assert built.rewrites == [f"extensions are built for 9.0, for {harness.device.name}", "python is python3"]


@pytest.mark.parametrize("family", ["kernelbench", "flashattention"])
def test_the_cpu_device_runs_no_pytorch(tmp_path: Path, family: str):
    write_checkout(tmp_path, family)
    (task,) = load_corpus(tmp_path).tasks.values()
    findings = preflight(task, task.broken, choose_device("cpu"), None)
    assert machine_lacks(findings) == "requires: module:torch on a GPU: PyTorch's kernels are machine code"


@pytest.mark.parametrize(("printed", "category"), [("T", Category.PASSED), ("F", Category.FUNCTIONAL_CORRECTNESS)])
async def test_cudabench_passes_on_its_comparison_alone(
    tmp_path: Path, harness: Harness, printed: str, category: Category
):
    comparison = f"print({printed!r})\n"
    write_instance(
        tmp_path,
        "cudabench",
        build="true",
        test="python test/run_sanitizer.py ./test.out && python test/compare_output.py",
        testbench={"test/run_sanitizer.py": "print('T')\n", "test/compare_output.py": comparison},
    )
    (task,) = load_corpus(tmp_path).tasks.values()
    evidence, _ = await examine(harness, without_needs(task), task.broken)
    assert evidence.test is not None
    assert evidence.test.exit_code == 0, "its comparison ends well whatever it found"
    assert classify(evidence).category == category


async def test_cutlass_headers_are_where_the_makefile_looks(tmp_path: Path, harness: Harness):
    write_checkout(tmp_path, "cutlass")
    (task,) = load_corpus(tmp_path).tasks.values()
    evidence, _ = await examine(harness, task, SOLUTION.replace('#include "scale.h"\n', "").encode())
    assert evidence.build is not None
    assert (evidence.build.exit_code, evidence.build.stderr) == (0, "")


SIZES = """\
echo "=== small: M=1 ==="; echo "Ref time: 2.0 ms (avg over 20 trials)"; echo "Kernel time: 1.0 ms (avg over 20 trials)"
echo "=== large: M=8 ==="; echo "Ref time: 8.0 ms (avg over 20 trials)"; echo "Kernel time: 1.0 ms (avg over 20 trials)"
"""
NAMELESS = """\
echo "Ref time: 2.0 ms (avg over 20 trials)"; echo "Kernel time: 1.0 ms (avg over 20 trials)"
echo "Ref time: 8.0 ms (avg over 20 trials)"; echo "Kernel time: 1.0 ms (avg over 20 trials)"
"""


def cutlass_that_prints(tmp_path: Path, script: str) -> Task:
    """A cutlass instance whose build makes a driver that prints what ``script`` says."""
    write_checkout(tmp_path, "cutlass")
    build = f"cat > test <<'END'\n#!/bin/sh\n{script}END\nchmod +x test"
    write_instance(tmp_path, "cutlass", name="prints", build=build)
    return load_corpus(tmp_path).tasks["prints"]


async def test_a_driver_that_times_the_reference_too_is_the_measure(tmp_path: Path, harness: Harness):
    """Size by size, and together by their geometric means: 2 and 8 times as fast is 4 times as fast."""
    task = cutlass_that_prints(tmp_path, SIZES)
    evidence, events = await examine(harness, task, task.broken)
    assert classify(evidence).category == Category.PASSED
    timed = next(event for event in events if isinstance(event, ev.Timed))
    assert [(size.size, size.reference_ms, size.candidate_ms) for size in timed.sizes] == [
        ("small: M=1", 2.0, 1.0),
        ("large: M=8", 8.0, 1.0),
    ]
    assert set(timed.candidate_ms) == {1.0}
    assert timed.reference_ms == pytest.approx([4.0] * len(timed.reference_ms))
    assert timed.speedup == pytest.approx(4.0)


async def test_times_of_a_driver_that_names_no_size_for_them_are_not_believed(tmp_path: Path, harness: Harness):
    task = cutlass_that_prints(tmp_path, NAMELESS)
    _, events = await examine(harness, task, task.broken)
    timed = next(event for event in events if isinstance(event, ev.Timed))
    assert (timed.gate, timed.note) == ("unmeasured", "the program reported no usable times")


async def test_a_driver_that_never_came_to_the_times_has_not_passed(tmp_path: Path, harness: Harness):
    task = cutlass_that_prints(tmp_path, "exit 0\n")
    evidence, events = await examine(harness, task, task.broken)
    assert classify(evidence).category == Category.FUNCTIONAL_CORRECTNESS
    assert not any(isinstance(event, ev.Timed) for event in events)


async def test_a_driver_that_prints_one_time_alone_is_unmeasured(tmp_path: Path, harness: Harness):
    task = cutlass_that_prints(tmp_path, 'echo "Kernel time: 1.0 ms"\n')
    _, events = await examine(harness, task, task.broken)
    timed = next(event for event in events if isinstance(event, ev.Timed))
    assert (timed.gate, timed.note) == ("unmeasured", "the program reported no usable times")
