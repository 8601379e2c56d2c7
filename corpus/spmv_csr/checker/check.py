"""Sparse product: rows of very different length, summed in float64 by numpy."""

import beaver_check as bc
import numpy as np

ROWS, COLS, ENTRIES = 4096, 5000, 1_200_000


def generate() -> None:
    rng = bc.rng()
    # Row lengths fall off like a power law, in random order; one row in sixteen is empty.
    weights = rng.permutation((np.arange(ROWS) + 64.0) ** -0.4)
    weights[rng.permutation(ROWS)[: ROWS // 16]] = 0.0
    ends = np.floor(np.cumsum(weights) / weights.sum() * ENTRIES + 0.5).astype(np.int64)
    for name, value in (("rows.i32", ROWS), ("cols.i32", COLS), ("entries.i32", ENTRIES)):
        bc.write_input(name, [value])
    bc.write_input("offsets.i32", np.concatenate(([0], ends)))
    bc.write_input("columns.i32", rng.integers(0, COLS, ENTRIES, dtype=np.int32))
    bc.write_input("values.f32", rng.standard_normal(ENTRIES, dtype=np.float32))
    bc.write_input("x.f32", rng.standard_normal(COLS))


def compare() -> bc.Report:
    offsets = bc.read_input("offsets.i32", (ROWS + 1,))
    columns = bc.read_input("columns.i32", (ENTRIES,))
    x = bc.read_input("x.f32", (COLS,)).astype(np.float64)
    products = bc.read_input("values.f32", (ENTRIES,)) * x[columns]
    sums = np.concatenate(([0.0], np.cumsum(products)))
    want = sums[offsets[1:]] - sums[offsets[:-1]]
    longest = int(np.diff(offsets).max())
    return bc.compare("y.f32", want, bc.accumulated(np.sqrt(longest), longest, factor=2), unlike=[x[:ROWS]])


bc.main(generate, compare)
