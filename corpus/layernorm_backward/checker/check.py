"""Gradients of layer normalisation in float64, from the statistics that the forward pass left in float."""

import beaver_check as bc
import numpy as np

ROWS, COLS = 1101, 700


def generate() -> None:
    rng = bc.rng()
    x = np.float32(
        rng.uniform(-3.0, 3.0, (ROWS, 1)) + rng.uniform(0.3, 3.0, (ROWS, 1)) * rng.standard_normal((ROWS, COLS))
    )
    bc.write_input("rows.i32", [ROWS])
    bc.write_input("cols.i32", [COLS])
    bc.write_input("x.f32", x)
    bc.write_input("dy.f32", rng.standard_normal((ROWS, COLS)) + rng.uniform(-0.3, 0.3, COLS))
    bc.write_input("gamma.f32", rng.uniform(0.5, 1.5, COLS))
    exact = x.astype(np.float64)
    bc.write_input("mean.f32", exact.mean(axis=1))
    bc.write_input("rstd.f32", 1.0 / np.sqrt(exact.var(axis=1) + 1e-5))


def compare() -> bc.Report:
    x, dy = (bc.read_input(f"{name}.f32", (ROWS, COLS)).astype(np.float64) for name in ("x", "dy"))
    mean, rstd = (bc.read_input(f"{name}.f32", (ROWS, 1)).astype(np.float64) for name in ("mean", "rstd"))
    gamma = bc.read_input("gamma.f32", (COLS,)).astype(np.float64)
    normal = (x - mean) * rstd
    scaled = dy * gamma
    inner = scaled - scaled.mean(axis=1, keepdims=True) - normal * (scaled * normal).mean(axis=1, keepdims=True)
    dx = rstd * inner
    size = float(np.abs(normal).max())
    return bc.first_failure(
        bc.compare("dx.f32", dx, bc.accumulated(float(rstd.max()) * size, 16), unlike=[dy, rstd * scaled]),
        # Sums of ROWS terms of either sign walk about as far as sqrt(ROWS).
        bc.compare("dgamma.f32", (dy * normal).sum(axis=0), bc.accumulated(2 * np.sqrt(ROWS), ROWS), unlike=[gamma]),
        bc.compare("dbeta.f32", dy.sum(axis=0), bc.accumulated(2 * np.sqrt(ROWS), ROWS), unlike=[gamma]),
    )


bc.main(generate, compare)
