"""Heat equation: one step on a box whose sides differ, faces included, by shifted views in float64."""

import beaver_check as bc
import numpy as np

NX, NY, NZ = 190, 141, 84


def generate() -> None:
    rng = bc.rng()
    bc.write_input("box.i32", [NX, NY, NZ])
    bc.write_input("rate.f32", rng.uniform(0.1, 0.16, 1))
    slope = np.linspace(0.0, 3.0, NX)[None, None, :] - np.linspace(0.0, 2.0, NZ)[:, None, None]
    bc.write_input("before.f32", rng.standard_normal((NZ, NY, NX)) + slope)


def compare() -> bc.Report:
    before = bc.read_input("before.f32", (NZ, NY, NX)).astype(np.float64)
    rate = float(bc.read_input("rate.f32", (1,))[0])
    want = before.copy()
    inner = before[1:-1, 1:-1, 1:-1]
    around = -6.0 * inner
    for axis in range(3):
        for shift in (-1, 1):
            around += np.roll(before, shift, axis)[1:-1, 1:-1, 1:-1]
    want[1:-1, 1:-1, 1:-1] = inner + rate * around
    scale = float(np.abs(before).max()) * (1.0 + 12.0 * rate)
    return bc.compare("after.f32", want, bc.accumulated(scale, 8, factor=2), unlike=[before])


bc.main(generate, compare)
