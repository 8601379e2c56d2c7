"""How a task is timed: the checkout's benchmark/references/<id>.json as a command of ours and what to read from its output.

Its harness profiles with nsys, which few machines and no container have. A range is timed here by a small library that the
NVTX headers load into the program; it takes the same two moments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import msgspec

from engine.corpora.files import bytes_of
from engine.corpora.kernelbench.commands import TIMING
from engine.errors import TaskError

REGION_TIMER = "timing/region_timer.cpp"
"""In the workspace; built once there, and by nothing that the candidate wrote."""

_REGION = (
    "[ -f timing/libregion.so ] || nvcc -shared -Xcompiler -fPIC -o timing/libregion.so timing/region_timer.cpp; "
    'BEAVER_REGION={region} NVTX_INJECTION64_PATH="$PWD/timing/libregion.so" {command}'
)
_ELAPSED = (
    "began=$(date +%s%N); {command} && spent=$(( $(date +%s%N) - began )) && "
    "printf 'Elapsed time: %d.%06d ms\\n' $((spent / 1000000)) $((spent % 1000000))"
)


class Mode(msgspec.Struct, frozen=True):
    """What is timed."""

    type: str
    include: list[str] | None = None


class Spec(msgspec.Struct, frozen=True):
    """The file; the reference solution in it is the instance's own, which is read there."""

    benchmark_command: str
    timing_mode: Mode


@dataclass(frozen=True)
class Timing:
    """Shell text, the pattern of its time in milliseconds, that of the reference's where the program times it too, and the files
    of ours that it needs in the workspace."""

    command: str
    parser: str
    own: tuple[str, ...] = ()
    reference_parser: str | None = None


def own_timing(backend: str, test: str) -> Timing:
    """For families whose test times the reference beside the solution; CUTLASS drivers do so for several sizes, each below a
    heading."""
    if backend == "kernelbench":
        return Timing(TIMING.command, TIMING.parser, reference_parser=TIMING.reference_parser)
    if backend == "make":
        return Timing(test, r"^Kernel time: ([0-9.]+) ms\b", reference_parser=r"^Ref time: ([0-9.]+) ms\b")
    return Timing(test, r"^Kernel time: ([0-9.]+) ms$", reference_parser=r"^Reference time: ([0-9.]+) ms$")


def read_timing(checkout: Path, task: str) -> Timing | None:
    """How a task is timed, None where the checkout says nothing or what it says is not taken over: the sum over all
    kernels needs a profiler. Raises TaskError for a file that cannot be read."""
    path = checkout / "benchmark" / "references" / f"{task}.json"
    if not path.is_file():
        return None
    try:
        spec = msgspec.json.decode(bytes_of(path), type=Spec)
    except msgspec.DecodeError as error:
        raise TaskError(f"{path}: {error}") from error
    mode, command = spec.timing_mode, spec.benchmark_command
    regions = mode.include or []
    if mode.type == "region" and len(regions) == 1 and re.fullmatch(r"\w+", regions[0]):
        text = _REGION.format(region=regions[0], command=command)
        return Timing(text, r"^Region time: ([0-9.]+) ms$", (REGION_TIMER,))
    # a command that builds would be timed with its compiler
    if mode.type in ("total_elapsed", "process") and not re.search(r"\b(?:make|nvcc)\b", command):
        return Timing(_ELAPSED.format(command=command), r"^Elapsed time: ([0-9.]+) ms$")
    return None
