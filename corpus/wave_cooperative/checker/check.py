"""Wave equation: a membrane of random shape, many steps on its own result, in float64."""

import beaver_check as bc
import numpy as np

HEIGHT, WIDTH, STEPS = 261, 389, 16


def generate() -> None:
    rng = bc.rng()
    bc.write_input("membrane.i32", [HEIGHT, WIDTH])
    bc.write_input("rate.f32", rng.uniform(0.1, 0.24, 1))
    bc.write_input("steps.i32", [STEPS])
    bc.write_input("u0.f32", rng.standard_normal((HEIGHT, WIDTH)))
    bc.write_input("v0.f32", 0.5 * rng.standard_normal((HEIGHT, WIDTH)))


def compare() -> bc.Report:
    rate = float(bc.read_input("rate.f32", (1,))[0])
    u0, v0 = (bc.read_input(f"{name}.f32", (HEIGHT, WIDTH)).astype(np.float64) for name in ("u0", "v0"))
    u, v = u0.copy(), v0.copy()
    for _ in range(STEPS):
        around = u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1]
        v[1:-1, 1:-1] += rate * (around - 4.0 * u[1:-1, 1:-1])
        u[1:-1, 1:-1] += v[1:-1, 1:-1]
    tolerance = bc.accumulated(float(np.abs(u).max()), 8 * STEPS, factor=1)
    return bc.first_failure(
        bc.compare("u.f32", u, tolerance, unlike=[u0, v0, u0 + STEPS * v0]),
        bc.compare("v.f32", v, tolerance, unlike=[u0, v0]),
    )


bc.main(generate, compare)
