"""How long the numbers take. By hand: PYTHONPATH=. python -P tests/bench/bench_analysis.py

One million generated iterations analysed in full, with 1,000 resamples of the tasks: every metric by fixer and setting with its
interval, the curve over thresholds, thresholds of stagnation, transitions, degeneration, tiers, tau with its interval, a paired
comparison. Then 10,000 stored trajectories read from their journals. Exit code 1 when a target is missed: 3 s, 500 MB, 2 s.
"""

from __future__ import annotations

import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from engine.analysis.family import family
from engine.analysis.frame import NAMED, PASSED, Coverage, Frame, Iterations, RunFacts, Trajectories
from engine.analysis.intervals import bootstrap
from engine.analysis.metrics import START_BUCKETS, pass_at_k
from engine.analysis.paired import compare
from engine.analysis.performance import degeneration, p_sweep, timings
from engine.analysis.rates import groups_by, rates_by
from engine.analysis.scan import frame_of
from engine.analysis.scoring import Scoring, score
from engine.analysis.signals import signal_bits
from engine.analysis.stability import stability
from engine.analysis.stagnation import sensitivity
from engine.analysis.tiers import pass_by_tier, tiers
from engine.analysis.transitions import transition_matrix, unique_pooled
from engine.protocol import Protocol
from engine.rundir import Cell, RunDirectory

TASKS, FIXERS, SETTINGS, LENGTH = 5_000, 25, 2, 4
RESAMPLES = 1_000
JOURNALS = 10_000
SECONDS, MEGABYTES, SCAN_SECONDS = 3.0, 500, 2.0
STORED = Path(__file__).parents[1] / "fixtures" / "h200" / "run"


