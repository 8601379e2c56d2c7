"""How far a timing can be trusted on this machine's GPUs: intervals, decisions, A/A runs, company on the GPU, forgers, ceilings.

    PYTHONPATH=. python -P tests/gpu/timing.py OUT [--parts ceilings,cells,same,repeats,company,forgers,tests] [--seconds 540] [--done FILE ...]

Every measurement is a line of OUT/timing.jsonl as soon as it is there; OUT/timing.md has the tables. Measurements that a ``--done`` file
(an earlier timing.jsonl) holds are not made again and appear in the tables. Nothing is begun after ``--seconds``. With several GPUs
the tasks are spread over them; a task stays on one. A launch takes a second or less, so that for eight tasks on one GPU cells take about
7 minutes, repeats 5, same 2.5, company and forgers one each; on four GPUs the first three take a quarter of that.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from engine.corpora import builtin_folder, load_corpus
from engine.devices import cuda
from engine.devices.base import Gpu
from engine.devices.ceilings import Ceilings
from engine.devices.toolkit import find_toolkit
from engine.events import Timed
from engine.extract import extract
from engine.harness import on_demand
from engine.harness.examine import Harness, Job
from engine.harness.pythons import task_python
from engine.harness.sandbox import choose_sandbox
from engine.protocol import Protocol
from engine.task import Task
from engine.verdict import classify

PARTS = ("ceilings", "cells", "same", "repeats", "company", "forgers", "tests")
GATE = 0.7
LAUNCHES = 10
REPEATS = 20
COMPANY_LAUNCHES = 6
COMPANY_TASKS = ("gemm_rect", "spmv_csr", "stencil_heat3d", "flash_attention")
FORGER_PASSES = 200
SEED = 8

Row = dict[str, Any]


class Book:
    """Rows by key, kept as they come; ``over`` once the time is up."""

    def __init__(self, out: Path, done: Iterable[Path], seconds: float) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self._file = out / "timing.jsonl"
        self._until = time.monotonic() + seconds
        self.rows: dict[str, Row] = {}
        for path in (*done, self._file):
            if path.is_file():
                for line in path.read_text().splitlines():
                    row = json.loads(line)
                    self.rows[row["key"]] = row
        self._file.write_text("".join(json.dumps(row) + "\n" for row in self.rows.values()))
        self.left_out: list[str] = []

    @property
    def over(self) -> bool:
        return time.monotonic() > self._until

    async def keep(self, key: str, make: Callable[[], Awaitable[Row]]) -> None:
        """Make a row unless it is there or the time is up."""
        if key in self.rows:
            return
        if self.over:
            self.left_out.append(key)
            return
        began = time.monotonic()
        row = {"key": key, **await make()}
        row["seconds"] = round(time.monotonic() - began, 2)
        self.rows[key] = row
        with self._file.open("a") as stream:
            stream.write(json.dumps(row) + "\n")
        shown = {name: value for name, value in row.items() if not isinstance(value, list | dict)}
        print(json.dumps(shown), flush=True)

    def of(self, part: str) -> list[Row]:
        return [row for key, row in self.rows.items() if key.startswith(f"{part}/")]


def slow_tasks() -> dict[str, Task]:
    """Those that are there to be timed; a PyTorch module where a Python has PyTorch (BEAVER_TASK_PYTHON)."""
    tasks = load_corpus(builtin_folder()).tasks
    return {
        name: task
        for name, task in tasks.items()
        if task.spec.start_bucket == "perf_broken" and not task_python(task).lacks
    }


def programs(task: Task) -> dict[str, bytes]:
    """The broken start, a good fix and a degenerate one."""
    return {"broken": task.broken, "good": answer(task, "good"), "degenerate": answer(task, "degenerate")}


def answer(task: Task, script: str) -> bytes:
    """The last recorded answer of a script: the first good one may be a step on the way."""
    assert task.answers is not None
    path = sorted(task.answers.glob(f"{script}/*"))[-1]
    if path.suffix != ".md":
        return path.read_bytes()
    found = extract(path.read_text(), suffix=Path(task.spec.solution_file).suffix, start=task.broken.decode())
    assert found.source is not None, path
    return found.source.encode()


def described(timed: Timed) -> Row:
    half = (timed.interval[1] - timed.interval[0]) / 2 / timed.speedup if timed.interval and timed.speedup else None
    clocks = [launch.sm_mhz for launch in timed.launches if launch.sm_mhz]
    walls = [
        abs(wall - own) / own
        for launch in timed.launches
        for own, wall in zip(launch.batches_ms, launch.wall_ms, strict=True)
    ]
    return {
        "speedup": timed.speedup,
        "half_width": half,
        "interval": timed.interval,
        "cv": timed.cv,
        "gate": timed.gate,
        "note": timed.note,
        "source": timed.source,
        "flags": timed.flags,
        "reference_ms": timed.reference_ms,
        "candidate_ms": timed.candidate_ms,
        "outliers": [f"{one.side} {one.number}" for one in timed.outliers],
        "sm_mhz": [min(clocks), max(clocks)] if clocks else [],
        "reasons": sorted({reason for launch in timed.launches for reason in launch.reasons}),
        "celsius": max((launch.celsius or 0 for launch in timed.launches), default=0),
        "wall_apart": max(walls, default=None),
        "launch_seconds": timed.seconds / max(1, len(timed.launches)),
    }


async def measured(harness: Harness, task: Task, code: bytes, launches: int) -> Row:
    protocol = Protocol(launches=launches, gate=GATE)
    return described(await on_demand.time(harness, task, code, protocol, seed=SEED))


async def spread(
    harnesses: list[Harness], tasks: dict[str, Task], work: Callable[[Harness, Task], Awaitable[None]]
) -> None:
    """Each task on one GPU; a GPU takes the next task when it is done with one. Builds go on for the next meanwhile."""
    waiting = list(tasks.values())

    async def serve(harness: Harness) -> None:
        while waiting:
            await work(harness, waiting.pop(0))

    await asyncio.gather(*(serve(harness) for harness in harnesses for _ in range(2)))


async def ceilings(harnesses: list[Harness], book: Book) -> None:
    for harness in harnesses:

        async def make(harness: Harness = harness) -> Row:
            await harness.device.build_ceilings(harness.toolkit)
            async with harness.device.exclusive():
                found: Ceilings = await harness.device.ceilings(harness.toolkit)
            return {name: getattr(found, name) for name in found.__struct_fields__}

        await book.keep(f"ceilings/{harness.device.index}", make)


async def cells(harnesses: list[Harness], book: Book) -> None:
    async def work(harness: Harness, task: Task) -> None:
        for name, code in programs(task).items():
            await book.keep(f"cells/{task.id}/{name}", partial(measured, harness, task, code, LAUNCHES))

    await spread(harnesses, slow_tasks(), work)


async def same(harnesses: list[Harness], book: Book) -> None:
    async def work(harness: Harness, task: Task) -> None:
        assert task.reference is not None
        code = task.reference.read_bytes()
        await book.keep(f"same/{task.id}", partial(measured, harness, task, code, LAUNCHES))

    await spread(harnesses, slow_tasks(), work)


async def repeats(harnesses: list[Harness], book: Book) -> None:
    """Broken starts, one launch of each a repeat: the decision must hold without the mean of ten."""

    async def work(harness: Harness, task: Task) -> None:
        for number in range(REPEATS):
            key = f"repeats/{task.id}/broken/{number}"
            await book.keep(key, partial(measured, harness, task, task.broken, 1))

    await spread(harnesses, slow_tasks(), work)


async def company(harnesses: list[Harness], book: Book) -> None:
    """The same four timings one after the other, and all at once beside builds that never end: on one GPU."""
    harness, tasks = harnesses[0], [slow_tasks()[name] for name in COMPANY_TASKS]

    async def one(task: Task, way: str) -> None:
        code = answer(task, "good")
        await book.keep(f"company/{way}/{task.id}", partial(measured, harness, task, code, COMPANY_LAUNCHES))

    for task in tasks:
        await one(task, "alone")
    built, stop = 0, asyncio.Event()
    other = Harness(device=harness.device, sandbox=harness.sandbox, toolkit=harness.toolkit, sanitize=False)

    async def build() -> None:
        nonlocal built
        while not stop.is_set():
            await on_demand.preview(other, tasks[built % len(tasks)], tasks[built % len(tasks)].broken)
            built += 1

    async def together() -> Row:
        building = asyncio.gather(*(build() for _ in range(4)))
        await asyncio.gather(*(one(task, "together") for task in tasks))
        stop.set()
        await building
        return {"builds": built}

    await book.keep("company/builds/meanwhile", together)
    other.close()


async def forgers(harnesses: list[Harness], book: Book) -> None:
    """Forged times under the real runtime, and the cheats of the corpus examined whole."""
    from tests.integration import test_timing_attacks as attacks
    from tests.support.timing_tasks import HONEST, PASSES, write_timed_task

    harness = harnesses[0]
    codes = {"honest": HONEST, "work on another stream": attacks.OTHER_STREAM, "prints a time": attacks.PRINTS_A_TIME}
    codes |= {name: code for name, (code, _) in attacks.REFUSED_BEFORE_A_LAUNCH.items()}
    codes |= {name: code for name, (code, _) in attacks.REFUSED_BY_THE_CLOCK.items()}
    codes |= attacks.LEFT_A_WRONG_RESULT
    with tempfile.TemporaryDirectory() as scratch:
        task = write_timed_task(Path(scratch), passes=FORGER_PASSES)
        for name, code in codes.items():
            text = code.replace(f"i < {PASSES}", f"i < {FORGER_PASSES}").encode()
            await book.keep(f"forgers/{name}", partial(measured, harness, task, text, 1))
    for task in slow_tasks().values():
        for path in sorted(task.answers.glob("cheat/*")) if task.answers else ():
            await book.keep(f"cheats/{task.id}/{path.stem}", partial(examined, harness, task, path.read_bytes()))


async def examined(harness: Harness, task: Task, code: bytes) -> Row:
    timed: list[Timed] = []
    job = Job(task=task, code=code, iteration=1, seed=SEED, gate=GATE, launches=2, sanitize=False)
    done = await harness.examine(
        job, lambda event: timed.append(event) if isinstance(event, Timed) else None, lambda step, text: None
    )
    verdict = classify(done.evidence)
    row = described(timed[-1]) if timed else {"gate": "unmeasured", "speedup": None, "note": "not reached"}
    return {"category": verdict.category, "signature": verdict.signature, **row}


async def tests(harnesses: list[Harness], book: Book) -> None:
    async def make() -> Row:
        command = [sys.executable, "-P", "-m", "pytest", "-q", "-m", "gpu", "tests/gpu", "-p", "no:cacheprovider"]
        done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False)
        return {"exit": done.returncode, "said": done.stdout.strip().splitlines()[-1:], "tail": done.stdout[-1500:]}

    await book.keep("tests/gpu", make)


def per_cent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.2f} %"


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def report(book: Book) -> str:
    lines = ["# Timing on this machine", ""]
    for row in book.of("ceilings"):
        lines.append("ceilings: " + ", ".join(f"{name} {row[name]:.4g}" for name in Ceilings.__struct_fields__))
    if rows := book.of("cells"):
        narrow = sum(1 for row in rows if row["half_width"] is not None and row["half_width"] <= 0.03)
        lines += ["", f"Interval's half width within 3 %: {narrow} of {len(rows)} cells.", ""]
        lines += [
            "| cell | ratio | interval | half width | cv | gate | SM MHz | note, flags |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for row in rows:
            ends = " to ".join(number(end) for end in row["interval"])
            words = "; ".join([row["note"], *row["flags"]]).strip("; ")
            clocks = "-".join(map(str, row["sm_mhz"]))
            lines.append(
                f"| {row['key'][6:]} | {number(row['speedup'])} | {ends} | {per_cent(row['half_width'])} | {per_cent(row['cv'])} "
                f"| {row['gate']} | {clocks} | {words} |"
            )
    if rows := book.of("same"):
        good = sum(1 for row in rows if row["speedup"] and abs(row["speedup"] - 1) <= 0.02)
        lines += ["", f"A/A, reference against itself, within 2 % of 1.00: {good} of {len(rows)}.", ""]
        lines += ["| task | ratio | interval | half width | cv |", "|---|---|---|---|---|"]
        for row in rows:
            ends = " to ".join(number(end) for end in row["interval"])
            lines.append(
                f"| {row['key'][5:]} | {number(row['speedup'])} | {ends} | {per_cent(row['half_width'])} | {per_cent(row['cv'])} |"
            )
    if rows := book.of("repeats"):
        lines += ["", f"Decisions at p={GATE} over repeats of one launch each:", ""]
        lines += [
            "| program | repeats | pass | fail | unmeasured | least ratio | greatest |",
            "|---|---|---|---|---|---|---|",
        ]
        for program in dict.fromkeys(row["key"].rpartition("/")[0] for row in rows):
            own = [row for row in rows if row["key"].rpartition("/")[0] == program]
            ratios = [row["speedup"] for row in own if row["speedup"]]
            counts = " | ".join(
                str(sum(1 for row in own if row["gate"] == gate)) for gate in ("pass", "fail", "unmeasured")
            )
            least, most = number(min(ratios, default=None)), number(max(ratios, default=None))
            lines.append(f"| {program[8:]} | {len(own)} | {counts} | {least} | {most} |")
    alone = {row["key"].rpartition("/")[2]: row for row in book.of("company/alone")}
    if together := book.of("company/together"):
        builds = book.rows.get("company/builds/meanwhile", {}).get("builds")
        lines += ["", f"Four timings at once on one GPU ({builds} builds meanwhile) against one after the other:", ""]
        lines += [
            "| task | alone, ms | at once, ms | change | ratio alone | ratio at once |",
            "|---|---|---|---|---|---|",
        ]
        for row in together:
            before = alone.get(row["key"].rpartition("/")[2])
            if before and before["candidate_ms"] and row["candidate_ms"]:
                means = [sum(one["candidate_ms"]) / len(one["candidate_ms"]) for one in (before, row)]
                lines.append(
                    f"| {row['key'].rpartition('/')[2]} | {means[0]:.6f} | {means[1]:.6f} | {per_cent(means[1] / means[0] - 1)} "
                    f"| {number(before['speedup'])} | {number(row['speedup'])} |"
                )
    if rows := [*book.of("forgers"), *book.of("cheats")]:
        lines += ["", "Forgers:", "", "| program | category | ratio | gate | why |", "|---|---|---|---|---|"]
        for row in rows:
            lines.append(
                f"| {row['key']} | {row.get('category', '')} | {number(row['speedup'])} | {row['gate']} | {row['note']} |"
            )
    for row in book.of("tests"):
        lines += ["", f"pytest -m gpu tests/gpu: exit {row['exit']}, {' '.join(row['said'])}"]
    if book.left_out:
        lines += ["", f"Not begun for lack of time: {len(book.left_out)}: {', '.join(book.left_out[:20])}"]
    return "\n".join(lines) + "\n"


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--seconds", type=float, default=540.0)
    parser.add_argument("--done", type=Path, nargs="*", default=[])
    asked = parser.parse_args()
    parts = asked.parts.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    gpus: list[Gpu]
    gpus, reason = cuda.query()
    if not gpus:
        raise SystemExit(f"no NVIDIA GPU can be used here ({reason})")
    toolkit, sandbox = find_toolkit(), choose_sandbox()
    book = Book(asked.out, asked.done, asked.seconds)
    harnesses = [
        Harness(device=gpu, sandbox=sandbox, toolkit=toolkit, sanitize=False, keep_builds=True) for gpu in gpus
    ]
    print(f"{len(gpus)} x {gpus[0].label}, driver {gpus[0].driver}, nvcc {toolkit.version}, {sandbox.name}", flush=True)
    work = {
        "ceilings": ceilings,
        "cells": cells,
        "same": same,
        "repeats": repeats,
        "company": company,
        "forgers": forgers,
        "tests": tests,
    }
    try:
        for part in parts:
            began = time.monotonic()
            await work[part](harnesses, book)
            print(f"part {part}: {time.monotonic() - began:.1f} s", flush=True)
            (asked.out / "timing.md").write_text(report(book))
    finally:
        for harness in harnesses:
            harness.close()
        (asked.out / "timing.md").write_text(report(book))
    print(report(book))


if __name__ == "__main__":
    asyncio.run(main())
