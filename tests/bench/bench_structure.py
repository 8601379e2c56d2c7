"""How long the structure of a source takes to read. By hand: python -P tests/bench/bench_structure.py

The target is 30 ms of one core for 300 lines (processor time), so that the pane can follow a file that is being edited. Exit code
1 when it is missed. The other lines are sources made to be slow: their times must grow with their length, not with its square.
"""

from __future__ import annotations

import statistics
import sys
import time

from engine.corpora import builtin_folder
from engine.verdict.structure import structure

TARGET = 0.030
RUNS = 15

HOSTILE = {
    "brackets": (b"(", 20_000),
    "guards": (b"if (threadIdx.x == 0) {", 2_000),
    "launches": (b"k<<<", 5_000),
    "assembly": (b'asm("a" + (', 2_000),
    "lambdas": (b"int a = [](){ ", 2_000),
    "macros": (b"#define a(b) c() \\\n", 5_000),
    "underscores": (b"__", 20_000),
}


def seconds(code: bytes) -> list[float]:
    times = []
    for _ in range(RUNS):
        began = time.process_time()
        structure(code)
        times.append(time.process_time() - began)
    return times


def main() -> int:
    root = builtin_folder()
    code = b"".join((root / task / "reference.cu").read_bytes() for task in ("radix_sort_pairs", "softmax_rows"))
    code = b"\n".join(code.split(b"\n")[:300])
    began = time.process_time()
    structure(b"")
    print(f"loading the parser      {time.process_time() - began:8.4f} s")
    times = seconds(code)
    median = statistics.median(times)
    print(f"300 lines               {median:8.4f} s, {min(times):.4f} to {max(times):.4f}, target {TARGET}")
    for name, (part, count) in HOSTILE.items():
        one, two = (min(seconds(b"__global__ void k() {" + part * length)) for length in (count, 2 * count))
        print(f"{name:<23} {one:8.4f} s, {two:.4f} for twice the length")
    return int(median > TARGET)


if __name__ == "__main__":
    sys.exit(main())
