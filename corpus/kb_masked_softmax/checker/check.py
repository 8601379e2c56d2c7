"""Masked softmax: lengths of all kinds, scores of several hundred, and zeros beyond."""

import beaver_check as bc
import numpy as np

ROWS, COLS = 2000, 1003


def generate() -> None:
    rng = bc.rng()
    bc.write_input("scores.f32", rng.uniform(-300.0, 300.0, (ROWS, 1)) + 3.0 * rng.standard_normal((ROWS, COLS)))
    lengths = rng.integers(1, COLS + 1, ROWS)
    lengths[:4] = [1, COLS, COLS - 1, 4]
    bc.write_input("lengths.i32", lengths)


def compare() -> bc.Report:
    scores = bc.read_input("scores.f32", (ROWS, COLS)).astype(np.float64)
    lengths = bc.read_input("lengths.i32", (ROWS,))
    masked = np.where(np.arange(COLS) < lengths[:, None], scores, -np.inf)
    exponentials = np.exp(masked - masked.max(axis=1, keepdims=True))
    want = exponentials / exponentials.sum(axis=1, keepdims=True)
    return bc.compare("y.f32", want, bc.Tolerance(atol=1e-9, rtol=3e-5), unlike=[scores, exponentials])


bc.main(generate, compare)
