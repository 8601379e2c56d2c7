"""How fast a store of 10,000 iterations opens: the list of all trajectories, again with what is known, a run, a trajectory, and a flood of output.

    python tests/bench/bench_store.py

The store is 2,000 trajectories of five iterations in 40 runs, made of the recorded ones. The budget of the first is 1 s.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from beaver_tui.state.catalog import Catalog
from beaver_tui.state.matrix import SweepView
from beaver_tui.state.query import matches
from beaver_tui.state.session import Session
from beaver_tui.state.sources import StoredSource
from engine import events as ev
from tests.support.stores import make_store

RUNS, CELLS, ITERATIONS = 40, 50, 5
FLOOD = 20_000


def timed(what: str, work: Callable[[], object]) -> None:
    began = time.perf_counter()
    work()
    print(f"{what:50} {time.perf_counter() - began:.3f} s")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        runs = make_store(Path(name), runs=RUNS, cells=CELLS, iterations=ITERATIONS)
        size = sum(path.stat().st_size for path in Path(name).rglob("journal.jsonl"))
        print(f"{RUNS * CELLS * ITERATIONS} iterations, {size / 1e6:.0f} MB of journals")
        known = Catalog(Path(name))
        timed("all trajectories as a list", known.read)
        timed("the same again, nothing changed", known.read)
        rows = known.rows
        timed(
            "a query over the list",
            lambda: [row for row in rows if matches(row, "category:timeout -status:passed longer:1s")],
        )
        timed("one run as a matrix", lambda: SweepView(runs[0]).poll())

        def open_one() -> None:
            cell = runs[0].plan[0]
            session = Session(cell, runs[0].store(cell))
            for event in StoredSource(runs[0], cell).read():
                session.apply(event)
            assert len(msgspec.to_builtins(session.rows)) == ITERATIONS + 1

        timed("one trajectory", open_one)

        def flood() -> None:
            session = Session(runs[0].plan[0], runs[0].store(runs[0].plan[0]))
            session.apply(ev.CandidateMade(iteration=1))
            for number in range(FLOOD):
                piece = f"ptxas info    : Used {number} registers\n" * 10
                session.apply(ev.OutputArrived(iteration=1, step="build", stream="stderr", text=piece))
                if number % 100 == 0:  # a screen asks now and then
                    assert session.rows
                    assert session.log(1, "build")

        timed(f"{FLOOD} pieces of output", flood)


if __name__ == "__main__":
    main()
