"""Layer normalisation: rows with means far from zero, so that E[x^2] - mean^2 would lose digits."""

import beaver_check as bc
import numpy as np

ROWS, COLS, EPSILON = 511, 1024, 1e-5


def generate() -> None:
    rng = bc.rng()
    bc.write_input("rows.i32", [ROWS])
    bc.write_input("cols.i32", [COLS])
    bc.write_input("epsilon.f32", [EPSILON])
    spread = rng.uniform(0.5, 2.0, (ROWS, 1))
    bc.write_input("x.f32", rng.uniform(-30.0, 30.0, (ROWS, 1)) + spread * rng.standard_normal((ROWS, COLS)))
    bc.write_input("gamma.f32", rng.uniform(0.5, 1.5, COLS))
    bc.write_input("beta.f32", rng.uniform(-1.0, 1.0, COLS))


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (ROWS, COLS)).astype(np.float64)
    gamma = bc.read_input("gamma.f32", (COLS,)).astype(np.float64)
    beta = bc.read_input("beta.f32", (COLS,)).astype(np.float64)
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1, keepdims=True)
    want = centred / np.sqrt(variance + EPSILON) * gamma + beta
    scale = float((np.abs(x).max(axis=1) / np.sqrt(variance[:, 0])).max())
    return bc.compare("y.f32", want, bc.accumulated(scale, 32, factor=8), unlike=[x, centred])


bc.main(generate, compare)
