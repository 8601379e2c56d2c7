"""Resizing: a cubic filter for each side, smaller along the rows and larger along the columns, by dense products."""

import beaver_check as bc
import numpy as np

CHANNELS, IN_HEIGHT, IN_WIDTH = 3, 421, 900
SIDES = {"horizontal": (IN_WIDTH, 561), "vertical": (IN_HEIGHT, 490)}


def cubic(distance: bc.Array) -> bc.Array:
    """The kernel of Keys with a = -1/2."""
    d = np.abs(distance)
    near = (1.5 * d - 2.5) * d * d + 1.0
    far = ((-0.5 * d + 2.5) * d - 4.0) * d + 2.0
    return np.where(d < 1.0, near, np.where(d < 2.0, far, 0.0))


def taps_of(source: int, size: int) -> int:
    return int(np.ceil(4.0 * max(source / size, 1.0)))


def generate() -> None:
    rng = bc.rng()
    bc.write_input("shape.i32", [CHANNELS, IN_HEIGHT, IN_WIDTH])
    for name, (source, size) in SIDES.items():
        scale, taps = source / size, taps_of(source, size)
        centre = (np.arange(size) + rng.uniform(0.3, 0.7)) * scale - 0.5
        first = np.clip(np.ceil(centre - taps / 2), 0, source - taps).astype(np.int64)
        weights = cubic((first + np.arange(taps)[:, None] - centre) / max(scale, 1.0))
        bc.write_input(f"{name}_size.i32", [size])
        bc.write_input(f"{name}_taps.i32", [taps])
        bc.write_input(f"{name}_first.i32", first)
        bc.write_input(f"{name}_weights.f32", weights / weights.sum(axis=0))
    bc.write_input("image.f32", rng.uniform(0.0, 255.0, (CHANNELS, IN_HEIGHT, IN_WIDTH)))


def compare() -> bc.Report:
    image = bc.read_input("image.f32", (CHANNELS, IN_HEIGHT, IN_WIDTH)).astype(np.float64)
    dense = {}
    for name, (source, size) in SIDES.items():
        taps = taps_of(source, size)
        first = bc.read_input(f"{name}_first.i32", (size,))
        dense[name] = np.zeros((size, source))
        for t, weights in enumerate(bc.read_input(f"{name}_weights.f32", (taps, size))):
            dense[name][np.arange(size), first + t] += weights
    want = dense["vertical"] @ image @ dense["horizontal"].T
    # Weights add up to one; with their signs taken away, to less than two on each side.
    scale = 4.0 * float(np.abs(image).max())
    terms = sum(taps_of(*side) for side in SIDES.values())
    return bc.compare("result.f32", want, bc.accumulated(scale, terms, factor=1), unlike=[np.resize(image, want.shape)])


bc.main(generate, compare)
