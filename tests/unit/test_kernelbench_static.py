"""What a KernelBench-style solution may not do is seen in its text; the solutions of the built-in corpus do none of it."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from engine.corpora import builtin_folder
from engine.corpora.kernelbench import files

FINDINGS = runpy.run_path(str(files()["beaver_kernelbench/static.py"]))["findings"]

SOLUTION = """\
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

scale_ext = load_inline(name="scale_ext", cpp_sources="", cuda_sources="", functions=["sum"])


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def forward(self, x):
        y = torch.empty_like(x)
        scale_ext.sum(x.contiguous(), self.weight, y)
        return y.view(-1)
"""


def test_allocation_parameters_and_kernels_are_free():
    assert FINDINGS(SOLUTION) == []


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("y = torch.matmul(x, x)", "torch.matmul computes"),
        ("y = x @ x", "a matrix product by @"),
        ("y = x.softmax(-1)", ".softmax() computes"),
        ("y.clamp_(0)", ".clamp_() computes"),
        ("y = F.relu(x)", "F.relu computes"),
        ("y = nn.Linear(3, 3)(x)", "nn.Linear is a layer of PyTorch"),
        ("import ctypes", "import of ctypes"),
        ("from os import _exit", "import of os"),
        ("y = eval('x')", "use of eval"),
        ("class Other(Model): ...", "class Other inherits from Model"),
    ],
)
def test_what_does_the_work_otherwise_is_named_with_its_line(line: str, what: str):
    assert FINDINGS(SOLUTION.replace("y = torch.empty_like(x)", line)) == [(14, what)]


def test_a_way_back_when_a_kernel_fails_is_named():
    source = SOLUTION.replace("y = torch.empty_like(x)", "try:\n            y = x\n        finally:\n            y = x")
    assert FINDINGS(source) == [(14, "try: a kernel that fails must fail the test")]


@pytest.mark.parametrize("task", sorted(path.parent.name for path in builtin_folder().glob("*/reference.py")))
def test_the_built_in_solutions_keep_to_it(task: str):
    folder = builtin_folder() / task
    answers = [
        path for kind in ("good", "degenerate", "stagnating") for path in (folder / "answers" / kind).glob("*.py")
    ]
    for path in (folder / "reference.py", folder / "broken.py", *answers):
        assert FINDINGS(path.read_text()) == [], path


def test_there_are_such_tasks():
    assert len(list(Path(builtin_folder()).glob("*/reference.py"))) >= 2
