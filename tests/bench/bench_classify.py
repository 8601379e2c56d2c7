"""How long ten megabytes of log take to classify. By hand: python tests/bench/bench_classify.py [megabytes]

The target is 0.3 s of one core for each log (processor time: other work on the machine does not count). They are made so that the search has nothing to find, something to find on every
line, and no line at all; a last one holds every rule's words once, which is the most work that the search can be given.
"""

from __future__ import annotations

import random
import string
import sys
import time
from collections.abc import Iterator

from engine.evidence import Evidence, StepEvidence
from engine.verdict import classify
from engine.verdict.rules import RULES

TARGET = 0.3
_WORDS = (
    "block grid step iteration value result running compute ms epoch data size loaded case matrix row column warp tile"
)
WORDS = _WORDS.split()


def clean_lines(seed: int = 1) -> Iterator[str]:
    rng = random.Random(seed)
    while True:
        words = " ".join(rng.choice(WORDS) for _ in range(8))
        yield f"[{rng.random():.6f}] {words} {rng.randint(0, 10**6)}\n"


def text_of(lines: Iterator[str], size: int) -> str:
    parts, length = [], 0
    while length < size:
        parts.append(next(lines))
        length += len(parts[-1])
    return "".join(parts)[:size]


def hits(size: int) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"step {number}: Mismatch at index {number}: got 0.5, error: cudaErrorSomething failed, expected memory {number}\n"


def near_hits() -> Iterator[str]:
    """Every line holds a word of many rules and none that a pattern accepts."""
    number = 0
    while True:
        number += 1
        yield f"line {number}: error: no such file, failed to stay invalid, the timeout of undefined memory, abs error, nan, shape\n"


def logs(size: int) -> Iterator[tuple[str, str]]:
    clean = text_of(clean_lines(), size)
    yield "clean", clean
    yield "clean, beyond Latin-1", clean[: size - 4] + "→ ok"
    yield "a match on every line", text_of(hits(size), size)
    yield "a near match on every line", text_of(near_hits(), size)
    yield "one line of spaces", " " * size
    yield "one line of words", clean.replace("\n", " ")
    yield "one line of matches", text_of(hits(size), size).replace("\n", " ")
    yield "one line of near matches", text_of(near_hits(), size).replace("\n", " ")
    yield "one line of one letter", "a" * size
    yield "one line of brackets", "(" * size
    yield "base64", "".join(random.Random(2).choices(string.ascii_letters + string.digits + "+/", k=size))
    yield (
        "every word of every rule",
        clean[: size // 2] + "\n".join(w for rule in RULES for w in rule.literals) + clean[size // 2 :],
    )


def main() -> int:
    size = int(float(sys.argv[1]) * 1e6) if len(sys.argv) > 1 else 10_000_000
    classify(Evidence(test=StepEvidence(exit_code=1, stderr="warm-up: every pattern is compiled when first needed")))
    slow = 0
    for name, text in logs(size):
        for stage, evidence in (
            ("build", Evidence(build=StepEvidence(exit_code=1, stderr=text))),
            ("test", Evidence(test=StepEvidence(exit_code=1, stdout=text))),
        ):
            runs = []
            for _ in range(3):
                start = time.process_time()
                verdict = classify(evidence)
                runs.append(time.process_time() - start)
            slow += min(runs) > TARGET
            print(
                f"{name:28} {stage:6} {len(text) / 1e6:5.1f} MB  first {runs[0]:.3f} s  best {min(runs):.3f} s  {verdict.rule}"
            )
    print(f"{slow} over the target of {TARGET} s")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
