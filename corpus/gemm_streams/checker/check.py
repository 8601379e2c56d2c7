"""Independent matrix products of different sizes: numpy's own in float64."""

import beaver_check as bc
import numpy as np

SIZES = np.array(
    [
        *(
            (96, 64, 540),
            (61, 99, 601),
            (80, 80, 512),
            (100, 60, 577),
            (64, 96, 560),
            (75, 77, 640),
        ),
        *(
            (90, 70, 530),
            (70, 90, 555),
            (96, 96, 500),
            (63, 65, 700),
            (85, 59, 620),
            (66, 94, 580),
        ),
    ]
)


def generate() -> None:
    rng = bc.rng()
    m, n, k = SIZES.T
    bc.write_input("count.i32", [len(SIZES)])
    bc.write_input("sizes.i32", SIZES)
    bc.write_input("a.f32", rng.standard_normal(int(m @ k)))
    bc.write_input("b.f32", rng.standard_normal(int(k @ n)))


def compare() -> bc.Report:
    m, n, k = SIZES.T
    a = np.split(bc.read_input("a.f32", (int(m @ k),)).astype(np.float64), np.cumsum(m * k)[:-1])
    b = np.split(bc.read_input("b.f32", (int(k @ n),)).astype(np.float64), np.cumsum(k * n)[:-1])
    want = np.concatenate([(p.reshape(-1, d) @ q.reshape(d, -1)).ravel() for p, q, d in zip(a, b, k, strict=True)])
    longest = int(k.max())
    # A sum of k products of size one walks about as far as sqrt(k).
    return bc.compare("c.f32", want, bc.accumulated(np.sqrt(longest), longest, factor=8))


bc.main(generate, compare)
