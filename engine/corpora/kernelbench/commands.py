"""What every task of this style has in its workspace, and how it is built, judged and timed there.

The build step compiles the extensions, without a GPU and without the GPU's lock; test and timing load what it left.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

LIBRARY = "beaver_kernelbench"
"""Folder of a workspace that holds our programs; prompts name it and show none of its files."""

REQUIRES = ("module:torch", "module:numpy", "program:ninja")

EXPORTS = 'export TORCH_CUDA_ARCH_LIST=native TORCH_EXTENSIONS_DIR="${TMPDIR:-/tmp}/torch_extensions"; '
"""The architecture is written out for the device. The folder is for what is compiled in a test after all: nothing that two
candidates share, nor anything that a later step finds."""

BUILD = f"python {LIBRARY}/build.py solution.py problem.py"

EVIDENCE = r"^compiled=True correctness=True\b"
"""Beside the seal (engine/harness/seal.py)."""

_WORKSPACE = Path(__file__).parent / "workspace"

EXTENSIONS = _WORKSPACE / "extensions.py"
"""What keeps extensions between the steps, for other harnesses that compile some."""


@dataclass(frozen=True)
class Times:
    """Shell text, and what to read from its output."""

    command: str
    parser: str = r"^Kernel time: ([0-9.]+) ms$"
    reference_parser: str = r"^Reference time: ([0-9.]+) ms$"


def judged(trials: int) -> str:
    """The test: so many trials beside the problem's own model."""
    return f"python -I {LIBRARY}/judge.py test {trials}"


TIMING = Times(f"python -I {LIBRARY}/judge.py time 1")


def files() -> dict[str, Path]:
    """Our programs by their places in a workspace."""
    return {f"{LIBRARY}/{path.name}": path for path in sorted(_WORKSPACE.glob("*.py"))}
