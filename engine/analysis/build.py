"""From records of trajectories, however they were come by, to a Frame."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from engine.analysis.frame import (
    CATEGORIES,
    GATES,
    GENERATIONS,
    NAMED,
    SIGNALS,
    UNKNOWN,
    Coverage,
    Frame,
    Iterations,
    RunFacts,
    Trajectories,
    setting_of,
)
from engine.analysis.signals import signal_bits
from engine.protocol import Protocol, Sampling

PAPER: Final = Protocol()
"""The paper's default protocol."""


class IterationRecord(NamedTuple):
    """One closed iteration. NaN is what was not measured or not told."""

    category: str
    solution: str | None = None
    signature: str = ""
    passed: bool = False
    speedup: float = math.nan
    cv: float = math.nan
    gate: str = "unmeasured"
    seconds: float = 0.0
    tokens: float = math.nan
    cost: float = math.nan
    signals: Sequence[str] = ()
    truncated: bool = False


@dataclass(frozen=True)
class TrajectoryRecord:
    """One closed trajectory with at least one iteration. Empty names are unknown ones."""

    task: str
    fixer: str
    iterations: Sequence[IterationRecord]
    protocol: Protocol = PAPER
    run: int = 0
    attempt: int = 1
    model: str = ""
    family: str = ""
    source: str = ""
    bucket: str = ""
    operation: str = ""
    device: str = ""
    stop_reason: str = ""
    interactive: bool = False
    infra: int = 0
    fell_back: int = 0

    @property
    def generation(self) -> str:
        return generation_of(self.device)


_CAPABILITY = re.compile(r"\bsm_(\d+)")


def generation_of(device: str) -> str:
    """The GPU generation in a device's label ("cuda NVIDIA H200 (sm_90)"), empty when it names none that is known. The CPU
    device, which stands in for one compute capability or another, is a generation of its own: "CPU"."""
    if device.startswith("cpu"):
        return "CPU"
    found = _CAPABILITY.search(device)
    return GENERATIONS.get(int(found[1]), f"sm_{found[1]}") if found is not None else ""


def frame_from(
    records: Iterable[TrajectoryRecord], runs: Sequence[RunFacts] = (RunFacts(""),), coverage: Coverage | None = None
) -> Frame:
    """The Frame of these records, in their order; their ``run`` is a position in ``runs``. Signals of repeated sampling go across
    the attempts of a task and are made here (protocol 21). Raises ValueError for a record without iterations and for a
    category, gate or signal that is none."""
    rows = list(records)
    if any(not row.iterations for row in rows):
        raise ValueError("a trajectory without iterations has nothing to count")
    ids: dict[str, dict[str, int]] = {column: {} for column in NAMED}
    settings: dict[Protocol, int] = {}
    lengths = np.array([len(row.iterations) for row in rows], np.int32)
    first = (np.cumsum(lengths) - lengths).astype(np.int64)
    columns = {name: _ids([getattr(row, name) for row in rows], ids[name]) for name in NAMED}
    trajectories = Trajectories(
        **columns,
        setting=np.array([settings.setdefault(setting_of(row.protocol), len(settings)) for row in rows], np.int32),
        run=np.array([row.run for row in rows], np.int32),
        attempt=np.array([row.attempt for row in rows], np.int32),
        interactive=np.array([row.interactive for row in rows], bool),
        infra=np.array([row.infra for row in rows], np.int32),
        fell_back=np.array([row.fell_back for row in rows], np.int32),
        first=first,
        length=lengths,
    )
    frame = Frame(
        names={column: tuple(known) for column, known in ids.items()},
        settings=tuple(settings),
        runs=tuple(runs),
        coverage=coverage or Coverage(planned=len(rows)),
        trajectories=trajectories,
        iterations=_iterations([item for row in rows for item in row.iterations], lengths, first),
    )
    _signal_repeated(frame)
    return frame


def _ids(values: Iterable[str | None], known: dict[str, int]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Each value's id, new ones in the order in which they come; -1 for what is empty."""
    return np.array([known.setdefault(value, len(known)) if value else UNKNOWN for value in values], np.int32)


_CATEGORY_CODES = {name: code for code, name in enumerate(CATEGORIES)}
_GATE_CODES = {name: code for code, name in enumerate(GATES)}
_SIGNAL_BITS = {name: 1 << bit for bit, name in enumerate(SIGNALS)}


def _code(table: Mapping[str, int], name: str) -> int:
    if name not in table:
        raise ValueError(f"{name!r}: none of {', '.join(table)}")
    return table[name]


def _bits(names: Sequence[str]) -> int:
    """Flags that are no stagnation signal, such as resubmitted_broken_start, have no bit."""
    return sum(_SIGNAL_BITS.get(name, 0) for name in set(names)) if names else 0


def _iterations(
    records: list[IterationRecord],
    lengths: np.ndarray[tuple[int], np.dtype[np.int32]],
    first: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> Iterations:
    by_field = list(zip(*records, strict=True)) if records else [()] * len(IterationRecord._fields)
    values = dict(zip(IterationRecord._fields, by_field, strict=True))
    count = len(records)
    return Iterations(
        trajectory=np.repeat(np.arange(len(lengths), dtype=np.int32), lengths),
        number=(np.arange(count, dtype=np.int32) - np.repeat(first, lengths).astype(np.int32) + 1),
        category=np.array([_code(_CATEGORY_CODES, name) for name in values["category"]], np.int8),
        solution=_ids(values["solution"], {}),
        # an empty signature is one too: two passes have the same
        signature=_ids((f"={text}" for text in values["signature"]), {}),
        passed=np.array(values["passed"], bool),
        speedup=np.array(values["speedup"], np.float64),
        cv=np.array(values["cv"], np.float64),
        gate=np.array([_code(_GATE_CODES, name) for name in values["gate"]], np.int8),
        seconds=np.array(values["seconds"], np.float64),
        tokens=np.array(values["tokens"], np.float64),
        cost=np.array(values["cost"], np.float64),
        signals=np.array([_bits(names) for names in values["signals"]], np.uint8),
        truncated=np.array(values["truncated"], bool),
    )


def _signal_repeated(frame: Frame) -> None:
    """Fill in, in place, the signals of repeated attempts: each is a trajectory of one, and its journal cannot know them."""
    table = frame.trajectories
    for number, protocol in enumerate(frame.settings):
        if protocol.sampling is not Sampling.REPEATED:
            continue
        rows = np.flatnonzero(table.setting == number)
        order = np.lexsort((table.attempt[rows], table.task[rows], table.fixer[rows], table.run[rows]))
        rows = rows[order]
        owner = np.stack((table.run[rows], table.fixer[rows], table.task[rows]))
        begins = np.concatenate(([True], (owner[:, 1:] != owner[:, :-1]).any(axis=0)))
        places = table.first[rows]
        frame.iterations.signals[places] = signal_bits(
            begins,
            frame.iterations.solution[places],
            frame.iterations.category[places],
            frame.iterations.signature[places],
            oscillation_m=protocol.oscillation_m,
            oscillation_n=protocol.oscillation_n,
            no_progress_c=protocol.no_progress_c,
        )
