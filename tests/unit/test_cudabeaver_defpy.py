"""A def.py task runs through the checkout's own runner, and what comes of it is blamed on whom it belongs to.

The runner here is a small one with the interface of the real one, which needs PyTorch and a GPU.
"""

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
from tests.support.checkouts import write_checkout
from tests.support.examining import examine

RUNNER = """\
from types import SimpleNamespace


def eval_kernel(task_dir, solution_cu, **options):
    found = dict(compiled=True, ref_compiled=True, correctness=True, compilation_error="", runtime_error="",
                 per_output_correctness={"dx": True}, solution_time=SimpleNamespace(mean_ms=2.0),
                 reference_time=SimpleNamespace(mean_ms=1.0))
    if "undeclared" in open(solution_cu).read():
        error = "Error building extension 'solution': solution.cu(1): error: identifier \\"undeclared\\" is undefined"
        found |= dict(compiled=False, ref_compiled=False, correctness=False, compilation_error=error)
    elif "no_reference" in open(solution_cu).read():
        error = "CUDA reference compilation failed; cannot evaluate"
        print("[Eval] Reference CUDA compilation failed: reference.cu:8:10: fatal error: absent.cuh: No such file")
        found |= dict(ref_compiled=False, correctness=False, runtime_error=error)
    elif "wrong" in open(solution_cu).read():
        found |= dict(correctness=False, per_output_correctness={"dx": False})
    return SimpleNamespace(**found)
"""


@pytest.fixture
def task(tmp_path: Path) -> Task:
    write_checkout(tmp_path, "layernorm")
    (tmp_path / "harness" / "applied_kernels_runner" / "eval.py").write_text(RUNNER)
    (found,) = load_corpus(tmp_path).tasks.values()
    return replace(found, spec=msgspec.structs.replace(found.spec, requires=[]))


@pytest.mark.parametrize(
    ("code", "category"),
    [
        (b"int right;", Category.PASSED),
        (b"int undeclared;", Category.BUILDABILITY),
        (b"int wrong;", Category.FUNCTIONAL_CORRECTNESS),
        (b"int no_reference;", Category.ENVIRONMENT_DEPENDENCY),
    ],
)
async def test_who_is_at_fault(task: Task, harness: Harness, code: bytes, category: Category):
    evidence, _ = await examine(harness, task, code)
    assert classify(evidence).category == category


async def test_a_pass_is_measured_against_the_runners_own_reference(task: Task, harness: Harness):
    evidence, events = await examine(harness, task, b"int right;")
    assert evidence.test is not None
    assert evidence.test.stdout == "Kernel time: 2.0000 ms\nReference time: 1.0000 ms\n"
    timed = next(event for event in events if isinstance(event, ev.Timed))
    assert (timed.speedup, timed.gate) == (0.5, "fail")
