"""Depthwise convolution with ReLU: the borders count as much as the middle."""

import beaver_check as bc
import numpy as np

BATCH, CHANNELS, STEPS, TAPS = 8, 96, 2001, 7


def generate() -> None:
    rng = bc.rng()
    bc.write_input("x.f32", rng.standard_normal((BATCH, CHANNELS, STEPS)))
    bc.write_input("weight.f32", rng.standard_normal((CHANNELS, TAPS)))
    bc.write_input("bias.f32", rng.standard_normal(CHANNELS))


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (BATCH, CHANNELS, STEPS)).astype(np.float64)
    weight = bc.read_input("weight.f32", (CHANNELS, TAPS)).astype(np.float64)
    bias = bc.read_input("bias.f32", (CHANNELS,)).astype(np.float64)
    padded = np.pad(x, ((0, 0), (0, 0), (TAPS // 2, TAPS // 2)))
    want = bias[:, None] + sum(weight[:, k, None] * padded[:, :, k : k + STEPS] for k in range(TAPS))
    scale = float(np.abs(weight).sum(axis=1).max() * np.abs(x).max())
    return bc.compare("y.f32", np.maximum(want, 0.0), bc.accumulated(scale, TAPS + 1), unlike=[x])


bc.main(generate, compare)
