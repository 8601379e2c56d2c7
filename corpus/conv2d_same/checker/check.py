"""Convolution: one matrix product in float64 for each of the 25 taps, over shifted views of the padded images."""

import beaver_check as bc
import numpy as np

BATCH, INPUTS, OUTPUTS, HEIGHT, WIDTH = 2, 20, 12, 50, 70


def generate() -> None:
    rng = bc.rng()
    bc.write_input("shape.i32", [BATCH, INPUTS, OUTPUTS, HEIGHT, WIDTH])
    bc.write_input("x.f32", rng.standard_normal((BATCH, INPUTS, HEIGHT, WIDTH)))
    bc.write_input("w.f32", rng.uniform(-1.0, 1.0, (OUTPUTS, INPUTS, 5, 5)))


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (BATCH, INPUTS, HEIGHT, WIDTH)).astype(np.float64)
    w = bc.read_input("w.f32", (OUTPUTS, INPUTS, 5, 5)).astype(np.float64)
    padded = np.pad(x, ((0, 0), (0, 0), (2, 2), (2, 2)))
    want = np.zeros((BATCH, OUTPUTS, HEIGHT * WIDTH))
    for dr in range(5):
        for dc in range(5):
            view = padded[:, :, dr : dr + HEIGHT, dc : dc + WIDTH].reshape(BATCH, INPUTS, HEIGHT * WIDTH)
            want += w[:, :, dr, dc] @ view
    terms = INPUTS * 25
    scale = float(np.abs(w).sum(axis=(1, 2, 3)).max() * np.abs(x).mean() / np.sqrt(terms))
    tolerance = bc.accumulated(scale, terms, factor=8)
    return bc.compare("y.f32", want.reshape(BATCH, OUTPUTS, HEIGHT, WIDTH), tolerance, unlike=[x[:, :OUTPUTS]])


bc.main(generate, compare)
