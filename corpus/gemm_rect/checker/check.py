"""Matrix product: numpy's own in float64. The tolerance is too tight for products in tf32 or half precision."""

import beaver_check as bc
import numpy as np

M, N, K = 612, 580, 700


def generate() -> None:
    rng = bc.rng()
    for name, value in (("m.i32", M), ("n.i32", N), ("k.i32", K)):
        bc.write_input(name, [value])
    bc.write_input("a.f32", rng.standard_normal((M, K)))
    bc.write_input("b.f32", rng.standard_normal((K, N)))


def compare() -> bc.Report:
    a = bc.read_input("a.f32", (M, K)).astype(np.float64)
    b = bc.read_input("b.f32", (K, N)).astype(np.float64)
    # A sum of K products of size one walks about as far as sqrt(K).
    return bc.compare("c.f32", a @ b, bc.accumulated(np.sqrt(K), K, factor=8), unlike=[a[:, :N], b[:M]])


bc.main(generate, compare)
