"""Causal convolution: channels and steps that are no multiples of anything, one shifted product per tap in float64."""

import beaver_check as bc
import numpy as np

BATCH, INPUTS, OUTPUTS, STEPS, DILATION, TAPS = 3, 36, 44, 1501, 3, 4


def generate() -> None:
    rng = bc.rng()
    bc.write_input("shape.i32", [BATCH, INPUTS, OUTPUTS, STEPS, DILATION])
    bc.write_input("x.f32", rng.standard_normal((BATCH, INPUTS, STEPS)) + 0.5)
    bc.write_input("w.f32", rng.standard_normal((OUTPUTS, INPUTS, TAPS)))
    bc.write_input("bias.f32", rng.uniform(-2.0, 2.0, OUTPUTS))


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (BATCH, INPUTS, STEPS)).astype(np.float64)
    w = bc.read_input("w.f32", (OUTPUTS, INPUTS, TAPS)).astype(np.float64)
    bias = bc.read_input("bias.f32", (OUTPUTS,)).astype(np.float64)
    want = np.broadcast_to(bias[:, None], (BATCH, OUTPUTS, STEPS)).copy()
    for k in range(TAPS):
        delay = k * DILATION
        want[:, :, delay:] += w[:, :, k] @ x[:, :, : STEPS - delay]
    terms = INPUTS * TAPS
    copied = np.resize(x, want.shape)
    return bc.compare("y.f32", want, bc.accumulated(2.0 * np.sqrt(terms), terms, factor=8), unlike=[copied])


bc.main(generate, compare)
