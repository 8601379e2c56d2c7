"""Sparse product from a list of entries: rows of one entry beside rows of many thousand, summed in float64 by numpy."""

import beaver_check as bc
import numpy as np

ROWS, COLS, ENTRIES = 20_011, 15_000, 400_001
LONG_ROWS, LONGEST = 5, 20_000


def generate() -> None:
    rng = bc.rng()
    for name, value in (("rows.i32", ROWS), ("cols.i32", COLS), ("entries.i32", ENTRIES)):
        bc.write_input(name, [value])
    # A quarter of all entries lies in five rows; one row in about ten has none.
    rows = rng.permutation(ROWS)[: ROWS - ROWS // 10]
    row_of = rng.choice(rows, ENTRIES)
    row_of[: LONG_ROWS * LONGEST] = np.repeat(rows[:LONG_ROWS], LONGEST)
    bc.write_input("row_of.i32", np.sort(row_of))
    bc.write_input("column_of.i32", rng.integers(0, COLS, ENTRIES, dtype=np.int32))
    bc.write_input("values.f32", rng.standard_normal(ENTRIES, dtype=np.float32))
    bc.write_input("x.f32", rng.standard_normal(COLS))


def compare() -> bc.Report:
    row_of = bc.read_input("row_of.i32", (ENTRIES,))
    x = bc.read_input("x.f32", (COLS,)).astype(np.float64)
    products = bc.read_input("values.f32", (ENTRIES,)) * x[bc.read_input("column_of.i32", (ENTRIES,))]
    want = np.bincount(row_of, weights=products, minlength=ROWS)
    # A sum of products of size one walks about as far as the square root of its length.
    longest = int(np.bincount(row_of).max())
    tolerance = bc.accumulated(np.sqrt(longest), longest, factor=0.5)
    return bc.compare("y.f32", want, tolerance, unlike=[np.resize(x, ROWS)])


bc.main(generate, compare)
