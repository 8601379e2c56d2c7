"""Channel statistics in float64. The means are hundreds of standard deviations away from zero."""

import beaver_check as bc
import numpy as np

BATCH, CHANNELS, PLANE = 18, 44, 31 * 31


def generate() -> None:
    rng = bc.rng()
    for name, value in (("batch.i32", BATCH), ("channels.i32", CHANNELS), ("plane.i32", PLANE)):
        bc.write_input(name, [value])
    center = rng.uniform(500.0, 1500.0, (CHANNELS, 1)) * rng.choice([-1.0, 1.0], (CHANNELS, 1))
    spread = rng.uniform(0.5, 2.0, (CHANNELS, 1))
    bc.write_input("x.f32", center + spread * rng.standard_normal((BATCH, CHANNELS, PLANE)))


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (BATCH, CHANNELS, PLANE)).astype(np.float64)
    mean = x.mean(axis=(0, 2))
    variance = ((x - mean[:, None]) ** 2).mean(axis=(0, 2))
    first = x[0, :, 0]
    return bc.first_failure(
        bc.compare("mean.f32", mean, bc.Tolerance(atol=0.0, rtol=1e-5), unlike=[first]),
        # A running mean is rounded to about 1e-4 of a standard deviation, either way: what is left averages out.
        bc.compare("variance.f32", variance, bc.Tolerance(atol=0.0, rtol=1e-4), unlike=[x[0].var(axis=1)]),
    )


bc.main(generate, compare)
