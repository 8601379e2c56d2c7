"""Segmented sums: lengths of a steep power law with empty segments between them, summed in float64 by numpy."""

import beaver_check as bc
import numpy as np

COUNT, SEGMENTS = 1_200_011, 4099


def generate() -> None:
    rng = bc.rng()
    # The longest segment holds two or three percent of everything; one segment in sixteen is empty.
    weights = rng.permutation((np.arange(SEGMENTS) + 4.0) ** -0.9)
    weights[rng.permutation(SEGMENTS)[: SEGMENTS // 16]] = 0.0
    ends = np.floor(np.cumsum(weights) / weights.sum() * COUNT + 0.5).astype(np.int64)
    bc.write_input("count.i32", [COUNT])
    bc.write_input("segments.i32", [SEGMENTS])
    bc.write_input("offsets.i32", np.concatenate(([0], ends)))
    bc.write_input("x.f32", rng.standard_normal(COUNT, dtype=np.float32))


def compare() -> bc.Report:
    offsets = bc.read_input("offsets.i32", (SEGMENTS + 1,))
    x = bc.read_input("x.f32", (COUNT,)).astype(np.float64)
    running = np.concatenate(([0.0], np.cumsum(x)))
    want = running[offsets[1:]] - running[offsets[:-1]]
    longest = int(np.diff(offsets).max())
    return bc.compare("sums.f32", want, bc.accumulated(np.sqrt(longest), longest, factor=2), unlike=[x[:SEGMENTS]])


bc.main(generate, compare)
