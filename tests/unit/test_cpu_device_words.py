"""What the CPU device says beyond a GPU's words, and the category that it gets."""

from __future__ import annotations

import pytest

from engine.evidence import Evidence, StepEvidence
from engine.verdict import Verdict, classify

SAYS = "beaver-tui CPU device: "


def verdict(line: str, exit_code: int) -> Verdict:
    test = StepEvidence(exit_code=exit_code, stderr=f"{SAYS}{line}\n")
    return classify(Evidence(solution_file="solution.cu", build=StepEvidence(exit_code=0), test=test))


@pytest.mark.parametrize(
    ("line", "exit_code", "category"),
    [
        ("deadlock in kernel scan(int *): every thread waits", 124, "timeout"),
        ("wgmma.mma_async at gemm(float *)+0x70 in solution.cu:12 needs a GPU", 125, "environment_dependency"),
        ("a launch asks for clusters of blocks: needs a GPU", 125, "environment_dependency"),
        ("no translated code for kernel k: built without PTX; needs a GPU", 125, "environment_dependency"),
        ("no stack for a further CUDA thread after 16384", 126, "environment_dependency"),
    ],
)
def test_what_the_device_says_decides(line: str, exit_code: int, category: str):
    assert verdict(line, exit_code).category == category


def test_a_kernel_that_still_runs_is_no_fault_yet():
    test = StepEvidence(exit_code=0, stdout="PASSED\n", stderr=f"{SAYS}kernel k still runs after 9 s: thread (0,0,0)\n")
    found = classify(Evidence(build=StepEvidence(exit_code=0), test=test, pass_evidence=True))
    assert found.category == "passed"


def test_a_kernel_that_is_killed_while_it_runs_is_a_timeout():
    test = StepEvidence(timed_out=True, exit_code=-9, stderr=f"{SAYS}kernel k still runs after 9 s: thread (0,0,0)\n")
    found = classify(Evidence(build=StepEvidence(exit_code=0), test=test))
    assert found.category == "timeout"


def test_the_same_deadlock_has_the_same_signature():
    one = verdict("deadlock in kernel scan(int *): 3 threads wait at bar.sync 0 in solution.cu:12", 124)
    other = verdict("deadlock in kernel scan(int *): 5 threads wait at bar.sync 0 in solution.cu:14", 124)
    assert one.signature == other.signature
