"""The lens over compiled code: what the instruction mix confirms of a source's losses, what it refutes, and what only it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from engine.verdict.compiled import Compiled
from engine.verdict.degeneration import Finding
from engine.verdict.degeneration_rules import KINDS

BOTH, ALONE = "source and compiled code", "compiled code"
_SPILLED: Final = 64
"""Bytes that more than before must be spilled before it is said: a few registers come and go with every change."""
_HEAVY: Final = 128
"""Registers of a thread from which on a growth to twice as many costs half of the warps."""


class _Counts(NamedTuple):
    before: int
    after: int


_Test = Callable[[Compiled, Compiled], _Counts | None]


def _lost(*names: str, excused: tuple[str, ...] = (), floor: float = 1 / 3) -> _Test:
    """Instructions of these classes are gone, or no more than ``floor`` of them is left, and no better ones came."""

    def test(before: Compiled, after: Compiled) -> _Counts | None:
        old, new = (sum(side.count(name) for name in names) for side in (before, after))
        better = any(after.count(name) > before.count(name) for name in excused)
        return _Counts(old, new) if old and new <= old * floor and not better else None

    return test


def _double(before: Compiled, after: Compiled) -> _Counts | None:
    """Arithmetic in double precision where there was (next to) none."""
    old, new = before.count("double"), after.count("double")
    return _Counts(old, new) if new >= 4 and old * 4 <= new else None


def _atomics(before: Compiled, after: Compiled) -> _Counts | None:
    """Atomics in global memory, and no shuffles or shared memory any more."""
    old, new = before.count("atomics"), after.count("atomics")
    tree = sum(before.count(name) for name in ("shuffles", "shared_loads", "shared_atomics"))
    left = sum(after.count(name) for name in ("shuffles", "shared_loads", "shared_atomics"))
    return _Counts(old, new) if new > 0 and new >= old and tree and not left else None


def _spills(before: Compiled, after: Compiled) -> _Counts | None:
    old, new = before.spills, after.spills
    return _Counts(old, new) if new >= old + _SPILLED else None


def _registers(before: Compiled, after: Compiled) -> _Counts | None:
    old, new = before.registers, after.registers
    return _Counts(old, new) if old and new >= 2 * old and new >= _HEAVY else None


_TESTS: Final[dict[str, _Test]] = {
    "tensor_cores": _lost("tensor", floor=0.25),
    "async_copies": _lost("async_copies"),
    "vector_loads": _lost("wide_loads", excused=("async_copies", "tensor", "matrix_loads")),
    "shared_tiling": _lost("shared_loads", "matrix_loads", floor=0.0, excused=("shuffles", "tensor")),
    "warp_shuffles": _lost("shuffles", floor=0.0, excused=("tensor",)),
    "precision": _double,
    "atomics": _atomics,
}
"""Kinds of the source that compiled code can confirm or refute."""
_CLASSES: Final[dict[str, tuple[str, ...]]] = {
    "tensor_cores": ("tensor",),
    "async_copies": ("async_copies",),
    "vector_loads": ("wide_loads",),
    "shared_tiling": ("shared_loads", "matrix_loads"),
    "warp_shuffles": ("shuffles",),
    "precision": ("double",),
    "atomics": ("atomics",),
}
"""The instructions that show each of them."""
_OWN: Final[dict[str, tuple[str, float, _Test]]] = {
    "spills": ("bytes of spilled registers", 0.3, _spills),
    "registers": ("registers of a thread", 0.15, _registers),
}
"""Kinds that only compiled code shows: words and weight."""
COMPILED_KINDS: Final = {name: weight for name, (_, weight, _) in _OWN.items()}


def with_compiled(findings: tuple[Finding, ...], before: Compiled, after: Compiled) -> tuple[Finding, ...]:
    """The findings of a source, judged by its compiled code. A loss that the instructions do not show is dropped (the compiler, or
    a header, brought the same by other means), one that they show too is marked, and what only they show is added.

    Nothing is refuted where a side has no kernels: then the compiler did not see what the source shows.
    """
    if not before.kernels or not after.kernels:
        return findings
    kept: list[Finding] = []
    for finding in findings:
        test = _TESTS.get(finding.kind)
        if test is None:
            kept.append(finding)
        elif test(before, after) is not None:
            kept.append(replace(finding, seen_in=BOTH))
        elif not _refuted(finding, before, after):
            kept.append(finding)
    known = {finding.kind for finding in kept}
    table = {kind.name: kind for kind in KINDS}
    for name, test in _TESTS.items():
        counts = test(before, after)
        # Fewer instructions of a kind is no loss by itself: unrolling writes the same load sixty times.
        if name not in known and counts is not None and (counts.after == 0 or table[name].fallback):
            kind = table[name]
            kept.append(_alone(name, kind.words, kind.weight, counts, kind.fallback))
    for name, (words, weight, test) in _OWN.items():
        if (counts := test(before, after)) is not None:
            kept.append(_alone(name, words, weight, counts, fallback=True))
    supporting = {kind.name for kind in KINDS if not kind.alone}
    return tuple(kept) if any(finding.kind not in supporting for finding in kept) else ()


def _refuted(finding: Finding, before: Compiled, after: Compiled) -> bool:
    """Whether the instructions are still there, half of them at least, that the source has lost all sight of. What the source only
    has less of is not refuted: unrolling alone makes many instructions of few. A fallback is refuted when there is none of it."""
    classes = _CLASSES[finding.kind]
    old, new = (sum(side.count(name) for name in classes) for side in (before, after))
    if finding.fallback:
        return not new
    return finding.after == 0 and old > 0 and new * 2 >= old


def _alone(kind: str, words: str, weight: float, counts: _Counts, fallback: bool) -> Finding:
    severity = 1.0 if fallback else (counts.before - counts.after) / counts.before
    return Finding(kind, words, counts.before, counts.after, severity, weight, fallback, seen_in=ALONE)
