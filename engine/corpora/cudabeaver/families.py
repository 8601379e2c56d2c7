"""What the twelve families of a checkout have in common, and what sets them apart, as a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.corpora.kernelbench import commands
from engine.task import Backend, Budgets, CategoryName

TORCH = ("module:torch", "module:numpy")
"""What a Python harness of the checkout imports before anything else."""

REFERENCE_SOURCES = {
    "reference_sources/cutlass": "data/_external/cutlass",
    "reference_sources/ThunderKittens": "data/_external/ThunderKittens",
}
"""Libraries that testbenches want beside them, by their place in the workspace: where they lie in the checkout."""


DEFAULT_BUDGETS = Budgets()
_EXTENSIONS = Budgets(build=900, test=600, sanitizer=600)
"""Extensions are compiled in the build step; in the test, what the build did not meet."""


@dataclass(frozen=True)
class Family:
    """How the tasks of a family run. Commands that are None stand in a task's input.json.

    ``before`` stands before all of them, ``after_build`` is done once the task's own build command has ended well. ``requires`` is
    added to what a task's own commands show, ``evidence`` is what a pass must print; where the family ``times_itself``, it launches
    the reference beside the solution and prints both times. ``libraries`` are places of a workspace and where they lie in the
    checkout, ``own`` are programs of ours by their places.
    """

    backend: Backend
    build: str | None = None
    after_build: str | None = None
    test: str | None = None
    before: str = ""
    requires: tuple[str, ...] = ()
    libraries: tuple[tuple[str, str], ...] = ()
    own: Mapping[str, Path] = field(default_factory=dict)
    evidence: str | None = None
    times_itself: bool = False
    arch_exact: str | None = None
    budgets: Budgets = DEFAULT_BUDGETS


_CHECKOUT = 'export PYTHONPATH="$PWD/checkout"; '
"""Python finds what the checkout brings along."""

_DEFPY_FILES = {
    "beaver_defpy/defpy.py": Path(__file__).parent / "workspace" / "defpy.py",
    "beaver_defpy/extensions.py": commands.EXTENSIONS,
}

_NVCC = Family("nvcc")
_DEFPY = Family(
    "defpy",
    build="python beaver_defpy/defpy.py build",
    test="python beaver_defpy/defpy.py test",
    before=f'{_CHECKOUT}{commands.EXPORTS}export APPLIED_KERNELS_ROOT="$PWD"; ',
    requires=(*TORCH, "module:pydantic", "program:ninja"),
    libraries=(
        *REFERENCE_SOURCES.items(),
        ("checkout/harness/applied_kernels_runner", "harness/applied_kernels_runner"),
    ),
    own=_DEFPY_FILES,
    evidence=r"^Kernel time: [0-9.]+ ms$",
    times_itself=True,
    budgets=_EXTENSIONS,
)

FAMILIES: dict[str, Family] = {
    "cuda": _NVCC,
    "cublas": _NVCC,
    "cufft": _NVCC,
    "cusolver": _NVCC,
    "cusparse": _NVCC,
    # its comparison ends with 0 whatever it found: only its last line says
    "cudabench": Family(
        "nvcc", requires=TORCH, evidence=r"^T\s*\Z", budgets=Budgets(build=60, test=600, sanitizer=600)
    ),
    # the checkout's own static check, then our build and judge: its evaluation shares a process with the solution
    "kernelbench": Family(
        "kernelbench",
        after_build=commands.BUILD,
        before=f"{_CHECKOUT}{commands.EXPORTS}",
        requires=commands.REQUIRES,
        # the check alone: the package around it imports a client for models, and more that no task needs
        libraries=(("checkout/kernelbench", "harness/_vendor/kernelbench/kernel_static_checker.py"),),
        own=commands.files(),
        evidence=commands.EVIDENCE,
        times_itself=True,
        budgets=_EXTENSIONS,
    ),
    "cutlass": Family(
        "make",
        libraries=tuple(REFERENCE_SOURCES.items()),
        evidence=r"^Kernel time: [0-9.]+ ms\b",  # said after the comparison
        times_itself=True,
        budgets=Budgets(build=600, test=120, sanitizer=600),
    ),
    "thunderkittens": Family(
        "make",
        requires=("lib:cuda", *TORCH),
        arch_exact="sm_90a",
        budgets=Budgets(build=600, test=300, sanitizer=600),
    ),
    "flashattention": _DEFPY,
    "layernorm": _DEFPY,
    "cufft_samples": _DEFPY,
}

CATEGORY_OF_BUCKET: dict[str, CategoryName] = {
    "logic_error": "functional_correctness",
    "timeout": "timeout",
    "perf_broken": "passed",
}
"""The label as a category, where a bucket has only one: a compile_error has three, a memory_crash two."""

_LINKED = re.compile(r"(?<!\S)-l(cu\w+|nv\w+)")
_OWN_SANITIZER = "run_sanitizer.py"


def needs_of(family: Family, commands: str) -> list[str]:
    """What a task requires: its family's needs, libraries that it links, and the sanitizer where its own test starts it."""
    linked = [
        f"lib:{name}" for name in _LINKED.findall(commands) if name not in ("cudart", "cudadevrt", "cudart_static")
    ]
    sanitizer = ["program:compute-sanitizer"] if _OWN_SANITIZER in commands else []
    return list(dict.fromkeys((*linked, *sanitizer, *family.requires)))
