"""Byte histogram: a skewed distribution over all values, counted exactly by numpy."""

import beaver_check as bc
import numpy as np

COUNT = 3_000_017


def generate() -> None:
    rng = bc.rng()
    # A table of 2^16 entries: every value at least once, some far more often, in random order of frequency.
    frequencies = 1.0 / np.arange(1, 257)
    entries = 1 + np.floor((65536 - 256) * frequencies / frequencies.sum()).astype(np.int64)
    entries[0] += 65536 - entries.sum()
    table = np.repeat(rng.permutation(256).astype(np.uint8), entries)
    data = table[rng.integers(0, 65536, COUNT, dtype=np.uint16)]
    bc.write_input("count.u32", [COUNT])
    bc.write_input("data.u8", data)


def compare() -> bc.Report:
    data = bc.read_input("data.u8", (COUNT,))
    return bc.compare("bins.u32", np.bincount(data, minlength=256), bc.EXACT, unlike=[data[:256]])


bc.main(generate, compare)
