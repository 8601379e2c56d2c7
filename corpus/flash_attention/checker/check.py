"""Attention over all tokens: scores that spread over tens, so that the running maximum moves, in float64."""

import beaver_check as bc
import numpy as np

HEADS, TOKENS, SIZE = 5, 333, 32


def generate() -> None:
    rng = bc.rng()
    bc.write_input("heads.i32", [HEADS])
    bc.write_input("tokens.i32", [TOKENS])
    # Keys grow along the tokens: later ones have the larger scores, of both signs.
    growth = np.linspace(0.3, 3.0, TOKENS)[None, :, None]
    bc.write_input("q.f32", rng.standard_normal((HEADS, TOKENS, SIZE)))
    bc.write_input("k.f32", rng.standard_normal((HEADS, TOKENS, SIZE)) * growth)
    bc.write_input("v.f32", rng.standard_normal((HEADS, TOKENS, SIZE)) + 1.0)


def compare() -> bc.Report:
    q, k, v = (bc.read_input(f"{name}.f32", (HEADS, TOKENS, SIZE)).astype(np.float64) for name in "qkv")
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(SIZE)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    want = weights @ v / weights.sum(axis=2, keepdims=True)
    # An error of a score, which is a sum of SIZE products, is a relative error of its weight.
    score_error = float(np.abs(q).max() * np.abs(k).max()) * np.sqrt(SIZE)
    tolerance = bc.accumulated(score_error * float(np.abs(v).max()), SIZE, factor=0.1)
    averages = np.broadcast_to(v.mean(axis=1, keepdims=True), v.shape)
    return bc.compare("y.f32", want, tolerance, unlike=[q, k, v, averages])


bc.main(generate, compare)
