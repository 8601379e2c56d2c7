"""What the checkers of the built-in tasks share: arrays on disk, comparison with a tolerance, result.json.

A checker is a small program in a folder of its own. ``python3 check.py generate`` writes the inputs into in/, from
the seed in BEAVER_SEED; ``python3 check.py compare`` judges what the candidate left in out/. It imports numpy and
this file, nothing of the engine. Exit 0: the outputs match; exit 1: they do not, which includes missing, short and
non-finite ones; exit 3: the checker itself is at fault.

Files are raw little-endian arrays without a header, named after their element: x.f32, n.i32, codes.u8.
"""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

DTYPES: dict[str, np.dtype[Any]] = {
    ".f64": np.dtype("<f8"),
    ".f32": np.dtype("<f4"),
    ".f16": np.dtype("<f2"),
    ".i64": np.dtype("<i8"),
    ".i32": np.dtype("<i4"),
    ".u32": np.dtype("<u4"),
    ".u8": np.dtype("u1"),
}
MAX_MISMATCHES = 8


class CheckerFault(Exception):
    """The checker or its task is at fault, not the candidate."""


class OutputFault(Exception):
    """An output that cannot be read as the array it should be."""


@dataclass(frozen=True)
class Tolerance:
    """|got - want| <= atol + rtol * |want|, element by element."""

    atol: float
    rtol: float


EXACT = Tolerance(0.0, 0.0)


