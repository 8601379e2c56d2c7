"""Vector normalisation: the norm in float64."""

import beaver_check as bc
import numpy as np

COUNT = 1_500_003


def generate() -> None:
    rng = bc.rng()
    bc.write_input("count.i32", [COUNT])
    bc.write_input("x.f32", np.float32(rng.uniform(1.0, 10.0)) * rng.standard_normal(COUNT, dtype=np.float32))


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (COUNT,)).astype(np.float64)
    want = x / np.sqrt(x @ x)
    return bc.compare("y.f32", want, bc.accumulated(float(np.abs(want).max()), 32), unlike=[x])


bc.main(generate, compare)
