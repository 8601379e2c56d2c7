"""Nsight Compute's own output, read: figures by kernel, and in words why there are none.

The text is the profiler's log file (CSV after its own remarks). Kernel names in it are the candidate's choice, and whoever
controls the process can put anything into it: every name is cleaned, every number must be finite, and sizes are bounded.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from engine.text import shown_name
from engine.verdict.profile_metrics import (
    DURATION,
    ISSUED,
    LIMITS,
    METRICS,
    STALLS,
    Metric,
    stall_metric,
    stall_name,
    tool_metrics,
)

MOST_KERNELS: Final = 32
"""Kernels that a report may hold; those that took longest are kept."""

MOST_LAUNCHES: Final = 4096
"""Launches that are read of one report: far more than were asked for."""

_NAME: Final = 120
"""Characters of a kernel's name."""

_UNITS: Final[Mapping[str, float]] = {
    "ns": 1, "nsecond": 1, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9, "second": 1e9,
    "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "byte/block": 1, "Kbyte/block": 1e3,
}  # fmt: skip
"""Factors to the base unit, for a version that does not keep to base units."""

_REASONS: Final = (
    (
        "ERR_NVGPUCTRPERM",
        "this user may not read the GPU's performance counters (ERR_NVGPUCTRPERM); docs/profiler.md says how to allow it",
    ),
    ("No kernels were profiled", "Nsight Compute saw no launch of the kernels that were looked for"),
    ("driver resource was unavailable", "another program holds the GPU's performance counters"),
    ("lock file", "Nsight Compute could not get its lock file"),
    ("not compatible with Nsight Compute", "this Nsight Compute does not fit the driver"),
)
"""What Nsight Compute says when it fails, and what that means. The first that is found anywhere decides."""

_REMARK: Final = re.compile(r"^==(?:ERROR|WARNING)== (.+)$", re.MULTILINE)
_HEADER: Final = re.compile(r'^"ID",', re.MULTILINE)
_ENDED: Final = "The application returned an error code"


@dataclass(frozen=True)
class Report:
    """``figures`` by kernel, the longest first; ``problem`` says why there are none, and is empty when there are."""

    figures: dict[str, dict[str, float]] = field(default_factory=dict)
    problem: str = ""


def read_report(text: str) -> Report:
    """The report in a log file of ``ncu --csv``. Any text will do."""
    launches = _launches(text)
    by_kernel: dict[str, list[dict[str, float]]] = {}
    for kernel, values in launches:
        if values.get(DURATION.tool, 0.0) > 0.0:
            by_kernel.setdefault(kernel, []).append(values)
    figures = {kernel: _figures(runs) for kernel, runs in by_kernel.items()}
    total = sum(each["time_us"] for each in figures.values())
    for each in figures.values():
        each["time_pct"] = _rounded(100 * each.pop("time_us") / total)
    order = sorted(figures, key=lambda kernel: -figures[kernel]["time_pct"])
    kept = {kernel: figures[kernel] for kernel in order[:MOST_KERNELS]}
    return Report(kept) if kept else Report(problem=_problem(text))


def refused_metrics(text: str) -> tuple[str, ...]:
    """The metrics that a log without figures complains of by name: another chip or version has other ones."""
    if _HEADER.search(text):
        return ()
    complaints = " ".join(_REMARK.findall(text[:100_000]))
    return tuple(name for name in tool_metrics() if name.partition(".")[0] in complaints)


def _launches(text: str) -> list[tuple[str, dict[str, float]]]:
    """Kernel and metrics of every launch, in order."""
    header = _HEADER.search(text)
    if header is None:
        return []
    found: dict[tuple[str, str, str], tuple[str, dict[str, float]]] = {}
    for row in _rows(text[header.start() :]):
        key = (row.get("Process ID", ""), row.get("ID", ""), row["Kernel Name"])
        if key not in found and len(found) >= MOST_LAUNCHES:
            break
        name = shown_name(without_parameters(row["Kernel Name"][:4000]), _NAME) or "(no name)"
        _, values = found.setdefault(key, (name, {}))
        value = _number(row["Metric Value"])
        if value is not None:
            values[row["Metric Name"]] = value * _UNITS.get(row.get("Metric Unit", ""), 1)
    return list(found.values())


