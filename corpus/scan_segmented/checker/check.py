"""Segmented sums: one running sum in float64, minus what it was before each segment."""

import beaver_check as bc
import numpy as np

COUNT, SEGMENTS, LONGEST = 700_003, 90_001, 60_000


def generate() -> None:
    rng = bc.rng()
    # Segments of a few values, and one among them that spans many tiles.
    lengths = 1 + rng.multinomial(COUNT - SEGMENTS - LONGEST, np.full(SEGMENTS, 1.0 / SEGMENTS))
    lengths[rng.integers(SEGMENTS // 4, SEGMENTS // 2)] += LONGEST
    bc.write_input("count.i32", [COUNT])
    bc.write_input("segments.i32", [SEGMENTS])
    bc.write_input("offsets.i32", np.concatenate(([0], np.cumsum(lengths))))
    bc.write_input("x.f32", rng.standard_normal(COUNT))


def compare() -> bc.Report:
    offsets = bc.read_input("offsets.i32", (SEGMENTS + 1,))
    x = bc.read_input("x.f32", (COUNT,)).astype(np.float64)
    running = np.cumsum(x)
    before = np.concatenate(([0.0], running[offsets[1:-1] - 1]))
    want = running - np.repeat(before, np.diff(offsets))
    longest = int(np.diff(offsets).max())
    return bc.compare("y.f32", want, bc.accumulated(np.sqrt(longest), longest, factor=1), unlike=[x, running])


bc.main(generate, compare)
