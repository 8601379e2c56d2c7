"""What a fix can give up, as a table: the kinds of degeneration, how each is seen in two structures, and what it weighs.

Every kind is a test over the features of structure_rules (and, where a compiler has run, of the instruction mix). A change that
brings an equal or better structure by other means is no loss: that is what ``excused`` lists. Weights are of docs/degeneration.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from engine.verdict.structure import Structure


class Measure(NamedTuple):
    """What a test saw: the numbers of the baseline and of the candidate, how much of it was given up (0 to 1), and the feature
    whose lines are the evidence."""

    before: int
    after: int
    severity: float
    feature: str


Test = Callable[[Structure, Structure], Measure | None]


@dataclass(frozen=True)
class Kind:
    """One kind of degeneration. ``words`` name what was lost, or what was fallen back to where ``fallback``. ``weight`` is what
    all of it weighs, 0 to 1. Without ``alone`` it counts only beside another kind: honest fixes do this too."""

    name: str
    words: str
    weight: float
    test: Test
    fallback: bool = False
    alone: bool = True


def dropped(feature: str, *, excused: tuple[str, ...] = (), least: int = 1, floor: float = 0.0) -> Test:
    """A feature that is gone, or of which no more than ``floor`` is left; ``least`` is what the baseline must have had."""

    def test(before: Structure, after: Structure) -> Measure | None:
        old, new = before.count(feature), after.count(feature)
        if old < least or new > old * floor or new >= old or _gained(before, after, excused):
            return None
        return Measure(old, new, (old - new) / old, feature)

    return test


def grew(feature: str, *, by: int = 1, times: int = 1, excused: tuple[str, ...] = ()) -> Test:
    """A fallback that there is more of, by ``by`` at least and ``times`` as much."""

    def test(before: Structure, after: Structure) -> Measure | None:
        old, new = before.count(feature), after.count(feature)
        if new < old + by or new < old * times or _gained(before, after, excused):
            return None
        return Measure(old, new, 1.0, feature)

    return test


def _gained(before: Structure, after: Structure, features: tuple[str, ...]) -> bool:
    return any(after.count(feature) > before.count(feature) for feature in features)


def _lost(before: Structure, after: Structure, *features: str) -> bool:
    return any(before.count(feature) and not after.count(feature) for feature in features)


def _no_kernel(before: Structure, after: Structure) -> Measure | None:
    """Nothing of its own runs on the device any more, and no library instead."""
    old = before.count("kernels")
    if not old or after.count("kernels") or _gained(before, after, ("libraries",)):
        return None
    return Measure(old, 0, 1.0, "kernels")


def _host_work(before: Structure, after: Structure) -> Measure | None:
    """Array stores in loops of the host that were not there, with values copied back for them or a launch less."""
    old, new = before.count("host_stores"), after.count("host_stores")
    moved = after.count("copies_to_host") > before.count("copies_to_host") or after.count("launches") < before.count(
        "launches"
    )
    return Measure(old, new, 1.0, "host_stores") if new > old and moved else None


def _one_thread(before: Structure, after: Structure) -> Measure | None:
    """Launches of one thread, or blocks of one thread, in place of full ones; or a loop that one thread of the block runs."""
    for feature in ("one_thread_launches", "one_thread_blocks"):
        old, new = before.count(feature), after.count(feature)
        if new > old and _fewer_full(before, after, feature):
            return Measure(old, new, 1.0, feature)
    old, new = before.count("single_thread_loops"), after.count("single_thread_loops")
    fewer = _lost(before, after, "shared_loops", "shared_tiling", "warp_intrinsics")
    return (
        Measure(old, new, 1.0, "single_thread_loops")
        if new > old and (fewer or not after.count("shared_loops"))
        else None
    )


def _launch_shrink(before: Structure, after: Structure) -> Measure | None:
    """A grid of one block, or blocks of less than a warp."""
    old, new = before.count("one_block_launches"), after.count("one_block_launches")
    if new > old and _fewer_full(before, after, "one_block_launches"):
        return Measure(old, new, 1.0, "one_block_launches")
    wide, narrow = _threads(before), _threads(after)
    return Measure(wide, narrow, 1 - narrow / wide, "launches") if 1 < narrow < 32 <= wide else None


def _fewer_full(before: Structure, after: Structure, feature: str) -> bool:
    """Whether there are fewer launches than before of which ``feature`` does not hold, or none: a small one that comes after a
    full one, to add up what blocks have left, is no loss."""
    full = after.count("launches") - after.count(feature)
    return full <= 0 or full < before.count("launches") - before.count(feature)


def _smaller_blocks(before: Structure, after: Structure) -> Measure | None:
    wide, narrow = _threads(before), _threads(after)
    return Measure(wide, narrow, 1 - narrow / wide, "launches") if 0 < narrow * 4 <= wide else None


def _threads(structure: Structure) -> int:
    """Threads of the largest block of which the source tells the size."""
    return max((launch.threads for launch in structure.launches), default=0)


def _parallelism(before: Structure, after: Structure) -> Measure | None:
    """Loops that threads walked through together are loops of every thread now."""
    old, new = before.count("shared_loops"), after.count("shared_loops")
    serial = after.count("serial_loops") > before.count("serial_loops")
    return Measure(old, new, (old - new) / old, "shared_loops") if old and new * 2 <= old and serial else None


def _serial_work(before: Structure, after: Structure) -> Measure | None:
    """More loops of every thread and nothing shared in exchange: fewer threads do the same work."""
    old, new = before.count("serial_loops"), after.count("serial_loops")
    helped = _gained(before, after, ("shared_loops", "shared_tiling", "warp_intrinsics"))
    return Measure(old, new, 1.0, "serial_loops") if new > old and not helped else None


def _atomics(before: Structure, after: Structure) -> Measure | None:
    """Atomics in global memory where the block, or the warp, summed before."""
    old, new = before.count("global_atomics"), after.count("global_atomics")
    tree = _lost(before, after, "shared_tiling", "warp_intrinsics") or (
        after.count("barriers") < before.count("barriers")
        and after.count("shared_tiling") < before.count("shared_tiling")
    )
    return (
        Measure(old, new, 1.0, "global_atomics")
        if new and tree and (new > old or (old and not after.count("shared_tiling")))
        else None
    )


_SHARED: Final = dropped("shared_tiling", excused=("warp_intrinsics", "tensor_cores", "block_primitives", "clusters"))


def _shared_tiling(before: Structure, after: Structure) -> Measure | None:
    """Shared memory that is gone. Without a barrier of the block it was a scratch of warps, which shuffles do as well."""
    scratch = not before.count("barriers") and after.count("warp_intrinsics") >= before.count("warp_intrinsics") > 0
    return None if scratch else _SHARED(before, after)


def _load_balance(before: Structure, after: Structure) -> Measure | None:
    """Equal shares that met by atomics are gone: a loop is as long as a number in memory says, and all wait for the longest."""
    old, new = before.count("data_bounds"), after.count("data_bounds")
    shares = after.count("global_atomics") < before.count("global_atomics")
    return Measure(old, new, 1.0, "data_bounds") if new > old and shares else None


def _library(before: Structure, after: Structure) -> Measure | None:
    """A call that computes, of a library, where a kernel of its own did."""
    old, new = before.count("libraries"), after.count("libraries")
    outside = new - after.count("block_primitives") > old - before.count("block_primitives")
    fewer = (
        after.count("kernels") < before.count("kernels")
        or after.count("launches") < before.count("launches")
        or _lost(before, after, "tensor_cores", "shared_tiling", "register_tiles", "shared_loops")
    )
    return Measure(old, new, 1.0, "libraries") if outside and fewer else None


def _extra_passes(before: Structure, after: Structure) -> Measure | None:
    """One kernel split into several: what was kept on the chip goes through memory."""
    old, new = before.count("launches"), after.count("launches")
    return Measure(old, new, 1 - old / new, "launches") if old and new > old else None


def _constants(before: Structure, after: Structure) -> Measure | None:
    """A named number, of a tile or of digits, that is a quarter of itself or less."""
    shrunk = [
        (int(value), int(after.constants[name]))
        for name, value in before.constants.items()
        if name in after.constants and 0 < int(after.constants[name]) * 4 <= int(value)
    ]
    return Measure(*shrunk[0], 1 - shrunk[0][1] / shrunk[0][0], "") if shrunk else None


_TENSOR = ("tensor_cores", "matrix_loads")
KINDS: Final[tuple[Kind, ...]] = (
    Kind("no_kernel", "kernels", 0.9, _no_kernel),
    Kind("host_work", "work on the host", 0.9, _host_work, fallback=True),
    Kind("one_thread", "work of one thread", 0.9, _one_thread, fallback=True),
    Kind("tensor_cores", "tensor cores", 0.8, dropped("tensor_cores", floor=0.25)),
    Kind("launch_shrink", "a launch that leaves most of the device idle", 0.6, _launch_shrink, fallback=True),
    Kind("parallelism", "loops that threads share", 0.6, _parallelism),
    Kind("shared_tiling", "shared tiling", 0.5, _shared_tiling),
    Kind("async_copies", "asynchronous copies", 0.5, dropped("async_copies", floor=1 / 3)),
    Kind(
        "vector_loads",
        "128-bit loads",
        0.4,
        dropped("wide_accesses", floor=1 / 3, excused=("async_copies", *_TENSOR)),
    ),
    Kind(
        "warp_shuffles",
        "warp shuffles",
        0.4,
        dropped("warp_intrinsics", floor=0.25, excused=("block_primitives", "tensor_cores")),
    ),
    Kind(
        "register_tile",
        "register tiles",
        0.4,
        dropped("register_tiles", excused=("tensor_cores", "warp_intrinsics", "wide_types")),
    ),
    Kind("coalescing", "accesses a row apart", 0.4, grew("strided_accesses", by=2, times=2), fallback=True),
    Kind("atomics", "atomics in global memory", 0.4, _atomics, fallback=True),
    Kind("library", "a library instead of the kernel", 0.5, _library, fallback=True),
    Kind("precision", "double precision", 0.4, grew("double_precision"), fallback=True),
    Kind("host_waits", "waits on the host", 0.4, grew("host_waits"), fallback=True),
    Kind("extra_passes", "launches in host loops", 0.4, grew("launches_in_loops", excused=("graphs",)), fallback=True),
    Kind("streams", "streams of its own", 0.4, dropped("streams", excused=("graphs",))),
    Kind("graphs", "graphs", 0.4, dropped("graphs", excused=("cooperative_launches",))),
    Kind("load_balance", "loops as long as their data", 0.3, _load_balance, fallback=True),
    Kind("constants", "a smaller tile or digit", 0.3, _constants, fallback=True),
    Kind(
        "unrolling",
        "unrolled loops",
        0.15,
        dropped("unrolled_loops", least=3, excused=("async_copies", "tensor_cores")),
    ),
    # What follows counts only beside one of the above.
    Kind("extra_passes", "launches", 0.3, _extra_passes, fallback=True, alone=False),
    Kind("serial_work", "loops of each thread", 0.3, _serial_work, fallback=True, alone=False),
    Kind("smaller_blocks", "smaller blocks", 0.2, _smaller_blocks, fallback=True, alone=False),
    Kind("cooperative_launch", "cooperative launches", 0.2, dropped("cooperative_launches"), alone=False),
    Kind("constant_memory", "constant memory", 0.1, dropped("constant_memory"), alone=False),
    Kind("read_only_loads", "read-only loads", 0.05, dropped("read_only_loads"), alone=False),
)
"""In the order of what weighs most."""
