"""Depthwise convolution: nine shifted views of padded planes of odd width, in float64."""

import beaver_check as bc
import numpy as np

BATCH, CHANNELS, HEIGHT, WIDTH = 8, 24, 61, 83


def generate() -> None:
    rng = bc.rng()
    bc.write_input("shape.i32", [BATCH, CHANNELS, HEIGHT, WIDTH])
    bc.write_input("x.f32", rng.standard_normal((BATCH, CHANNELS, HEIGHT, WIDTH)))
    bc.write_input("w.f32", rng.uniform(-1.0, 1.0, (CHANNELS, 3, 3)))


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (BATCH, CHANNELS, HEIGHT, WIDTH)).astype(np.float64)
    w = bc.read_input("w.f32", (CHANNELS, 3, 3)).astype(np.float64)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    want = np.zeros_like(x)
    for i in range(3):
        for j in range(3):
            want += w[:, i, j, None, None] * padded[:, :, i : i + HEIGHT, j : j + WIDTH]
    scale = float(np.abs(w).sum(axis=(1, 2)).max()) * float(np.abs(x).max())
    return bc.compare("y.f32", want, bc.accumulated(scale, 9), unlike=[x, w[:, 1, 1, None, None] * x])


bc.main(generate, compare)
