"""Sliding-window attention: scores and weighted values in float64, one distance between tokens at a time."""

import beaver_check as bc
import numpy as np

TOKENS, WINDOW, DIM = 480_007, 12, 8


def generate() -> None:
    rng = bc.rng()
    bc.write_input("tokens.i32", [TOKENS])
    bc.write_input("window.i32", [WINDOW])
    for name, scale in (("q.f32", 2.0), ("k.f32", 2.0), ("v.f32", 1.0)):
        bc.write_input(name, np.float32(scale) * rng.standard_normal((TOKENS, DIM), dtype=np.float32))


def compare() -> bc.Report:
    q, k, v = (bc.read_input(f"{name}.f32", (TOKENS, DIM)) for name in "qkv")
    # Column by column: contiguous arrays keep this fast.
    q, k, v = (np.ascontiguousarray(array.T, dtype=np.float64) for array in (q, k, v))
    scores = np.full((WINDOW, TOKENS), -np.inf)
    for back in range(WINDOW):
        scores[back, back:] = np.einsum("dt,dt->t", q[:, back:], k[:, : TOKENS - back]) / np.sqrt(DIM)
    weights = np.exp(scores - scores.max(axis=0))
    weights /= weights.sum(axis=0)
    want = np.zeros((DIM, TOKENS))
    for back in range(WINDOW):
        want[:, back:] += weights[back, back:] * v[:, : TOKENS - back]
    tolerance = bc.accumulated(float(np.abs(v).max()), WINDOW, factor=8)
    return bc.compare("y.f32", np.ascontiguousarray(want.T), tolerance, unlike=[v.T])


bc.main(generate, compare)
