"""A def.py task runs through the checkout's own runner, and what comes of it is blamed on whom it belongs to.

The runner here is a small one with the interface of the real one, which needs PyTorch and a GPU; what stands in for PyTorch compiles nothing.
With the real PyTorch: tests/integration/test_kernelbench_judge.py.
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

import torch
from torch.utils.cpp_extension import load


def eval_kernel(task_dir, solution_cu, *, measure_performance, verbose):
    torch.cuda.current_device()
    found = SimpleNamespace(compiled=False, ref_compiled=False, correctness=False, compilation_error="", runtime_error="",
                            per_output_correctness={"dx": False}, solution_time=None, reference_time=None)
    try:
        solution = load("solution", [solution_cu], build_directory="somewhere")
        found.compiled = True
    except RuntimeError as error:
        found.compilation_error = str(error)
        return found
    try:
        load("reference", ["reference.cu"], build_directory="somewhere")
        if "no_reference" in open(solution_cu).read():
            raise RuntimeError("absent.cuh")
        found.ref_compiled = True
    except RuntimeError:
        print("[Eval] Reference CUDA compilation failed: reference.cu:8:10: fatal error: absent.cuh: No such file")
        found.runtime_error = "CUDA reference compilation failed; cannot evaluate"
        return found
    if "int inputs_on_the_gpu" in open(solution_cu).read():
        torch.cuda.synchronize()
    solution.launch()
    found.correctness = "wrong" not in open(solution_cu).read()
    if measure_performance:
        found.solution_time, found.reference_time = SimpleNamespace(mean_ms=2.0), SimpleNamespace(mean_ms=1.0)
    return found
"""
TORCH = {
    "__init__.py": "from torch import cuda\n",
    "cuda.py": """\
import os

def synchronize():
    if not os.environ.get("A_GPU"):
        raise RuntimeError("No CUDA GPUs are available")

def current_device():
    synchronize()
    return 0
""",
    "utils/__init__.py": "",
    "utils/cpp_extension.py": """\
from types import SimpleNamespace

def load(name, sources, build_directory=None):
    if "undeclared" in open(sources[0]).read():
        raise RuntimeError(f'Error building extension {name!r}: {sources[0]}(1): error: identifier "undeclared" is undefined')
    return SimpleNamespace(launch=lambda: None)

load_inline = load
""",
}
"""Without a GPU, unless A_GPU says that there is one."""


@pytest.fixture
def task(tmp_path: Path) -> Task:
    write_checkout(tmp_path, "layernorm")
    (tmp_path / "harness" / "applied_kernels_runner" / "eval.py").write_text(RUNNER)
    (found,) = load_corpus(tmp_path).tasks.values()
    files = dict(found.harness_files)
    for name, text in TORCH.items():
        path = files[f"checkout/torch/{name}"] = tmp_path / "torch" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert found.spec.test_cmd is not None
    with_gpu = f"export A_GPU=1; {found.spec.test_cmd}"  # the build has none
    spec = msgspec.structs.replace(found.spec, requires=[], test_cmd=with_gpu, time_cmd=with_gpu)
    return replace(found, spec=spec, harness_files=files)


@pytest.mark.parametrize(
    ("code", "category", "tested"),
    [
        (b"int right;", Category.PASSED, True),
        (b"int inputs_on_the_gpu;", Category.PASSED, True),
        (b"int undeclared;", Category.BUILDABILITY, False),
        (b"int wrong;", Category.FUNCTIONAL_CORRECTNESS, True),
        (b"int no_reference;", Category.ENVIRONMENT_DEPENDENCY, False),
    ],
)
async def test_who_is_at_fault(task: Task, harness: Harness, code: bytes, category: Category, tested: bool):
    """What does not compile is known in the build step, which holds no GPU's lock."""
    evidence, _ = await examine(harness, task, code)
    assert classify(evidence).category == category, evidence
    assert (evidence.test is not None) is tested


async def test_a_pass_is_measured_against_the_runners_own_reference(task: Task, harness: Harness):
    evidence, events = await examine(harness, task, b"int right;")
    assert evidence.test is not None
    assert evidence.test.stdout == "Kernel time: 2.0000 ms\nReference time: 1.0000 ms\n"
    assert evidence.build is not None and "Kernel time" not in evidence.build.stdout
    timed = next(event for event in events if isinstance(event, ev.Timed))
    assert (timed.speedup, timed.gate) == (0.5, "fail")
