"""Log-sum-exp of rows whose values reach several hundred."""

import beaver_check as bc
import numpy as np

ROWS, COLS = 2000, 1000


def generate() -> None:
    rng = bc.rng()
    bc.write_input("x.f32", rng.uniform(-300.0, 300.0, (ROWS, 1)) + 2.0 * rng.standard_normal((ROWS, COLS)))


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (ROWS, COLS)).astype(np.float64)
    largest = x.max(axis=1)
    want = largest + np.log(np.exp(x - largest[:, None]).sum(axis=1))
    return bc.compare("y.f32", want, bc.Tolerance(atol=5e-5, rtol=1e-6), unlike=[largest, x[:, 0]])


bc.main(generate, compare)
