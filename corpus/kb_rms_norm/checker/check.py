"""RMS norm of rows: rows of very different size, and some so small that eps counts."""

import beaver_check as bc
import numpy as np

ROWS, COLS, EPS = 3000, 1500, 1e-5


def generate() -> None:
    rng = bc.rng()
    size = 10.0 ** rng.uniform(-4.0, 3.0, (ROWS, 1))
    bc.write_input("x.f32", size * rng.standard_normal((ROWS, COLS)))
    bc.write_input("weight.f32", rng.uniform(0.5, 1.5, COLS))


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (ROWS, COLS)).astype(np.float64)
    weight = bc.read_input("weight.f32", (COLS,)).astype(np.float64)
    want = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + EPS) * weight
    return bc.compare("y.f32", want, bc.Tolerance(atol=1e-9, rtol=2e-5), unlike=[x])


bc.main(generate, compare)
