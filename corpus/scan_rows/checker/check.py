"""Row scans: inputs of both signs, oracles by numpy's own scans in float64."""

import beaver_check as bc
import numpy as np

ROWS, COLS = 320, 2003


def generate() -> None:
    rng = bc.rng()
    bc.write_input("rows.i32", [ROWS])
    bc.write_input("cols.i32", [COLS])
    # The offsets make the maxima grow late in some rows, and keep sums away from zero in others.
    offsets = rng.uniform(-0.5, 0.5, (ROWS, 1))
    ramp = np.linspace(-1.0, 1.0, COLS)
    bc.write_input("x.f32", rng.standard_normal((ROWS, COLS)) + offsets + offsets * ramp)


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (ROWS, COLS)).astype(np.float64)
    magnitude = float(np.abs(x).sum(axis=1).max())
    return bc.first_failure(
        bc.compare("sum.f32", np.cumsum(x, axis=1), bc.accumulated(magnitude / COLS, COLS, factor=16), unlike=[x]),
        bc.compare("max.f32", np.maximum.accumulate(x, axis=1), bc.EXACT, unlike=[x]),
    )


bc.main(generate, compare)