@dataclass
class Report:
    """The verdict on one output; result.json holds these fields."""

    passed: bool
    output: str
    shape: list[int]
    dtype: str
    tolerance: Tolerance
    message: str
    max_abs: float | None = None
    mean_abs: float | None = None
    max_rel: float | None = None
    mismatches: list[dict[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "tolerance": vars(self.tolerance)}


def rng() -> np.random.Generator:
    """The generator of this run's inputs."""
    try:
        return np.random.default_rng(int(os.environ["BEAVER_SEED"]))
    except (KeyError, ValueError) as error:
        raise CheckerFault("BEAVER_SEED must hold the seed, in decimal") from error


def dtype_of(name: str) -> np.dtype[Any]:
    """The element type that a file's name ends in."""
    suffix = Path(name).suffix
    if suffix not in DTYPES:
        raise CheckerFault(f"{name}: unknown element type")
    return DTYPES[suffix]


def write_input(name: str, values: Array | float | Sequence[float]) -> None:
    """Writes in/<name>. An integer that its element type cannot hold is a fault of the checker."""
    array = np.asarray(values)
    stored = np.ascontiguousarray(array, dtype=dtype_of(name))
    if stored.dtype.kind in "iu" and not np.array_equal(stored, array):
        raise CheckerFault(f"{name}: values do not fit {stored.dtype}")
    Path("in").mkdir(exist_ok=True)
    stored.tofile(Path("in") / name)


def read_input(name: str, shape: tuple[int, ...]) -> Array:
    """Reads in/<name>."""
    return np.fromfile(Path("in") / name, dtype=dtype_of(name)).reshape(shape)


def read_scalar(name: str) -> int:
    """Reads in/<name>, which holds one integer."""
    return int(read_input(name, (1,))[0])


def read_output(name: str, shape: tuple[int, ...]) -> Array:
    """Reads out/<name>, or raises OutputFault. Nothing is read from a file of another size, or through a link."""
    path, dtype = Path("out") / name, dtype_of(name)
    expected = math.prod(shape) * dtype.itemsize
    if path.is_symlink() or not path.is_file():
        raise OutputFault(f"out/{name} is missing")
    size = path.stat().st_size
    if size != expected:
        raise OutputFault(f"out/{name} holds {size} bytes instead of {expected}")
    return np.fromfile(path, dtype=dtype).reshape(shape)


def accumulated(scale: float, length: int, *, rtol: float = 1e-5, factor: float = 4.0) -> Tolerance:
    """A tolerance for float32 sums of ``length`` terms whose absolute values add up to about ``scale``.

    Independent rounding errors of a sum grow like the square root of its length; ``factor`` is the head room.
    """
    return Tolerance(factor * float(np.finfo(np.float32).eps) * math.sqrt(length) * scale, rtol)


def compare(name: str, want: Array, tolerance: Tolerance, *, unlike: Sequence[Array] = ()) -> Report:
    """Judges out/<name> against ``want``, a float64 (or integer) array of the exact answer.

    ``unlike`` holds wrong answers of the same shape that must never be accepted, such as a copy of an input.
    """
    dtype = dtype_of(name)
    label = Path(name).stem
    _refuse_loose(name, want, tolerance, unlike)
    report = Report(False, label, list(want.shape), dtype.name, tolerance, "")
    try:
        got = read_output(name, want.shape).astype(np.float64)
    except OutputFault as fault:
        report.message = f"{label}: {fault}"
        return report
    exact = want.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(got - exact)
        wrong = ~(error <= tolerance.atol + tolerance.rtol * np.abs(exact))
    finite = np.isfinite(error)
    if finite.any():
        report.max_abs = float(error[finite].max())
        report.mean_abs = float(error[finite].mean())
        known = finite & (exact != 0)
        report.max_rel = float((error[known] / np.abs(exact[known])).max()) if known.any() else None
    count = int(wrong.sum())
    report.passed = count == 0
    report.message = f"{label}: {count} of {want.size} values differ"
    strange = int((~np.isfinite(got)).sum())
    if strange:
        report.message += f", {strange} of them not finite"
    for flat in np.flatnonzero(wrong)[:MAX_MISMATCHES]:
        index = np.unravel_index(int(flat), want.shape)
        report.mismatches.append(
            {"index": [int(i) for i in index], "got": _plain(got[index], dtype), "want": _plain(exact[index], dtype)}
        )
    return report


def first_failure(*reports: Report) -> Report:
    """The first report that did not pass, or the last one."""
    return next((report for report in reports if not report.passed), reports[-1])


def main(generate: Callable[[], None], judge: Callable[[], Report]) -> None:
    """Runs the step that the command line names and ends the process."""
    step = sys.argv[1] if len(sys.argv) == 2 else ""
    try:
        if step == "generate":
            generate()
            sys.exit(0)
        if step != "compare":
            raise CheckerFault("usage: check.py generate | compare")
        report = judge()
    except Exception as error:
        if not isinstance(error, CheckerFault):
            traceback.print_exc()
        print(f"checker fault: {error}", file=sys.stderr)
        sys.exit(3)
    Path("result.json").write_text(json.dumps(report.as_json(), allow_nan=False) + "\n", encoding="utf-8")
    limits = f"atol={report.tolerance.atol:.3g}, rtol={report.tolerance.rtol:.3g}"
    worst = "unknown" if report.max_abs is None else f"{report.max_abs:.3g}"
    print(f"{'match' if report.passed else 'MISMATCH'}: {report.message} (max abs error {worst}; {limits})")
    sys.exit(0 if report.passed else 1)


def _refuse_loose(name: str, want: Array, tolerance: Tolerance, unlike: Sequence[Array]) -> None:
    """A tolerance that lets zeros, a constant or a copied input through would make every verdict worthless."""
    exact = want.astype(np.float64)
    if exact.size == 0 or not np.isfinite(exact).all():
        raise CheckerFault(f"{name}: the expected values are empty or not finite")
    middles = [] if exact.size == 1 else [float(exact.mean()), float(exact.flat[exact.size // 2])]
    traps = [(f"{constant:g} everywhere", np.broadcast_to(constant, exact.shape)) for constant in (0.0, *middles)]
    traps += [("a copied input", array) for array in unlike]
    for what, wrong in traps:
        if _accepts(wrong[:64], exact[:64], tolerance) and _accepts(wrong, exact, tolerance):
            raise CheckerFault(f"{name}: the tolerance accepts {what}")


def _accepts(got: Array, exact: Array, tolerance: Tolerance) -> bool:
    return bool((np.abs(got - exact) <= tolerance.atol + tolerance.rtol * np.abs(exact)).all())


def _plain(value: Any, dtype: np.dtype[Any]) -> float | int | str:
    """A number as JSON can hold it: "nan" and "inf" as text."""
    number = float(value)
    if not math.isfinite(number):
        return str(number)
    return int(number) if dtype.kind in "iu" else number
