"""Matrix product of half: numpy's own in float64. The sums must have been done in float."""

import beaver_check as bc
import numpy as np

M, N, K = 300, 268, 301


def generate() -> None:
    rng = bc.rng()
    for name, value in (("m.i32", M), ("n.i32", N), ("k.i32", K)):
        bc.write_input(name, [value])
    bc.write_input("a.f16", rng.standard_normal((M, K)))
    bc.write_input("b.f16", rng.standard_normal((K, N)))


def compare() -> bc.Report:
    a = bc.read_input("a.f16", (M, K)).astype(np.float64)
    b = bc.read_input("b.f16", (K, N)).astype(np.float64)
    # A sum of K products of size one walks about as far as sqrt(K); tensor cores may truncate where others round.
    return bc.compare("c.f32", a @ b, bc.accumulated(np.sqrt(K), K, factor=16), unlike=[a[:, :N]])


bc.main(generate, compare)
