"""Build and test of a def.py task: python defpy.py build | test, in its workspace. Drives the checkout's own runner, and says what
came of it in lines that name who is at fault. Exit 0: correct; 1: the solution does not build or is wrong; 3: the harness's own
reference does not build.

The runner compiles both wherever it is called. So the build step calls it without a GPU, up to where it would launch something;
the test, which has one, loads what the build step left.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any


def main(step: str) -> int:
    build = step == "build"
    importlib.import_module("extensions").install(build=build)
    if build:
        _without_gpu()
    runner = importlib.import_module("harness.applied_kernels_runner.eval")  # takes torch's functions as it finds them
    here = Path.cwd()
    try:
        result = runner.eval_kernel(str(here), str(here / "solution.cu"), measure_performance=not build, verbose=True)
    except Exception as error:
        if not build:
            raise
        print(
            f"what follows wants a GPU: left to the test ({type(error).__name__})"
        )  # what does not compile is a result
        return 0
    if not result.compiled:
        print(f"the solution does not build:\n{result.compilation_error}", file=sys.stderr)
        return 1
    if not result.ref_compiled:
        print(f"the harness's own reference does not build: {result.runtime_error}", file=sys.stderr)
        return 3
    if build:
        return 0
    if not result.correctness:
        print(f"wrong result: {result.runtime_error or result.per_output_correctness}", file=sys.stderr)
        return 1
    if result.solution_time is not None and result.reference_time is not None:
        print(f"Kernel time: {result.solution_time.mean_ms:.4f} ms")
        print(f"Reference time: {result.reference_time.mean_ms:.4f} ms")
    return 0


class _Compiled:
    """An extension in the build step, whatever its functions are called."""

    def __getattr__(self, name: str) -> Any:
        def call(*values: Any) -> None:
            raise RuntimeError("the build step launches nothing")

        return call


def _without_gpu() -> None:
    """The runner asks for the device before it compiles, and launches what it has compiled."""
    importlib.import_module("torch").cuda.current_device = lambda: 0
    cpp: Any = importlib.import_module("torch.utils.cpp_extension")
    real = cpp.load

    def load(*args: Any, **kwargs: Any) -> _Compiled:
        real(*args, **kwargs)
        return _Compiled()

    cpp.load = load


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
