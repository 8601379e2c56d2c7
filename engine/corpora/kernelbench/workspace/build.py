"""The build of a KernelBench-style solution: python build.py SOLUTION PROBLEM. No GPU is in sight.

Importing the solution compiles its extensions, also where it asks first whether there is a GPU; so do functions of its own that
take nothing and return one. Where it compiles none, ModelNew is made once, which is where the others do. Exit 1: the file cannot be
imported, or its extension does not compile. What only fails for want of a GPU is left to the test.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

sys.dont_write_bytecode = True

_NO_GPU = re.compile(
    r"NVIDIA driver|[Nn]o (?:CUDA|NVIDIA) GPU|no CUDA-capable|not compiled with CUDA|CUDA driver|libcuda\.so|CUDA error"
)


def main(solution: str, problem: str) -> int:
    extensions = importlib.import_module("extensions")
    extensions.install(build=True)
    importlib.import_module("torch").cuda.is_available = lambda: True  # to compile, it is enough that the test has one
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
    if not all(_compiles(make) for make in _makers(module)):
        return 1
    if not extensions.FOLDER.exists() and not _compiles(lambda: _new_model(module.ModelNew, Path(problem))):
        return 1
    return 0


def _makers(module: ModuleType) -> list[Callable[[], Any]]:
    """The solution's own functions without arguments that call ``load`` or ``load_inline``: extensions that are compiled when a
    forward asks for them would be compiled while the GPU waits."""
    own = [value for value in vars(module).values() if getattr(value, "__module__", None) == module.__name__]
    functions = {inspect.unwrap(value): value for value in own if inspect.isfunction(inspect.unwrap(value))}
    return [
        value
        for function, value in functions.items()
        if not function.__code__.co_argcount and {"load", "load_inline"} & set(function.__code__.co_names)
    ]


def _compiles(make: Callable[[], Any]) -> bool:
    """Whether what it compiles does compile. Whatever else it wants is the test's affair."""
    try:
        make()
    except Exception as error:
        if "Error building extension" in str(error) or "Error compiling objects" in str(error):
            traceback.print_exc()
            return False
        print(f"not made here ({type(error).__name__}): left to the test", file=sys.stderr)
    return True


def _new_model(model: Any, problem: Path) -> Any:
    return model(*imported(problem).get_init_inputs())


def imported(path: Path) -> ModuleType:
    """A Python file as a module, by its own name and from its own place."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
