"""How long the lens takes for a source of 500 lines: its structure, and what it gave up against a baseline that is known.

By hand: python -P tests/bench/bench_lens.py. The target is 50 ms of one core (processor time); exit code 1 when it is missed.
"""

from __future__ import annotations

import statistics
import sys
import time

from engine.corpora import builtin_folder
from engine.verdict.degeneration import lens
from engine.verdict.structure import structure

TARGET = 0.050
RUNS = 15
LINES = 500


def main() -> int:
    root = builtin_folder()
    tasks = ("radix_sort_pairs", "softmax_rows", "gemm_wmma", "conv_depthwise", "topk_rows")
    code = b"".join((root / task / "reference.cu").read_bytes() for task in tasks)
    code = b"\n".join(code.split(b"\n")[:LINES])
    baseline = structure(code)
    whole, judged = [], []
    for _ in range(RUNS):
        began = time.process_time()
        found = structure(code)
        read = time.process_time()
        lens(baseline, found)
        ended = time.process_time()
        whole.append(ended - began)
        judged.append(ended - read)
    median = statistics.median(whole)
    print(f"{LINES} lines  {median:.4f} s, {min(whole):.4f} to {max(whole):.4f}, target {TARGET}")
    print(f"of it lens  {statistics.median(judged):.6f} s")
    return int(median > TARGET)


if __name__ == "__main__":
    sys.exit(main())
