"""Row softmax: large values, rows of different spread, and an error bound relative to every value."""

import beaver_check as bc
import numpy as np

ROWS, COLS = 600, 1500


def generate() -> None:
    rng = bc.rng()
    bc.write_input("rows.i32", [ROWS])
    bc.write_input("cols.i32", [COLS])
    spread = rng.uniform(0.2, 3.0, (ROWS, 1))
    bc.write_input("x.f32", rng.uniform(-300.0, 300.0, (ROWS, 1)) + spread * rng.standard_normal((ROWS, COLS)))


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (ROWS, COLS)).astype(np.float64)
    exponentials = np.exp(x - x.max(axis=1, keepdims=True))
    want = exponentials / exponentials.sum(axis=1, keepdims=True)
    # x - m is exact enough in float; expf of it is within a few units of its own last place.
    return bc.compare("y.f32", want, bc.Tolerance(atol=1e-9, rtol=2e-5), unlike=[x, exponentials])


bc.main(generate, compare)
