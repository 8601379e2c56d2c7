"""Row maxima: the largest value of a row occurs several times, and the first one counts."""

import beaver_check as bc
import numpy as np

ROWS, COLS, COPIES = 40, 24_001, 4


def generate() -> None:
    rng = bc.rng()
    x = rng.standard_normal((ROWS, COLS), dtype=np.float32)
    top = x.max(axis=1) + rng.uniform(0.01, 1.0, ROWS).astype(np.float32)
    for row in range(ROWS):
        x[row, rng.choice(COLS, COPIES, replace=False)] = top[row]
    bc.write_input("rows.i32", [ROWS])
    bc.write_input("cols.i32", [COLS])
    bc.write_input("x.f32", x)


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (ROWS, COLS))
    last = COLS - 1 - x[:, ::-1].argmax(axis=1)
    return bc.first_failure(
        bc.compare("value.f32", x.max(axis=1).astype(np.float64), bc.EXACT, unlike=[x[:, 0]]),
        bc.compare("index.i32", x.argmax(axis=1), bc.EXACT, unlike=[last]),
    )


bc.main(generate, compare)
