"""Running sums modulo 2^32: exact integers."""

import beaver_check as bc
import numpy as np

COUNT = 1_000_003


def generate() -> None:
    rng = bc.rng()
    bc.write_input("count.i32", [COUNT])
    bc.write_input("x.u32", rng.integers(1, 2**32, COUNT, dtype=np.uint32))


def compare() -> bc.Report:
    x = bc.read_input("x.u32", (COUNT,))
    return bc.compare("y.u32", np.cumsum(x, dtype=np.uint32), bc.EXACT, unlike=[x])


bc.main(generate, compare)
