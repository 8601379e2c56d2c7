"""RGB to luma: random bytes on an image whose rows do not start on a word."""

import beaver_check as bc
import numpy as np

HEIGHT, WIDTH = 733, 1021
WEIGHTS = np.array([0.299, 0.587, 0.114])


def generate() -> None:
    rng = bc.rng()
    bc.write_input("height.i32", [HEIGHT])
    bc.write_input("width.i32", [WIDTH])
    bc.write_input("rgb.u8", rng.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8))


def compare() -> bc.Report:
    rgb = bc.read_input("rgb.u8", (HEIGHT, WIDTH, 3)).astype(np.float64)
    return bc.compare("luma.f32", rgb @ WEIGHTS, bc.accumulated(255.0, 3), unlike=[rgb[..., 1]])


bc.main(generate, compare)
