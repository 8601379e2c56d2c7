"""The Python that runs a task's own programs: the system's, or another one where a task requires modules that this one lacks.

A sandbox shows the system's Python alone; another is shown whole, with its modules, and comes first on the path.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.task import Task

VARIABLE = "BEAVER_TASK_PYTHON"
"""Names the Python to use, such as that of an environment with PyTorch; without it some likely ones are asked."""

SYSTEM = Path("/usr/bin/python3")

_ASK = """
import importlib.util, sys
print(sys.executable)
print(sys.prefix)
print(sys.base_prefix)
print(*(name for name in sys.argv[1:] if importlib.util.find_spec(name) is None))
"""


@dataclass(frozen=True)
class TaskPython:
    """``folders`` is what a sandbox must show for it, ``lacks`` the required modules that it does not have."""

    program: Path
    folders: tuple[Path, ...] = ()
    lacks: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """How commands call it."""
        return "python3" if self.program == SYSTEM else str(self.program)

    @property
    def first(self) -> tuple[Path, ...]:
        """Folders that come first on the path, so that programs and makefiles find it too."""
        return () if self.program == SYSTEM else (self.program.parent,)


def task_python(task: Task) -> TaskPython:
    """The Python for a task: the first that has all modules which it requires, else the system's."""
    modules = [need.partition(":")[2] for need in task.spec.requires if need.startswith("module:")]
    return _python_with(tuple(modules), os.environ.get(VARIABLE, ""))


@cache
def _python_with(modules: tuple[str, ...], wish: str) -> TaskPython:
    if not modules:
        return TaskPython(SYSTEM)
    places = [wish] if wish else [str(SYSTEM), sys.executable, shutil.which("python3") or ""]
    found = [python for place in places if place and (python := _asked(Path(place), modules)) is not None]
    whole = next((python for python in found if not python.lacks), None)
    return whole or (found[0] if found else TaskPython(Path(wish) if wish else SYSTEM, lacks=modules))


def _asked(program: Path, modules: tuple[str, ...]) -> TaskPython | None:
    """What a Python says of itself, without the environment of ours; None for one that cannot run in a sandbox."""
    command = [str(program), "-I", "-c", _ASK, *modules]
    try:
        ended = subprocess.run(command, timeout=60, check=False, capture_output=True, text=True)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if ended.returncode != 0:
        return None
    name, prefix, base, missing = ended.stdout.splitlines()[:4]
    given = [Path(prefix), Path(base)]
    folders = dict.fromkeys((*given, *(folder.resolve() for folder in given)))
    shown = tuple(folder for folder in folders if not folder.is_relative_to("/usr"))
    if not all(_open_to_others(folder) for folder in shown):
        return None
    return TaskPython(Path(name), shown, tuple(missing.split()))  # what was asked may be a script that starts another


def _open_to_others(folder: Path) -> bool:
    """Whether a candidate can enter it: as root we give candidates a uid of their own."""
    if os.getuid() != 0:
        return True
    return all(place.stat().st_mode & stat.S_IXOTH for place in (folder, *folder.parents))
