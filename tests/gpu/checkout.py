"""Verify tasks of a CUDABeaver checkout once, without the sanitizer, and keep the outcomes for a comparison of two machines.

    python -P tests/gpu/checkout.py CHECKOUT STATE [--tasks GLOB]... [--device auto] [--jobs N] [--logs DIR] [--seconds S]
                                                   [--launches N] [--record FILE]

STATE is a file like that of ``beaver-tui verify --out``: a second call goes on where the first one ended (also after ``--seconds``),
and ``beaver-tui verify --compare STATE OTHER`` says where two machines see another category. ``--logs DIR`` keeps the error logs.
Prints a line a task, a table by family and verdict, and the seconds that it took.

A ``--record`` (tests/fixtures/h200/cudabeaver.jsonl) outlives versions of the engine, which a STATE does not: a line a task with the
categories that were seen, where and when. Tasks that it holds are not run again, and the table counts them too.

    python -P tests/gpu/checkout.py CHECKOUT ANSWERS.yaml --answers [--tasks GLOB]...

writes answers for a scripted fixer that hands in the broken start first and the reference second, of every task that has one: with
``beaver-tui --batch --corpus CHECKOUT --fixer scripted:ANSWERS.yaml -k 2`` pass@2 is the share of references that are accepted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from engine.corpora import load_corpus
from engine.local import local_harness
from engine.verify import Effort, Row, Verification, open_state


class Record:
    """What was seen of each task, without anything that the checkout's programs or tests say."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path is not None and path.is_file() else []
        self.rows: dict[str, dict[str, Any]] = {row["task"]: row for row in map(json.loads, lines)}

    def add(self, row: Row, family: str) -> None:
        """A task that was seen to its end."""
        seen = {
            "task": row.task,
            "family": family,
            "verdict": row.verdict,
            "lacks": row.reason if row.verdict == "needs" else "",
            "start": row.category,
            "reference": row.reference,
            "device": f"{row.device}, driver {row.driver}, CUDA {row.toolkit}",
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
        }
        self.rows[row.task] = seen
        if self._path is not None:
            with self._path.open("a") as stream:
                stream.write(json.dumps(seen) + "\n")


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("checkout", type=Path)
    arguments.add_argument("state", type=Path)
    arguments.add_argument("--tasks", action="append", default=[])
    arguments.add_argument("--device", default="auto")
    arguments.add_argument("--jobs", type=int, default=8)
    arguments.add_argument("--logs", type=Path)
    arguments.add_argument("--seconds", type=float)
    arguments.add_argument("--launches", type=int, default=3)
    arguments.add_argument("--record", type=Path)
    arguments.add_argument("--answers", action="store_true")
    given = arguments.parse_args()
    began = time.monotonic()
    corpus = load_corpus(given.checkout)
    tasks = corpus.select(tuple(given.tasks))
    if given.answers:
        answers = {
            task.id: [_reply(task.broken), _reply(task.reference.read_bytes())] for task in tasks if task.reference
        }
        given.state.write_text(yaml.safe_dump(answers))
        print(f"{len(answers)} of {len(tasks)} tasks have a reference")
        return 0
    record = Record(given.record)
    tasks = [task for task in tasks if task.id not in record.rows]
    families = {task.id: task.spec.source for task in corpus.tasks.values()}

    def hear(row: Row) -> None:
        record.add(row, families[row.task])
        shown = f"start {row.category} ({row.signature[:70]}), reference {row.reference}"
        print(f"{time.monotonic() - began:6.1f} s  {row.task}  {row.verdict}  {row.reason or shown}", flush=True)

    harness = local_harness(given.device, "auto", hide=(corpus.path.resolve(),), say=print)
    harness = replace(harness, sanitize=False)
    print(harness.device.label, harness.device.driver, harness.toolkit.version, harness.sandbox.name, flush=True)
    with harness, open_state(given.state, fresh=False) as state:
        work = Verification(
            harness, state, Effort(repeats=1, launches=given.launches), given.jobs, given.logs, listener=hear
        ).run(tasks)
        try:
            asyncio.run(asyncio.wait_for(work, given.seconds))
        except TimeoutError:
            print(f"{given.seconds:g} s are over: the same command goes on", flush=True)
    table = Counter((row["family"], row["verdict"]) for row in record.rows.values())
    for (family, verdict), count in sorted(table.items()):
        print(f"{family:14} {verdict:16} {count}")
    accepted = sum(row["reference"] == "passed" for row in record.rows.values())
    took = time.monotonic() - began
    print(f"{len(record.rows)} of {len(corpus.tasks)} tasks, {accepted} references accepted, {took:.0f} s")
    return 0


def _reply(code: bytes) -> str:
    return f"```cuda\n{code.decode()}\n```\n"


if __name__ == "__main__":
    raise SystemExit(main())
