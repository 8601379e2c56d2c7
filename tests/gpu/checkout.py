"""Verify tasks of a CUDABeaver checkout once, without the sanitizer, and keep the outcomes for a comparison of two machines.

    python -P tests/gpu/checkout.py CHECKOUT STATE [--tasks GLOB]... [--device auto] [--jobs N] [--logs DIR] [--seconds S]

STATE is a file like that of ``beaver-tui verify --out``: a second call goes on where the first one ended (also after ``--seconds``),
and ``beaver-tui verify --compare STATE OTHER`` says where two machines see another category. ``--logs DIR`` keeps the error logs.
Prints a line a task, a table by family and verdict, and the seconds that it took.

    python -P tests/gpu/checkout.py CHECKOUT ANSWERS.yaml --answers [--tasks GLOB]...

writes answers for a scripted fixer that hands in the broken start first and the reference second, of every task that has one: with
``beaver-tui --batch --corpus CHECKOUT --fixer scripted:ANSWERS.yaml -k 2`` pass@2 is the share of references that are accepted.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import yaml

from engine.corpora import load_corpus
from engine.local import local_harness
from engine.verify import Effort, Row, Verification, open_state


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("checkout", type=Path)
    arguments.add_argument("state", type=Path)
    arguments.add_argument("--tasks", action="append", default=[])
    arguments.add_argument("--device", default="auto")
    arguments.add_argument("--jobs", type=int, default=8)
    arguments.add_argument("--logs", type=Path)
    arguments.add_argument("--seconds", type=float)
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
    rows: list[Row] = []

    def hear(row: Row) -> None:
        rows.append(row)
        shown = f"start {row.category} ({row.signature[:70]}), reference {row.reference}"
        print(f"{time.monotonic() - began:6.1f} s  {row.task}  {row.verdict}  {row.reason or shown}", flush=True)

    harness = local_harness(given.device, "auto", hide=(corpus.path.resolve(),), say=print)
    harness = replace(harness, sanitize=False)
    print(harness.device.label, harness.device.driver, harness.toolkit.version, harness.sandbox.name, flush=True)
    with harness, open_state(given.state, fresh=False) as state:
        work = Verification(harness, state, Effort(repeats=1), given.jobs, given.logs, listener=hear).run(tasks)
        try:
            asyncio.run(asyncio.wait_for(work, given.seconds))
        except TimeoutError:
            print(f"{given.seconds:g} s are over: the same command goes on", flush=True)
    families = {task.id: task.spec.source for task in tasks}
    table = Counter((families[row.task], row.verdict) for row in rows)
    for (family, verdict), count in sorted(table.items()):
        print(f"{family:14} {verdict:16} {count}")
    accepted = sum(row.reference == "passed" for row in rows)
    print(f"{len(rows)} of {len(tasks)} tasks, {accepted} references accepted, {time.monotonic() - began:.0f} s")
    return 0


def _reply(code: bytes) -> str:
    return f"```cuda\n{code.decode()}\n```\n"


if __name__ == "__main__":
    raise SystemExit(main())