def generated() -> Frame:
    """Trajectories of LENGTH iterations each; about a third pass, at their last one."""
    random = np.random.default_rng(7)
    count = TASKS * FIXERS * SETTINGS
    rows = count * LENGTH
    cell = np.arange(count)
    unknown, zeros = np.full(count, -1, np.int32), np.zeros(count, np.int32)
    category = random.integers(0, PASSED, rows).astype(np.int8)
    last = np.arange(LENGTH - 1, rows, LENGTH)
    passes = last[random.random(count) < 0.35]
    category[passes] = PASSED
    solution, signature = (
        random.integers(0, 300_000, rows).astype(np.int32),
        random.integers(0, 4, rows).astype(np.int32),
    )
    speedup = np.full(rows, np.nan)
    speedup[passes] = random.lognormal(0, 0.5, len(passes))
    begins = np.arange(rows) % LENGTH == 0
    names = dict.fromkeys(NAMED, ()) | {
        "task": tuple(f"task {number}" for number in range(TASKS)),
        "fixer": tuple(f"fixer {number}" for number in range(FIXERS)),
        "bucket": START_BUCKETS,
    }
    table = Trajectories(
        task=(cell % TASKS).astype(np.int32),
        fixer=(cell // TASKS % FIXERS).astype(np.int32),
        setting=(cell // (TASKS * FIXERS)).astype(np.int32),
        bucket=(cell % len(START_BUCKETS)).astype(np.int32),
        run=zeros,
        attempt=zeros + 1,
        interactive=zeros.astype(bool),
        infra=zeros,
        fell_back=zeros,
        first=cell * LENGTH,
        length=zeros + LENGTH,
        **dict.fromkeys(("model", "family", "source", "operation", "generation", "device", "stop_reason"), unknown),
    )
    iterations = Iterations(
        trajectory=np.repeat(cell, LENGTH).astype(np.int32),
        number=(np.arange(rows) % LENGTH + 1).astype(np.int32),
        category=category,
        solution=solution,
        signature=signature,
        passed=category == PASSED,
        speedup=speedup,
        cv=np.where(np.isnan(speedup), np.nan, 0.01),
        gate=np.zeros(rows, np.int8),
        seconds=random.random(rows),
        tokens=random.integers(100, 5000, rows).astype(float),
        cost=random.random(rows),
        signals=signal_bits(begins, solution, category, signature),
        truncated=random.random(rows) < 0.01,
    )
    return Frame(names, (Protocol(), Protocol(history=2)), (RunFacts("generated"),), Coverage(count), table, iterations)


def analyse(frame: Frame) -> dict[str, float]:
    """Everything, with the seconds that each part took."""
    seconds: dict[str, float] = {}

    def timed(name: str, part: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        result = part()
        seconds[name] = time.perf_counter() - began
        return result

    groups = groups_by(frame)
    scored = timed("scoring", lambda: score(frame))
    tallies = timed("metrics", lambda: family(scored))
    timed("rates", lambda: [rates_by(tally, groups) for tally in tallies.values()])
    curve = timed("p-sweep", lambda: p_sweep(frame))
    everything = [*tallies.values(), *(tally for _, tally in curve)]
    timed("intervals", lambda: bootstrap(frame, everything, groups, RESAMPLES))
    timed("stagnation thresholds", lambda: sensitivity(frame))
    timed("transitions", lambda: (transition_matrix(frame), unique_pooled(frame)))
    timed("times", lambda: (degeneration(scored), timings(frame)))
    default = frame.where(frame.trajectories.setting == 0)
    usual = timed("tiers", lambda: score(default))
    timed("tiers by fixer", lambda: [pass_by_tier(usual, tiers(usual), name) for name in frame.names["fixer"][:3]])
    solved = pass_at_k(score(frame, Scoring(gate=0.0)))
    timed("tau", lambda: stability(frame, solved, groups, "default", ["default", "history=2"], RESAMPLES))
    first, second = frame.of("fixer", "fixer 0"), frame.of("fixer", "fixer 1")
    timed("paired", lambda: compare(frame, solved, first, second, RESAMPLES))
    return seconds


def stored(folder: Path) -> RunDirectory:
    """A run of JOURNALS trajectories: those of the stored one that have most iterations, over and over."""
    source = RunDirectory(STORED)
    texts = [(cell, source.journal(cell).read_bytes()) for cell in source.plan if cell.fixer == "scripted:stagnating"]
    plan = [Cell(f"task {number}", "scripted:stagnating") for number in range(JOURNALS)]
    run = RunDirectory.create(source.record, plan, folder)
    for number, cell in enumerate(plan):
        original, text = texts[number % len(texts)]
        run.journal(cell).parent.mkdir(parents=True)
        run.journal(cell).write_bytes(
            text.replace(f'"task":"{original.task}"'.encode(), f'"task":"{cell.task}"'.encode(), 1)
        )
    return run


def main() -> int:
    frame = generated()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    began, worked = time.perf_counter(), time.process_time()
    seconds = analyse(frame)
    wall, cpu = time.perf_counter() - began, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for name, value in seconds.items():
        print(f"{name:<24} {value:7.3f} s")
    print(f"{len(frame.iterations)} iterations   {wall:7.3f} s wall, {cpu:.3f} s of processors, target {SECONDS}")
    print(f"peak memory              {peak:7.0f} MB ({before:.0f} before it began), target {MEGABYTES}")
    folder = Path(tempfile.mkdtemp())
    try:
        run = stored(folder / "run")
        times, worked = [], time.process_time()
        for _ in range(3):
            began = time.perf_counter()
            read = frame_of([run])
            times.append(time.perf_counter() - began)
        cpu = (time.process_time() - worked) / 3
    finally:
        shutil.rmtree(folder)
    scan = sorted(times)[1]
    print(f"{len(read.trajectories)} journals, {len(read.iterations)} iterations")
    print(f"                         {scan:7.3f} s wall, {cpu:.3f} s of a processor, target {SCAN_SECONDS}")
    return int(wall > SECONDS or peak > MEGABYTES or scan > SCAN_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
