"""How fast the command starts: ``--version``, and a batch until its first build begins.

    python tests/bench/bench_startup.py

Prints medians of whole processes, and their ratio to a bare ``python -c pass``.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.program import PROGRAM
from tests.support.tasks import BROKEN, write_task

RUNS = 15


def whole(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def until_first_build(corpus: Path, out: Path) -> float:
    """Seconds until the event that precedes the first build: the preflight of the first candidate is done."""
    began = time.perf_counter()
    command = [
        *PROGRAM,
        "--batch",
        "--corpus",
        str(corpus),
        "--fixer",
        "scripted:s",
        "--out",
        str(out),
        "--format",
        "jsonl",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    while b'"preflight"' not in process.stdout.readline():
        pass
    spent = time.perf_counter() - began
    process.communicate()
    return spent


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_task(folder / "corpus", answers={"s": [BROKEN]})
        rows = {
            "python -c pass": [whole([sys.executable, "-c", "pass"]) for _ in range(RUNS)],
            "beaver-tui --version": [whole([*PROGRAM, "--version"]) for _ in range(RUNS)],
            "beaver-tui --batch, to the first build": [
                until_first_build(folder / "corpus", folder / f"run{number}") for number in range(RUNS)
            ],
        }
    bare = statistics.median(rows["python -c pass"])
    for what, seconds in rows.items():
        middle = statistics.median(seconds)
        print(
            f"{what:40} median {middle:.3f} s  (min {min(seconds):.3f}, max {max(seconds):.3f})  {middle / bare:.1f} x bare"
        )


if __name__ == "__main__":
    main()
