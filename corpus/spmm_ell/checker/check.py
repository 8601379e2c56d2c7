"""Sparse times dense: rows of different length, undefined values where a row is filled up, one term at a time in float64."""

import beaver_check as bc
import numpy as np

ROWS, COLS, WIDTH, N = 9001, 8000, 40, 56


def generate() -> None:
    rng = bc.rng()
    for name, value in (("rows.i32", ROWS), ("cols.i32", COLS), ("width.i32", WIDTH), ("n.i32", N)):
        bc.write_input(name, [value])
    # Most rows have about ten entries, some none, a few the whole width.
    lengths = np.minimum(rng.poisson(rng.uniform(0.0, 20.0, ROWS)), WIDTH)
    lengths[rng.permutation(ROWS)[:20]] = WIDTH
    empty = np.arange(WIDTH) >= lengths[:, None]
    columns = rng.integers(0, COLS, (ROWS, WIDTH), dtype=np.int32)
    values = rng.standard_normal((ROWS, WIDTH), dtype=np.float32)
    columns[empty] = -1
    values[empty] = np.nan
    bc.write_input("columns.i32", columns)
    bc.write_input("values.f32", values)
    bc.write_input("x.f32", rng.standard_normal((COLS, N)))


def compare() -> bc.Report:
    columns = bc.read_input("columns.i32", (ROWS, WIDTH))
    values = bc.read_input("values.f32", (ROWS, WIDTH)).astype(np.float64)
    x = bc.read_input("x.f32", (COLS, N)).astype(np.float64)
    want = np.zeros((ROWS, N))
    for k in range(WIDTH):
        rows = np.flatnonzero(columns[:, k] >= 0)
        want[rows] += values[rows, k, None] * x[columns[rows, k]]
    return bc.compare("y.f32", want, bc.accumulated(np.sqrt(WIDTH), WIDTH), unlike=[np.resize(x, want.shape)])


bc.main(generate, compare)
