"""A linear layer with ReLU, within the rounding of its sums."""

import beaver_check as bc
import numpy as np

ROWS, INPUTS, OUTPUTS = 1000, 700, 900


def generate() -> None:
    rng = bc.rng()
    bc.write_input("x.f32", rng.standard_normal((ROWS, INPUTS)))
    bc.write_input("weight.f32", rng.standard_normal((OUTPUTS, INPUTS)))
    bc.write_input("bias.f32", rng.standard_normal(OUTPUTS))


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (ROWS, INPUTS)).astype(np.float64)
    weight = bc.read_input("weight.f32", (OUTPUTS, INPUTS)).astype(np.float64)
    bias = bc.read_input("bias.f32", (OUTPUTS,)).astype(np.float64)
    want = np.maximum(x @ weight.T + bias, 0.0)
    scale = float(np.sqrt(INPUTS))
    return bc.compare("y.f32", want, bc.accumulated(scale, INPUTS), unlike=[x[:, :1] + bias])


bc.main(generate, compare)
