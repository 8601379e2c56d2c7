"""How the host compiler translates a unit's C text."""

from __future__ import annotations

import platform
from functools import lru_cache
from pathlib import Path

C_COMPILER = "gcc"
"""The host compiler for kernels; the runtime is C++ (library.py)."""

C_FLAGS = (
    "-std=gnu11",
    "-w",  # generated text: unused labels, registers and helpers are normal
    "-Werror=implicit-function-declaration",  # else a missing helper shows when the object is loaded
    "-pipe",
    "-fPIC",
    "-mno-red-zone",  # checked accesses push: kernel_ops_memory.h
    # passes that cost a quarter of the compiler's time and do nothing for code whose accesses are asm statements
    "-fno-tree-pre",
    "-fno-gcse",
    "-fno-tree-vectorize",
    "-fno-tree-slp-vectorize",
    # PTX defines what C leaves open, and forbids what C allows
    "-fwrapv",
    "-fno-strict-aliasing",
    "-ffp-contract=off",
    "-fno-delete-null-pointer-checks",
    # nothing here reads errno or the floating-point exception flags
    "-fno-math-errno",
    "-fno-trapping-math",
)

EXTENSIONS = {
    "avx2": "-mavx2",
    "fma": "-mfma",
    "f16c": "-mf16c",
    "cx16": "-mcx16",
    "popcnt": "-mpopcnt",
    "bmi2": "-mbmi2",
}
"""Flags of /proc/cpuinfo to flags of gcc; every one makes some instruction of PTX one instruction of the host."""

LONG = 60_000
"""Lines of C text beyond which optimisation is cut: gcc's time grows faster than the text."""


@lru_cache(maxsize=1)
def host_extensions() -> tuple[str, ...]:
    """What this machine's CPU offers; empty where it cannot be told."""
    if platform.machine() != "x86_64":
        return ()
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return ()
    line = next((line for line in text.splitlines() if line.startswith("flags")), "")
    return tuple(flag for name, flag in EXTENSIONS.items() if name in line.split())


def c_flags(text: str) -> tuple[str, ...]:
    """gcc's flags for this C text on this machine."""
    level = "-O1" if text.count("\n") > LONG else "-O2"
    return (level, *C_FLAGS, *host_extensions())
