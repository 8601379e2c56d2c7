"""The build of a KernelBench-style solution: python build.py SOLUTION PROBLEM. No GPU is in sight.

Importing the solution compiles its extensions; where it compiles none, ModelNew is made once, which is where the others do. Exit 1:
the file cannot be imported, or its extension does not compile. What only fails for want of a GPU is left to the test.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import traceback
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True

_NO_GPU = re.compile(
    r"NVIDIA driver|[Nn]o (?:CUDA|NVIDIA) GPU|no CUDA-capable|not compiled with CUDA|CUDA driver|libcuda\.so|CUDA error"
)


def main(solution: str, problem: str) -> int:
    extensions = importlib.import_module("extensions")
    extensions.install(build=True)
    try:
        module = imported(Path(solution))
    except Exception as error:
        traceback.print_exc()
        if _NO_GPU.search(str(error)):
            print("the import wants a GPU: left to the test", file=sys.stderr)
            return 0
        return 1
    if not hasattr(module, "ModelNew"):
        print(f"{solution}: defines no ModelNew", file=sys.stderr)
        return 1
    if not extensions.FOLDER.exists():
        return _made(module.ModelNew, Path(problem))
    return 0


def _made(model: Any, problem: Path) -> int:
    """Extensions that the constructor compiles. Whatever else it wants is the test's affair."""
    try:
        model(*imported(problem).get_init_inputs())
    except Exception as error:
        if "Error building extension" in str(error) or "Error compiling objects" in str(error):
            traceback.print_exc()
            return 1
        print(f"ModelNew was not made here ({type(error).__name__}): left to the test", file=sys.stderr)
    return 0


def imported(path: Path) -> Any:
    """A Python file as a module, by its own name and from its own place."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
