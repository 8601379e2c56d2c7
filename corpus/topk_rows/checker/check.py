"""Largest values of rows: repeated values, whose order is fixed by their columns, compared exactly."""

import beaver_check as bc
import numpy as np

ROWS, COLS, SIZES = 500, 1003, (1, 4, 16)


def generate() -> None:
    rng = bc.rng()
    bc.write_input("rows.i32", [ROWS])
    bc.write_input("cols.i32", [COLS])
    x = rng.standard_normal((ROWS, COLS)) - 4.0
    # Every other row is coarse: its largest values occur several times. Rows differ in where they lie.
    x[::2] = np.round(x[::2], 1)
    bc.write_input("x.f32", x + rng.uniform(-50.0, 50.0, (ROWS, 1)).round())


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (ROWS, COLS))
    order = np.argsort(-x, axis=1, kind="stable")
    reports = []
    for k in SIZES:
        columns = order[:, :k]
        values = np.take_along_axis(x, columns, axis=1)
        first = np.broadcast_to(np.arange(k), columns.shape)
        reports.append(bc.compare(f"values{k}.f32", values, bc.EXACT, unlike=[x[:, :k]]))
        reports.append(bc.compare(f"columns{k}.i32", columns, bc.EXACT, unlike=[first]))
    return bc.first_failure(*reports)


bc.main(generate, compare)
