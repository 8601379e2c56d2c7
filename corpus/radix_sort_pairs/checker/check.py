"""Radix sort: keys of every size, also the largest of all, of which many are equal, so that order shows; exact."""

import beaver_check as bc
import numpy as np

COUNT = 60_013


def generate() -> None:
    rng = bc.rng()
    bc.write_input("count.u32", [COUNT])
    # Half of the keys come from a few hundred values, which lie anywhere.
    integers = rng.integers(0, 1 << 32, COUNT)
    integers[::2] = rng.choice(rng.integers(0, 1 << 32, 300), integers[::2].size)
    integers[rng.permutation(COUNT)[:50]] = (1 << 32) - 1
    floats = (rng.standard_normal(COUNT) * 10.0 ** rng.uniform(-20.0, 3.0, COUNT)).astype(np.float32)
    floats[::2] = rng.choice(floats[1:600:2], floats[::2].size)
    bc.write_input("integer_keys.u32", integers)
    bc.write_input("float_keys.f32", floats)
    bc.write_input("values.u32", rng.permutation(COUNT))


def compare() -> bc.Report:
    values = bc.read_input("values.u32", (COUNT,))
    reports = []
    for kind, name in (("integer", "integer_keys.u32"), ("float", "float_keys.f32")):
        keys = bc.read_input(name, (COUNT,))
        order = np.argsort(keys, kind="stable")
        reports.append(bc.compare(name, keys[order], bc.EXACT, unlike=[keys]))
        reports.append(bc.compare(f"{kind}_values.u32", values[order], bc.EXACT, unlike=[values]))
    return bc.first_failure(*reports)


bc.main(generate, compare)
