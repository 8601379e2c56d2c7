"""Outputs that must not pass, put before a task's checker without any program: exact, and without a device.

The reference's own outputs say which files there are and how long they are; what is in them is replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.harness.checker import Checker
from engine.harness.examine import Harness
from engine.harness.step import StepRunner
from engine.task import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SIZES = {"f": (16, 32, 64), "i": (8, 16, 32, 64), "u": (8, 16, 32, 64)}
ELEMENTS = {f".{kind}{bits}": f"<{kind}{bits // 8}" for kind, sizes in _SIZES.items() for bits in sizes}
"""Element types by the names that raw arrays have (docs/task-format.md); other files are taken as bytes."""


@dataclass(frozen=True)
class Forgery:
    """Wrong contents for every output. ``kind`` is zeros, constant or copy; ``name`` says of which input a copy is."""

    kind: str
    name: str
    files: dict[str, bytes]


def forgeries(inputs: Path, outputs: Path) -> Iterator[Forgery]:
    """Every forgery with the names and sizes of the files in ``outputs``. Contents that happen to be the right ones are left
    out: an output of zeros is no fake where zeros are the answer."""
    right = {path.name: path.read_bytes() for path in sorted(outputs.iterdir())}
    kinds = [
        ("zeros", "zeros", {name: bytes(len(content)) for name, content in right.items()}),
        ("constant", "constant", {name: _ones(name, len(content)) for name, content in right.items()}),
    ]
    for path in sorted(inputs.iterdir()):
        if path.stat().st_size > 0:
            copied = {name: _copied(path, name, len(content)) for name, content in right.items()}
            kinds.append(("copy", f"copy of {path.name}", copied))
    for kind, name, files in kinds:
        if files != right:
            yield Forgery(kind, name, files)


def _ones(name: str, size: int) -> bytes:
    import numpy as np  # the engine starts without it

    return _sized(np.ones(1, _element(name)), size)


def _copied(source: Path, name: str, size: int) -> bytes:
    """The input's values, over and over, in the output's element type."""
    import numpy as np

    content = source.read_bytes()
    values = np.frombuffer(content, _element(source.name), count=len(content) // _element(source.name).itemsize)
    with np.errstate(all="ignore"):
        return _sized(values.astype(_element(name)), size)


def _element(name: str) -> Any:
    import numpy as np

    return np.dtype(ELEMENTS.get(Path(name).suffix, "u1"))


def _sized(values: NDArray[Any], size: int) -> bytes:
    """Exactly ``size`` bytes of the values."""
    import numpy as np

    return np.resize(values, -(-size // values.itemsize)).tobytes()[:size]


async def accepted_forgeries(harness: Harness, task: Task, seed: int, outputs: Path) -> dict[str, list[str]]:
    """By kind, the forgeries that the task's checker takes for right (none, of a sound task): every kind that was tried is a
    key. ``outputs`` are those of the reference with the same seed. Raises InfraError when the checker fails."""
    accepted: dict[str, list[str]] = {}
    stand = harness.stand
    with closing(stand.workspace(task, task.broken, harness.scratch)) as workspace:
        checker = Checker(workspace, seed, StepRunner(stand))
        await checker.generate()
        for forgery in forgeries(workspace.checker / "in", outputs):
            folder = workspace.folder("out")
            for name, content in forgery.files.items():
                (folder / name).write_bytes(content)
            names = accepted.setdefault(forgery.kind, [])
            if (await checker.compare()).passed:
                names.append(forgery.name)
    return accepted
