"""Instances of the checkout in the real harness: libraries are found, commands fit, evidence decides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from engine import events as ev
from engine.corpora import load_corpus
from engine.harness.examine import Harness
from engine.task import Task
from engine.verdict import Category, classify
from tests.support.checkouts import SOLUTION, write_checkout, write_instance
from tests.support.examining import examine

KERNELBENCH = """\
def set_gpu_arch(names):
    source = open("solution.py").read()
    print(names)
    if "undeclared" in source:
        print("compiled=False correctness=False metadata={'compilation_error': RuntimeError(\\"Error building extension 'x'\\")}")
        raise SystemExit(1)
    print("compiled=True correctness=" + str("right" in source) + " metadata={'correctness_issue': 'Output mismatch'}")
    raise SystemExit(0 if "right" in source else 1)
"""


def without_needs(task: Task) -> Task:
    """The same task on a machine that has everything."""
    return replace(task, spec=msgspec.structs.replace(task.spec, requires=[]))


@pytest.fixture
def kernelbench(tmp_path: Path) -> Task:
    write_checkout(tmp_path, "kernelbench")
    (tmp_path / "harness/_vendor/kernelbench/utils.py").write_text(KERNELBENCH)
    (found,) = load_corpus(tmp_path).tasks.values()
    return without_needs(found)


@pytest.mark.parametrize(
    ("code", "category"),
    [
        (b"right = 1", Category.PASSED),
        (b"undeclared = 1", Category.BUILDABILITY),
        (b"other = 1", Category.FUNCTIONAL_CORRECTNESS),
    ],
)
async def test_kernelbench_builds_inside_the_test(kernelbench: Task, harness: Harness, code: bytes, category: Category):
    evidence, _ = await examine(harness, kernelbench, code)
    assert classify(evidence).category == category


async def test_what_was_rewritten_is_in_the_evidence(kernelbench: Task, harness: Harness):
    evidence, events = await examine(harness, kernelbench, b"right = 1")
    built = next(event for event in events if isinstance(event, ev.Built))
    assert built.rewrites == ["python is python3", "extensions are built for Hopper: set_gpu_arch(['Hopper'])"]
    assert evidence.test is not None
    assert evidence.test.stdout.startswith("['Hopper']\n")


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


DRIVER = """\
echo "Ref time: 2.0 ms (avg over 20 trials)"; echo "Kernel time: 1.0 ms (avg over 20 trials)"
echo "Ref time: 4.0 ms (avg over 20 trials)"; echo "Kernel time: 2.0 ms (avg over 20 trials)"
"""


def cutlass_that_prints(tmp_path: Path, script: str) -> Task:
    """A cutlass instance whose build makes a driver that prints what ``script`` says."""
    write_checkout(tmp_path, "cutlass")
    build = f"cat > test <<'END'\n#!/bin/sh\n{script}END\nchmod +x test"
    write_instance(tmp_path, "cutlass", name="prints", build=build)
    return load_corpus(tmp_path).tasks["prints"]


async def test_a_driver_that_times_the_reference_too_is_the_measure(tmp_path: Path, harness: Harness):
    task = cutlass_that_prints(tmp_path, DRIVER)
    evidence, events = await examine(harness, task, task.broken)
    assert classify(evidence).category == Category.PASSED
    timed = next(event for event in events if isinstance(event, ev.Timed))
    assert (timed.reference_ms, timed.candidate_ms, timed.speedup) == ([6.0], [3.0], 2.0)


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