def _rows(text: str) -> Iterator[dict[str, str]]:
    """The rows that hold a metric, by column. What is no row of the table is passed over."""
    lines = (line for line in text.split("\n") if line.startswith('"'))
    reader = csv.reader(lines)
    try:
        columns = next(reader)
        for cells in reader:
            row = dict(zip(columns, cells, strict=False))
            if all(row.get(name) for name in ("Kernel Name", "Metric Name", "Metric Value")):
                yield row
    except (csv.Error, StopIteration):
        return


def _number(text: str) -> float | None:
    """A finite number that is not negative; thousands may have commas. None for "n/a" and the like."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value < 1e18 else None


def without_parameters(name: str) -> str:
    """A demangled name without what a template's has before it and its list of parameters: "void gemm<128>(const float *, int)"
    is "gemm<128>"."""
    name = name.strip().removeprefix("void ")
    if not name.endswith(")"):
        return name
    depth = 0
    for index in range(len(name) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(name[index], 0)
        if depth == 0:
            return name[:index].rstrip() or name
    return name


def _figures(runs: list[dict[str, float]]) -> dict[str, float]:
    """One kernel's launches as one set of figures."""
    durations = [run[DURATION.tool] for run in runs]
    longest = runs[durations.index(max(durations))]
    figures = {"launches": float(len(runs)), "time_us": DURATION.scale * sum(durations)}
    for metric in (*METRICS, *LIMITS):
        value = _over(metric, runs, longest)
        if value is not None:
            exact = metric.over == "longest"  # facts of the launch: whole numbers
            figures[metric.name] = metric.scale * value if exact else _rounded(metric.scale * value)
    return figures | _stalls(runs)


def _over(metric: Metric, runs: list[dict[str, float]], longest: dict[str, float]) -> float | None:
    if metric.over == "longest":
        return longest.get(metric.tool)
    if metric is DURATION:
        return sum(run[metric.tool] for run in runs) / len(runs)
    return _mean(metric.tool, runs)


def _mean(tool: str, runs: list[dict[str, float]]) -> float | None:
    """Over the launches that have the metric, each weighted by its duration."""
    having = [run for run in runs if tool in run]
    weight = sum(run[DURATION.tool] for run in having)
    return sum(run[tool] * run[DURATION.tool] for run in having) / weight if having else None


def _stalls(runs: list[dict[str, float]]) -> dict[str, float]:
    """The share of a warp's cycles that each reason takes, in per cent. Issuing is in the whole and is no reason; where it was
    not measured the whole is not known."""
    if _mean(stall_metric(ISSUED), runs) is None:
        return {}
    means = {reason: _mean(stall_metric(reason), runs) or 0.0 for reason in (*STALLS, ISSUED)}
    total = sum(means.values())
    if total <= 0:
        return {}
    shares = {reason: _rounded(100 * means[reason] / total) for reason in STALLS}
    return {stall_name(reason): share for reason, share in shares.items() if share > 0}


def _rounded(value: float) -> float:
    """Four digits: no counter is better than that from one run to the next."""
    return float(f"{value:.4g}")


def _problem(text: str) -> str:
    """Why a report holds no figures, in one line."""
    for said, meaning in _REASONS:
        if said in text:
            return meaning
    remarks = [remark for remark in _REMARK.findall(text[:100_000]) if not remark.startswith(_ENDED)]
    if remarks:
        return f"Nsight Compute says: {shown_name(remarks[0], 160)}"
    return "Nsight Compute reported no kernel"
