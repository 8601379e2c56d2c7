"""Row sort: rows whose length is no power of two, with repeated values, compared exactly."""

import beaver_check as bc
import numpy as np

ROWS, COLS = 256, 1000


def generate() -> None:
    rng = bc.rng()
    bc.write_input("rows.i32", [ROWS])
    bc.write_input("cols.i32", [COLS])
    x = rng.standard_normal((ROWS, COLS))
    x[:, ::7] = np.round(x[:, ::7], 1)
    bc.write_input("x.f32", x)


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (ROWS, COLS))
    return bc.compare("y.f32", np.sort(x, axis=1), bc.EXACT, unlike=[x])


bc.main(generate, compare)
