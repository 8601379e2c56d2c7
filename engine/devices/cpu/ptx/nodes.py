"""What a PTX module says, as data. Names follow the PTX ISA manual."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Loc:
    """A .loc directive: a file's number, a line (0: none), a column; ``inlined_at`` is the call that the line was inlined
    into, one level further out, and ``function`` the label of the inlined function's name in .debug_str."""

    file: int
    line: int
    column: int
    inlined_at: Loc | None = None
    function: str | None = None


@dataclass(frozen=True, slots=True)
class Reg:
    """A register, or a special register such as %tid with its ``component``: x, y, z, w, or r, g, b, a, or the part that a video
    instruction takes (b0, h1)."""

    name: str
    component: str | None = None
    negated: bool = False
    """``!p`` for a predicate operand."""


@dataclass(frozen=True, slots=True)
class Imm:
    """An integer immediate."""

    value: int


@dataclass(frozen=True, slots=True)
class Float:
    """A float immediate by its bits: 0f3F800000 is (0x3F800000, 32), 0d... has 64. A decimal number in an instruction has 64 too,
    whatever the instruction's type: PTX rounds it to that."""

    bits: int
    width: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """The address of a variable, function, parameter or label, plus ``offset`` bytes. ``generic`` for generic(x)."""

    name: str
    offset: int = 0
    generic: bool = False


@dataclass(frozen=True, slots=True)
class Address:
    """[base + offset]: a memory operand. ``base`` is a register, a symbol or an immediate. ``extra`` are the further operands
    inside the brackets, for tensor coordinates."""

    base: Reg | Symbol | Imm
    offset: int = 0
    extra: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Vector:
    """{a, b, ...}."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Minus:
    """-a: a factor or the addend of vmad; no compiler writes it."""

    register: Reg


@dataclass(frozen=True, slots=True)
class Pair:
    """d|p: a destination and a predicate destination."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Sink:
    """The underscore: a destination that nobody reads."""


Operand = Reg | Imm | Float | Symbol | Address | Vector | Minus | Pair | Sink


@dataclass(frozen=True, slots=True)
class Instruction:
    """``opcode`` is the first word, ``modifiers`` the rest in order without dots ("global", "v4", "f32", "L1::no_allocate").

    ``guard`` is the predicate of @p or @!p. ``ordinal`` counts the instructions of the function. ``line`` is the line of the
    PTX text, for messages.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Reg | None
    loc: Loc | None
    ordinal: int
    line: int

    @property
    def name(self) -> str:
        """The whole mnemonic, as a message shows it."""
        return ".".join((self.opcode, *self.modifiers))


@dataclass(frozen=True, slots=True)
class Call:
    """call (returns), target, (arguments), prototype; ``target`` is a function's name or the register that holds its address.
    ``prototype`` is the label of a .calltargets list or of a .callprototype."""

    returns: tuple[Operand, ...]
    target: Symbol | Reg
    arguments: tuple[Operand, ...]
    prototype: str | None
    guard: Reg | None
    loc: Loc | None
    ordinal: int
    line: int


@dataclass(frozen=True, slots=True)
class Label:
    name: str


@dataclass(frozen=True, slots=True)
class BranchTargets:
    """name: .branchtargets a, b, ...; for brx.idx. Also name: .calltargets f, g, ...; then ``labels`` are functions."""

    name: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prototype:
    """name: .callprototype (returns) _ (params); for indirect calls."""

    name: str
    returns: tuple[Variable, ...]
    params: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Registers:
    """.reg .b32 %r<69> declares %r0 ... %r68 (``count`` 69, ``name`` "%r"); ``count`` None declares one register ``name``.
    ``type`` without its dot; ``vector`` 1, 2 or 4."""

    type: str
    name: str
    count: int | None
    vector: int = 1


@dataclass(frozen=True, slots=True)
class Scope:
    """{ ... }: registers, labels and parameters declared inside are not seen outside."""

    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable or parameter declaration.

    ``space`` is reg, const, global, local, param or shared; ``type`` without its dot; ``size`` in bytes, None for an extern
    array without one; ``align`` in bytes. ``init`` holds one initialiser per element of ``type`` (trailing ones may be
    missing, they are zero): an Imm, a Float or a Symbol, or a Masked symbol.
    """

    space: str
    type: str
    name: str
    size: int | None
    align: int
    init: tuple[Imm | Float | Symbol | Masked, ...] = ()
    linkage: str = ""
    """extern, visible, weak, common or empty (local to the module)."""
    managed: bool = False
    unsupported: str = ""
    """Set for .texref, .samplerref, .surfref: names the directive."""


@dataclass(frozen=True, slots=True)
class Masked:
    """0xFF00(symbol): one byte of an address; ``shift`` in bytes."""

    symbol: Symbol
    shift: int


Statement = Instruction | Call | Label | BranchTargets | Prototype | Registers | Scope | Variable


@dataclass(frozen=True, slots=True)
class Function:
    """An .entry (kernel) or .func. ``body`` None: a declaration only."""

    kind: str
    name: str
    returns: tuple[Variable, ...]
    params: tuple[Variable, ...]
    body: tuple[Statement, ...] | None
    linkage: str = ""
    max_threads: tuple[int, ...] = ()
    """.maxntid or .reqntid, as written."""
    min_blocks: int = 0
    cluster: tuple[int, ...] = ()
    """.reqnctapercluster or .explicitcluster's size; empty when none is asked for."""
    loc: Loc | None = None
    """The first .loc of the body."""


@dataclass(slots=True)
class Module:
    version: str
    """Of the PTX language, for example 9.0."""
    target: str
    """For example sm_90 or sm_90a."""
    files: dict[int, str] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    """By name; a definition replaces a declaration."""
    aliases: dict[str, str] = field(default_factory=dict)
