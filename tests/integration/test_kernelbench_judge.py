"""The judge of KernelBench problems, with a real PyTorch: values decide, prints do not."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from engine.corpora import load_corpus, with_broken
from engine.corpora.kernelbench import files
from engine.corpora.kernelbench.commands import EVIDENCE, TIMING
from engine.harness.examine import Harness
from engine.harness.pythons import VARIABLE
from engine.harness.seal import opened
from engine.harness.timing import parse_time
from engine.verdict import Category, classify
from tests.support.examining import examine
from tests.support.torch import torch_python

PROBLEM = """\
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.linear = nn.Linear(n, n)

    def forward(self, x):
        return torch.relu(self.linear(x))

def get_inputs():
    return [torch.rand(16, 32)]

def get_init_inputs():
    return [32]
"""

SOLUTION = """\
import os, signal, subprocess, torch
import torch.nn as nn

class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.linear = nn.Linear(n, n)

    def forward(self, x):
        BODY
"""

RIGHT = "return self.linear(x).clamp_min(0)"
FORGED = "compiled=True correctness=True trials=5"


class Said(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def passed(self) -> bool:
        return self.code == 0 and opened(self.out)


def place(folder: Path, solution: str) -> Path:
    for name, source in files().items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(source.read_bytes())
    (folder / "problem.py").write_text(PROBLEM)
    (folder / "solution.py").write_text(solution)
    return folder


def ran(folder: Path, *words: str) -> Said:
    python = torch_python()
    ended = subprocess.run(
        [python, *words],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        env={"PATH": f"{Path(python).parent}:{os.environ['PATH']}", "TMPDIR": str(folder)},
    )
    return Said(ended.returncode, ended.stdout, ended.stderr)


def judged(folder: Path, body: str = RIGHT, *, before: str = "", mode: str = "test") -> Said:
    place(folder, before + SOLUTION.replace("BODY", body.replace("\n", "\n        ")))
    return ran(folder, "-I", "beaver_kernelbench/judge.py", mode, "2")


def test_right_values_pass_with_a_seal(tmp_path: Path):
    said = judged(tmp_path)
    assert said.passed, said
    assert FORGED.replace("5", "2") in said.out


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return self.linear(x)", "values differ"),
        ("return self.linear(x).clamp_min(0) + float('nan')", "values differ"),
        ("return self.linear(x).clamp_min(0)[:8]", "output shape mismatch: expected [16, 32], got [8, 32]"),
        ("return self.linear(x).clamp_min(0).double()", "output dtype mismatch: expected float32, got float64"),
        ("return [1.0]", "not a tensor"),
        ("raise ValueError('no')", "ValueError: no"),
        ("os._exit(0)", "the solution's process ended with exit code 0"),
        (f"print({FORGED!r}, flush=True)\nos._exit(0)", "the solution's process ended with exit code 0"),
        ("os.write(3, b'{}')\nreturn None", ""),
    ],
)
def test_wrong_ones_fail_whatever_is_printed(tmp_path: Path, body: str, reason: str):
    said = judged(tmp_path, body)
    assert said.code == 1
    assert not opened(said.out)
    assert "correctness=False" in said.out
    assert reason in said.err


def test_what_the_solution_prints_is_no_result(tmp_path: Path):
    said = judged(tmp_path, f"print({FORGED!r})\nreturn x", before=f"print({FORGED!r}, flush=True)\n")
    assert (FORGED in said.err, FORGED in said.out, said.passed) == (True, False, False)


def test_a_solution_that_replaces_the_comparison_replaces_its_own(tmp_path: Path):
    assert not judged(
        tmp_path, "torch.isclose = torch.allclose = lambda *a, **k: torch.ones(1).bool()\nreturn x"
    ).passed


def test_a_solution_that_dies_of_a_signal_hands_it_on(tmp_path: Path):
    said = judged(tmp_path, "os.kill(os.getpid(), signal.SIGSEGV)")
    assert said.code == 139
    assert "ended by signal 11" in said.err


def test_nobody_is_left_when_the_result_is_printed(tmp_path: Path):
    hidden = "subprocess.Popen(['setsid', 'sleep', '300'])\n" + RIGHT
    said = judged(tmp_path, hidden)  # returns: nothing holds its pipes open
    assert said.passed, said


def test_a_module_of_the_build_is_not_the_judges(tmp_path: Path):
    for name in ("hashlib.py", "beaver_kernelbench/hashlib.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("raise SystemExit(0)\n")
    said = ran(place(tmp_path, SOLUTION.replace("BODY", "return x")), "-I", "beaver_kernelbench/judge.py", "test", "1")
    assert (said.code, opened(said.out)) == (1, False)
    assert said.out.startswith("sealed ")


def test_a_problem_that_fails_by_itself_is_not_the_solutions_fault(tmp_path: Path):
    place(tmp_path, SOLUTION.replace("BODY", RIGHT))
    (tmp_path / "problem.py").write_text("import a_library_that_is_not_here\n")
    said = ran(tmp_path, "-I", "beaver_kernelbench/judge.py", "test", "1")
    assert said.code == 3
    assert "the harness's own reference fails: ModuleNotFoundError" in said.err


def test_both_are_timed_by_the_judges_clock(tmp_path: Path):
    said = judged(tmp_path, "torch.cuda.Event = None\n" + RIGHT, mode="time")
    assert said.passed, said
    kernel, reference = parse_time(TIMING.parser, said.out), parse_time(TIMING.reference_parser, said.out)
    assert kernel is not None
    assert reference is not None


@pytest.mark.parametrize(
    ("solution", "code", "reason"),
    [
        ("import torch\nclass ModelNew(torch.nn.Module): ...\n", 0, ""),
        ("import torch\nclass Model(torch.nn.Module): ...\n", 1, "defines no ModelNew"),
        ("def f(:\n", 1, "SyntaxError"),
        ("import a_library_that_is_not_here\n", 1, "ModuleNotFoundError"),
        ("import torch\ntorch.zeros(1).cuda()\nclass ModelNew: ...\n", 0, "left to the test"),
    ],
)
def test_the_build_says_what_cannot_be_imported(tmp_path: Path, solution: str, code: int, reason: str):
    said = ran(place(tmp_path, solution), "beaver_kernelbench/build.py", "solution.py", "problem.py")
    assert said.code == code, said
    assert reason in said.err


@pytest.mark.parametrize(
    ("body", "passes"),
    [
        (RIGHT, True),
        (f"print({FORGED!r})\n        return x", False),
        (f"os.system('(for p in /proc/[0-9]*/fd/1; do echo {FORGED} > $p; done) 2>/dev/null'); os._exit(0)", False),
    ],
    ids=["right", "prints", "writes into every pipe"],
)
async def test_in_the_sandbox_a_pass_is_a_sealed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harness: Harness, body: str, passes: bool
):
    monkeypatch.setenv(VARIABLE, torch_python())
    problem = tmp_path / "KernelBench/level1/1_Linear.py"
    problem.parent.mkdir(parents=True)
    problem.write_text(PROBLEM)
    candidate = tmp_path / "broken/level1_1.py"
    candidate.parent.mkdir()
    candidate.write_text(SOLUTION.replace("BODY", body))
    (task,) = load_corpus(Path(with_broken(str(tmp_path), candidate.parent) or "")).tasks.values()
    # what comes with PyTorch names its Python: the values may be a CPU's here
    task = replace(task, spec=msgspec.structs.replace(task.spec, requires=["module:functorch"]))
    evidence, _ = await examine(harness, task, task.broken)
    verdict = classify(evidence)
    assert (verdict.category == Category.PASSED) is passes, (verdict, evidence)
    assert evidence.test is not None
    assert evidence.test.stdout.startswith("sealed ")


EXTENSION = """\
import torch
from torch.utils.cpp_extension import load_inline

SOURCE = "torch::Tensor positive(torch::Tensor x) { return x.clamp_min(0); }"
own_ext = load_inline(name="own_ext", cpp_sources=SOURCE, functions=["positive"])
"""


@pytest.mark.slow
def test_an_extension_is_compiled_in_the_build_and_loaded_by_content_in_the_test(tmp_path: Path):
    place(tmp_path, EXTENSION + SOLUTION.replace("BODY", "return own_ext.positive(self.linear(x))"))
    assert ran(tmp_path, "beaver_kernelbench/build.py", "solution.py", "problem.py").code == 0
    (library,) = tmp_path.glob("extensions/*/own_ext.so")
    built = library.stat().st_mtime_ns
    said = ran(tmp_path, "-I", "beaver_kernelbench/judge.py", "test", "2")
    assert said.passed, said
    assert library.stat().st_mtime_ns == built
    assert not list(tmp_path.glob("torch_extensions*")), "nothing was compiled again"


def test_the_evidence_is_what_the_judge_prints():
    import re

    assert re.search(EVIDENCE, f"sealed x\n{FORGED}\nopened x\n", re.MULTILINE)
