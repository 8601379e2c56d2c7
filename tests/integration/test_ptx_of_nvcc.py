"""The parser on what the real nvcc writes. What it finds is counted a second time, by other means."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.devices.cpu.ptx.nodes import (
    Call,
    Instruction,
    Loc,
    Masked,
    Module,
    Prototype,
    Reg,
    Scope,
    Statement,
    Symbol,
)
from engine.devices.cpu.ptx.parser import parse
from engine.devices.toolkit import Toolkit

SOURCES = Path(__file__).parents[1] / "fixtures" / "ptx"

Compile = Callable[..., str]


@pytest.fixture(scope="module")
def ptx(toolkit: Toolkit, tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """The PTX of a fixture, built with the options; each is built once."""
    folder = tmp_path_factory.mktemp("ptx")
    known: dict[tuple[str, ...], str] = {}

    def compile_ptx(name: str, *options: str) -> str:
        if (name, *options) not in known:
            target = folder / "out.ptx"
            command = [toolkit.nvcc, "-std=c++17", "-arch=sm_90", *options, "-ptx", SOURCES / name, "-o", target]
            subprocess.run(command, timeout=600, check=True, capture_output=True)
            known[name, *options] = target.read_text()
        return known[name, *options]

    return compile_ptx


def statements(module: Module) -> Iterator[Statement]:
    def walk(body: tuple[Statement, ...]) -> Iterator[Statement]:
        for statement in body:
            if isinstance(statement, Scope):
                yield from walk(statement.body)
            else:
                yield statement

    for function in module.functions.values():
        yield from walk(function.body or ())


def parsed_mnemonics(module: Module) -> Counter[str]:
    found: Counter[str] = Counter()
    for statement in statements(module):
        if isinstance(statement, Instruction):
            found[statement.name] += 1
        elif isinstance(statement, Call):
            found["call"] += 1
    return found


def counted_mnemonics(text: str) -> Counter[str]:
    """By cutting the text at semicolons: what is left of a piece behind labels, guards and braces is a mnemonic or a directive."""
    text = re.sub(r'//.*|"[^"\n]*"|(?s:/\*.*?\*/)', "", text)
    text = re.sub(r"\.section\s+\S+\s*\{[^}]*\}", "", text)
    text = re.sub(
        r"^\s*\.(?:loc|file|version|target|address_size|maxntid|minnctapersm)\b.*", "", text, flags=re.MULTILINE
    )
    # initialisers and vectors hold no semicolons: their braces would hide where a body begins
    text = re.sub(r"\{[^;{}]*\}", "", text)
    found: Counter[str] = Counter()
    for piece in text.split(";"):
        statement = re.split(r"[{}]|:\s", piece)[-1].strip()
        statement = re.sub(r"^@!?\S+\s+", "", statement)
        word = re.match(r"([a-z]\S*)", statement)
        if word:
            found["call" if word[1].startswith("call") else word[1]] += 1
    return found


FIXTURES = [
    ("cooperative.cu", "-lineinfo"),
    ("cooperative.cu", "-G"),
    ("inline_asm.cu", "-lineinfo"),
    ("matrices.cu", "-lineinfo"),
    ("matrices.cu", "-G"),
    pytest.param("sort.cu", "-lineinfo", marks=pytest.mark.slow),
    pytest.param("sort.cu", "-G", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "option"), FIXTURES)
def test_every_instruction_is_parsed(ptx: Compile, name: str, option: str):
    text = ptx(name, option)
    module = parse(text)
    assert parsed_mnemonics(module) == counted_mnemonics(text)
    kernels = re.findall(r"^\.(?:visible|weak) \.entry (\w+)", text, re.MULTILINE)
    assert [function.name for function in module.functions.values() if function.kind == "entry"] == kernels


@pytest.mark.parametrize(("name", "option"), FIXTURES)
def test_ordinals_count_and_lines_are_where_the_instruction_stands(ptx: Compile, name: str, option: str):
    text = ptx(name, option)
    lines = text.split("\n")
    module = parse(text)
    for function in module.functions.values():
        only = Module("", "", functions={function.name: function})
        coded = [one for one in statements(only) if isinstance(one, Instruction | Call)]
        assert [one.ordinal for one in coded] == list(range(len(coded)))
        for one in coded:
            assert (one.name if isinstance(one, Instruction) else "call") in lines[one.line - 1]


@pytest.mark.parametrize("name", ["hand_written.ptx", "hopper.ptx"])
def test_ptx_that_ptxas_takes_is_parsed(toolkit: Toolkit, tmp_path: Path, name: str):
    ptxas = toolkit.program("ptxas")
    assert ptxas is not None
    command = [ptxas, "-arch", "sm_90a", SOURCES / name, "-o", tmp_path / "out.cubin"]
    subprocess.run(command, timeout=60, check=True, capture_output=True)
    text = (SOURCES / name).read_text()
    assert parsed_mnemonics(parse(text)) == counted_mnemonics(text)


def test_tables_of_pointers_and_packed_addresses_keep_their_symbols(ptx: Compile):
    variables = parse(ptx("cooperative.cu", "-lineinfo")).variables
    assert variables["functions"].init == (Symbol("_Z9incrementi"), Symbol("_Z5twicei"))
    assert variables["inside"].init == (Symbol("grid_of_numbers", 24, generic=True),)
    letter, *pointer = variables["packed"].init
    assert letter != pointer[0]
    assert pointer == [Masked(Symbol("grid_of_numbers", 4, generic=True), shift) for shift in range(8)]
    assert variables["managed_number"].managed
    assert (variables["staged"].linkage, variables["staged"].size) == ("extern", None)
    assert variables["coefficients"].space == "const"


def test_launch_bounds_prototypes_and_files_are_kept(ptx: Compile):
    module = parse(ptx("cooperative.cu", "-lineinfo"))
    kernel = next(function for name, function in module.functions.items() if "everything" in name)
    assert (kernel.max_threads, kernel.min_blocks) == ((256, 1, 1), 2)
    assert str(SOURCES / "cooperative.cu") in module.files.values()
    indirect = [one for one in statements(module) if isinstance(one, Call) and isinstance(one.target, Reg)]
    (prototype,) = [one for one in statements(module) if isinstance(one, Prototype)]
    assert {call.prototype for call in indirect} == {prototype.name}
    assert [variable.type for variable in (*prototype.returns, *prototype.params)] == ["b32", "b32"]


def chain(loc: Loc | None) -> list[tuple[str, int]]:
    found = []
    while loc is not None:
        found.append((LINES[loc.line - 1].strip(), loc.line))
        loc = loc.inlined_at
    return found


LINES = (SOURCES / "inline_asm.cu").read_text().split("\n")


def test_inlined_calls_lead_back_to_the_kernel_through_every_level(ptx: Compile):
    module = parse(ptx("inline_asm.cu", "-lineinfo"))
    kernel = module.functions["_Z7inlinedPf"]
    loads = [one for one in kernel.body or () if isinstance(one, Instruction) and one.name == "ld.global.f32"]
    outer = {"leaf": "middle(p, 1)", "sum": "sum<3>(p)"}
    depths: Counter[tuple[str, int]] = Counter()
    for load in loads:
        places = chain(load.loc)
        name = "leaf" if "leaf" in places[0][0] else "sum"
        assert outer[name] in places[-1][0]
        depths[name, len(places)] += 1
    # the compiler loads p[1] ... p[3] once, for both: in leaf, called by middle, called by the kernel. p[0] is left for sum<0>
    assert depths == {("leaf", 3): 3, ("sum", 5): 1}
    sums = [chain(one.loc) for one in kernel.body or () if isinstance(one, Instruction) and one.name == "add.f32"]
    in_sum = [len(places) for places in sums if "sum" in places[0][0] or "p[n]" in places[0][0]]
    assert in_sum == [4, 3, 2], "recursion goes back level by level, though all levels have one position"


def test_registers_of_inline_asm_scopes_are_registers(ptx: Compile):
    module = parse(ptx("inline_asm.cu", "-lineinfo"))
    moves = [one for one in statements(module) if isinstance(one, Instruction) and one.name in ("mov.b32", "sub.s32")]
    names = {operand.name for one in moves for operand in one.operands if isinstance(operand, Reg)}
    assert {"left", "step1"} <= names
    assert not any(isinstance(operand, Symbol) for one in moves for operand in one.operands)
