"""PyTorch extensions of a solution: compiled once in the build step, loaded from there by every later program.

Runs in a workspace, in the task's Python. An extension is found again by its content: the arguments of ``load`` or
``load_inline`` with all sources, wherever a program lays them. What the build step did not meet is compiled where it is asked for,
outside of the workspace.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path("extensions")
"""In the workspace, written by the build step alone."""

_NO_CONTENT = ("build_directory", "verbose")


def install(*, build: bool) -> None:
    """Make torch.utils.cpp_extension keep what it compiles in FOLDER (``build``), or take it from there."""
    cpp = importlib.import_module("torch.utils.cpp_extension")
    for name in ("load", "load_inline"):
        setattr(cpp, name, _kept(getattr(cpp, name), build))


def _kept(real: Callable[..., Any], build: bool) -> Callable[..., Any]:
    signature = inspect.signature(real)

    def load(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        folder = FOLDER / content_key(given)
        if build:
            folder.mkdir(parents=True, exist_ok=True)
            given["build_directory"] = str(folder.resolve())
            try:
                return real(**given)
            except ImportError:
                # compiled, but it cannot be loaded without a GPU's driver: the programs that have one will say
                if not list(folder.glob("*.so")):
                    raise
                return None
        found = list(folder.glob("*.so"))
        if len(found) == 1 and given.get("is_python_module", True):
            return _loaded(found[0])
        given.pop("build_directory", None)
        return real(**given)

    return load


def content_key(given: dict[str, Any]) -> str:
    """Names an extension by everything that it is made of. Source files count by what is in them."""
    total = hashlib.sha256()
    for name in sorted(given):
        if name in _NO_CONTENT:
            continue
        if name != "sources":
            total.update(f"{name}={given[name]!r}\0".encode())
            continue
        paths = given[name] if isinstance(given[name], list | tuple) else [given[name]]
        for path in map(Path, paths):
            content = path.read_bytes() if path.is_file() else b"absent"
            total.update(f"{path.name} {len(content)}\0".encode() + content)
    return total.hexdigest()[:32]


def _loaded(library: Path) -> Any:
    spec = importlib.util.spec_from_file_location(library.stem, library.resolve())
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
