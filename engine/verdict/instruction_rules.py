"""Classes of instructions, as a table: what they say of a kernel, in SASS and, where nothing disassembles, in PTX.

SASS names are those that nvdisasm prints for compute capability 7.0 to 12.0; a pattern must match a whole opcode with its suffixes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class InstructionClass:
    """``sass`` and ``ptx`` match whole opcodes ("LDG.E.128.CONSTANT", "ld.global.v4.f32")."""

    name: str
    words: str
    sass: str
    ptx: str


_WIDE: Final = r"(?:\.\w+)*\.128(?:\.\w+)*"
_GLOBAL_V4: Final = (
    r"\.(?:global|param::entry)?(?:\.?[\w:]+)*\.(?:v4\.(?:b32|u32|s32|f32)|v2\.(?:b64|u64|s64|f64)|b128)"
)

CLASSES: Final[tuple[InstructionClass, ...]] = (
    InstructionClass(
        "tensor",
        "tensor-core instructions",
        r"(?:[HIDBQO]MMA|[HIBQ]GMMA|UTC\w*MMA)(?:\.\S+)?",
        r"(?:wmma\.mma|mma|wgmma\.mma_async|tcgen05\.mma)\.\S+",
    ),
    InstructionClass("matrix_loads", "matrix loads", r"LDSM(?:\.\S+)?", r"(?:ldmatrix|wmma\.load)\.\S+"),
    InstructionClass("wide_loads", "128-bit loads", rf"LDG?{_WIDE}", r"ld" + _GLOBAL_V4),
    InstructionClass(
        "loads_64", "64-bit loads", r"LDG?(?:\.\w+)*\.64(?:\.\w+)*", r"ld\.global(?:\.[\w:]+)*\.(?:v2\.\w32|[busf]64)"
    ),
    InstructionClass("loads", "narrower loads", r"LDG?(?:\.\w+)*", r"ld\.global(?:\.[\w:]+)*"),
    InstructionClass("wide_stores", "128-bit stores", rf"STG?{_WIDE}", r"st" + _GLOBAL_V4),
    InstructionClass("stores", "narrower stores", r"STG?(?:\.\w+)*", r"st\.global(?:\.[\w:]+)*"),
    InstructionClass(
        "async_copies",
        "asynchronous copies",
        r"(?:LDGSTS|UBLKCP|UTMALDG|UTMASTG|UTMAREDG|UBLKRED)(?:\.\S+)?",
        r"cp\.(?:reduce\.)?async\.(?!commit|wait|mbarrier|bulk\.(?:commit|wait|prefetch))\S+",
    ),
    InstructionClass("shared_loads", "loads of shared memory", r"LDS(?:\.\S+)?", r"ld\.shared\S*"),
    InstructionClass("shared_stores", "stores to shared memory", r"ST(?:S|SM)(?:\.\S+)?", r"st\.shared\S*"),
    InstructionClass("barriers", "block barriers", r"BAR(?:\.\S+)?", r"bar(?:rier)?\.\S+"),
    InstructionClass("memory_barriers", "barriers in shared memory", r"SYNCS(?:\.\S+)?", r"mbarrier\.\S+"),
    InstructionClass(
        "shuffles", "warp shuffles", r"(?:SHFL|U?REDUX|CREDUX|MATCH)(?:\.\S+)?", r"(?:shfl|redux|match)\.\S+"
    ),
    InstructionClass(
        "atomics",
        "atomics in global memory",
        r"(?:RED|REDG|ATOM|ATOMG)(?:\.\S+)?",
        r"(?:red|atom)\.(?:(?!shared)[\w:]+\.)*[\w:]+",
    ),
    InstructionClass("shared_atomics", "atomics in shared memory", r"ATOMS(?:\.\S+)?", r"(?:red|atom)\.\S*shared\S*"),
    InstructionClass(
        "float",
        "single-precision arithmetic",
        r"F(?:FMA|ADD|MUL|FMA2|ADD2|MUL2)(?:\.\S+)?",
        r"(?:fma|add|sub|mul|mad)\.\S*f32\S*",
    ),
    InstructionClass(
        "half",
        "half-precision arithmetic",
        r"H(?:FMA2|ADD2|MUL2)(?:\.\S+)?",
        r"(?:fma|add|sub|mul)\.\S*(?:bf16|f16)\S*",
    ),
    InstructionClass(
        "double",
        "double-precision arithmetic",
        r"D(?:FMA|ADD|MUL)(?:\.\S+)?",
        r"(?:fma|add|sub|mul|mad|div|sqrt)\.\S*f64\S*",
    ),
    InstructionClass(
        "special", "special functions", r"MUFU(?:\.\S+)?", r"(?:ex2|lg2|rcp|rsqrt|sqrt|sin|cos|tanh)\.\S+"
    ),
    InstructionClass("local", "local memory", r"(?:LDL|STL)(?:\.\S+)?", r"(?:ld|st)\.local\S*"),
)
"""In the order in which an opcode is tried: the first class that matches has it."""
