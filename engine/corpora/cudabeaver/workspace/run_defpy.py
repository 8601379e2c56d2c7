"""The test of a def.py task: runs in its workspace, drives the checkout's own runner, and says what came of it in lines that name
who is at fault. Exit 0: correct; 1: the solution does not build or is wrong; 3: the harness's own reference does not build.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def main() -> int:
    runner = importlib.import_module("harness.applied_kernels_runner.eval")
    here = Path.cwd()
    result = runner.eval_kernel(str(here), str(here / "solution.cu"), measure_performance=True, verbose=True)
    if not result.compiled:
        print(f"the solution does not build:\n{result.compilation_error}", file=sys.stderr)
        return 1
    if not result.ref_compiled:
        print(f"the harness's own reference does not build: {result.runtime_error}", file=sys.stderr)
        return 3
    if not result.correctness:
        print(f"wrong result: {result.runtime_error or result.per_output_correctness}", file=sys.stderr)
        return 1
    if result.solution_time is not None and result.reference_time is not None:
        print(f"Kernel time: {result.solution_time.mean_ms:.4f} ms")
        print(f"Reference time: {result.reference_time.mean_ms:.4f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
