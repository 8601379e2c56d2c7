"""Fourier transform: noise with a few strong waves in it, transformed by numpy in double."""

import beaver_check as bc
import numpy as np

ROWS, LENGTH, WAVES = 250, 2048, 3


def generate() -> None:
    rng = bc.rng()
    x = rng.standard_normal((ROWS, LENGTH)) + 1j * rng.standard_normal((ROWS, LENGTH))
    for _ in range(WAVES):
        frequency = rng.integers(0, LENGTH, (ROWS, 1))
        x += rng.uniform(0.1, 0.5, (ROWS, 1)) * np.exp(2j * np.pi * (frequency * np.arange(LENGTH) % LENGTH) / LENGTH)
    bc.write_input("rows.i32", [ROWS])
    bc.write_input("length.i32", [LENGTH])
    bc.write_input("x.f32", np.stack((x.real, x.imag), axis=-1))


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (ROWS, LENGTH, 2)).astype(np.float64)
    y = np.fft.fft(x[..., 0] + 1j * x[..., 1], axis=1)
    want = np.stack((y.real, y.imag), axis=-1)
    # Errors grow with the number of butterflies that a value goes through, relative to the size of a row.
    size = float(np.sqrt((np.abs(y) ** 2).mean()))
    return bc.compare(
        "y.f32",
        want,
        bc.accumulated(size, int(np.log2(LENGTH)), factor=16),
        unlike=[x, want[:, ::-1]],
    )


bc.main(generate, compare)
