"""Star stencil: a padded grid in float64, one shifted view for each tap."""

import beaver_check as bc
import numpy as np

HEIGHT, WIDTH, RADIUS = 517, 1003, 3


def generate() -> None:
    rng = bc.rng()
    bc.write_input("height.i32", [HEIGHT])
    bc.write_input("width.i32", [WIDTH])
    bc.write_input("weights.f32", rng.uniform(0.1, 1.0, RADIUS + 1) * [1.0, 0.6, -0.4, 0.3])
    bc.write_input("x.f32", rng.standard_normal((HEIGHT, WIDTH)) + np.linspace(0.0, 4.0, WIDTH))


def compare() -> bc.Report:
    x = bc.read_input("x.f32", (HEIGHT, WIDTH)).astype(np.float64)
    weights = bc.read_input("weights.f32", (RADIUS + 1,)).astype(np.float64)
    padded = np.pad(x, RADIUS, mode="edge")
    want = weights[0] * x
    for distance in range(1, RADIUS + 1):
        for dr, dc in ((-distance, 0), (distance, 0), (0, -distance), (0, distance)):
            rows = slice(RADIUS + dr, RADIUS + dr + HEIGHT)
            want += weights[distance] * padded[rows, RADIUS + dc : RADIUS + dc + WIDTH]
    scale = float(np.abs(weights) @ [1, 4, 4, 4]) * float(np.abs(x).max())
    return bc.compare("y.f32", want, bc.accumulated(scale, 13), unlike=[x, weights[0] * x])


bc.main(generate, compare)
