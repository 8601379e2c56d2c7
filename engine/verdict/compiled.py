"""What a compiler made of a source: registers, spills and memory from ptxas, the mix of instructions from a disassembler.

Pure readers of what nvcc, cuobjdump and nvdisasm print; engine.harness.disassembly runs them. Counts are static: an instruction in
a loop counts once, and an unrolled one as often as it was unrolled.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from engine.text import plain_text
from engine.verdict.instruction_rules import CLASSES

Language = Literal["SASS", "PTX"]


@dataclass(frozen=True)
class Resources:
    """What one kernel takes, as ptxas says it (-v): registers of a thread, barriers of a block, bytes of everything else."""

    registers: int = 0
    barriers: int = 0
    shared: int = 0
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0


@dataclass(frozen=True)
class CompiledKernel:
    """One kernel, by its mangled name. ``mix`` counts instructions by class, ``instructions`` all of them."""

    name: str
    resources: Resources
    mix: Mapping[str, int] = field(default_factory=dict)
    instructions: int = 0


@dataclass(frozen=True)
class Compiled:
    """All kernels of one source. ``source`` says where the mix came from: "SASS for sm_90 by cuobjdump", "PTX for sm_90"."""

    kernels: tuple[CompiledKernel, ...]
    source: str
    language: Language = "SASS"

    def count(self, name: str) -> int:
        """Instructions of a class, over all kernels."""
        return sum(kernel.mix.get(name, 0) for kernel in self.kernels)

    @property
    def spills(self) -> int:
        """Bytes that registers were spilled to and read back from, over all kernels."""
        return sum(kernel.resources.spill_stores + kernel.resources.spill_loads for kernel in self.kernels)

    @property
    def registers(self) -> int:
        """Registers of the kernel that takes most."""
        return max((kernel.resources.registers for kernel in self.kernels), default=0)


_NAME: Final = re.compile(
    r"^ptxas info\s*: (?:Compiling entry function '([^']+)'|Function properties for (\S+))", re.MULTILINE
)
_FRAME: Final = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED: Final = re.compile(r"^ptxas info\s*: Used (\d+) registers(.*)$", re.MULTILINE)
_BARRIERS: Final = re.compile(r"used (\d+) barriers")
_SHARED: Final = re.compile(r"(\d+)(?:\+\d+)? bytes smem")
_SASS_FUNCTION: Final = re.compile(r"^\s*Function : (\S+)|^\.text\.(\S+):", re.MULTILINE)
_SASS: Final = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:\{\s*)?(?:@!?U?P[T\d]\s+)?([A-Z][\w.]*)", re.MULTILINE)
_PTX_ENTRY: Final = re.compile(r"^(?:\.\w+\s+)*\.entry\s+([\w$]+)", re.MULTILINE)
_PTX: Final = re.compile(r"^\s*(?:@!?%\w+\s+)?([a-z][\w.:]*\.[\w.:]+)(?=[\s;])", re.MULTILINE)


def read_resources(text: str) -> dict[str, Resources]:
    """Kernels and what they take, from what nvcc prints with -Xptxas -v; device functions that were not inlined are left out."""
    found: dict[str, Resources] = {}
    entries = list(_NAME.finditer(text))
    kernels = {match[1] for match in entries if match[1]}
    for match, part in _parts(entries, text):
        name = match[1] or match[2]
        if name not in kernels:
            continue
        frame, used = _FRAME.search(part), _USED.search(part)
        if frame is None and used is None:
            continue
        before = found.get(name, Resources())
        rest = used[2] if used is not None else ""
        barriers, shared = _BARRIERS.search(rest), _SHARED.search(rest)
        found[name] = Resources(
            registers=int(used[1]) if used is not None else before.registers,
            barriers=int(barriers[1]) if barriers is not None else before.barriers,
            shared=int(shared[1]) if shared is not None else before.shared,
            stack=int(frame[1]) if frame is not None else before.stack,
            spill_stores=int(frame[2]) if frame is not None else before.spill_stores,
            spill_loads=int(frame[3]) if frame is not None else before.spill_loads,
        )
    return found


def read_sass(text: str) -> dict[str, Counter[str]]:
    """Functions and their opcodes, from cuobjdump -sass or nvdisasm -c."""
    return _opcodes(text, _SASS_FUNCTION, _SASS)


def read_ptx(text: str) -> dict[str, Counter[str]]:
    """Kernels and their opcodes, from PTX. What a kernel calls counts with the kernel before it in the file."""
    return _opcodes(text, _PTX_ENTRY, _PTX)


def compiled(
    resources: Mapping[str, Resources], opcodes: Mapping[str, Counter[str]], source: str, language: Language
) -> Compiled:
    """Resources and opcodes of the same kernels in one; a kernel that only one of them knows has nothing of the other."""
    names = dict.fromkeys([*resources, *opcodes])
    return Compiled(
        tuple(
            CompiledKernel(
                plain_text(name),
                resources.get(name, Resources()),
                mix_of(opcodes.get(name, Counter()), language),
                sum(opcodes.get(name, Counter()).values()),
            )
            for name in names
        ),
        source,
        language,
    )


def mix_of(opcodes: Mapping[str, int], language: Language) -> Mapping[str, int]:
    """Instructions by class, in the order of the table; what no class has is left out."""
    found: Counter[str] = Counter()
    for opcode, count in opcodes.items():
        name = _class_of(opcode, language)
        if name:
            found[name] += count
    return {row.name: found[row.name] for row in CLASSES if found[row.name]}


def _parts(headings: list[re.Match[str]], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Every heading with what stands between it and the next."""
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=False):
        yield heading, text[heading.end() : end]


def _opcodes(text: str, heading: re.Pattern[str], instruction: re.Pattern[str]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for match, part in _parts(list(heading.finditer(text)), text):
        name = next((group for group in match.groups() if group), "")
        found.setdefault(name, Counter()).update(instruction.findall(part))
    return found


@functools.cache
def _patterns(language: Language) -> Iterable[tuple[str, re.Pattern[str]]]:
    return tuple((row.name, re.compile(row.sass if language == "SASS" else row.ptx)) for row in CLASSES)


@functools.lru_cache(maxsize=4096)
def _class_of(opcode: str, language: Language) -> str:
    return next((name for name, pattern in _patterns(language) if pattern.fullmatch(opcode)), "")
