"""CUDA source as plain text: names without their templates, and the words of macros and of what did not parse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from engine.verdict.structure_rules import Kind

LOOPS: Final = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})
"""The grammar's names of loops."""

THREAD_NUMBERS: Final = frozenset(
    {
        "threadIdx.x",
        "blockIdx.x*blockDim.x+threadIdx.x",
        "blockDim.x*blockIdx.x+threadIdx.x",
        "threadIdx.x+blockIdx.x*blockDim.x",
        "threadIdx.x+blockDim.x*blockIdx.x",
    }
)
"""What one thread alone has as 0, written without blanks."""

_TEMPLATE_ARGUMENTS: Final = re.compile(r"<[^<>]*>")
_DEEPEST: Final = 8
"""Templates within templates that ``bare`` undoes; deeper ones stay as they are."""

_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|$)|//[^\n]*", re.DOTALL)
_STRING: Final = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_LAUNCH: Final = re.compile(r"(?<![\w:])([A-Za-z_][\w:]*+)\s*+(?:<[^<>]*+>\s*+)?<<<([^>]*)(?:>>>|$)")
_PRAGMA: Final = re.compile(r'_Pragma\s*\(\s*"((?:[^"\\\n]|\\.)*)"')
_ASM: Final = re.compile(r"\b(?:asm|__asm__|__asm)\b(?:\s+\w+){0,3}\s*\(")
_POINTER: Final = re.compile(r"\b([A-Za-z_]\w*+)\s*+(?:const\s*+)?\*")
_CALL: Final = re.compile(r"(?<![\w:.])([A-Za-z_][\w:.]*+)\s*+\(")
_WORD: Final = re.compile(r"\b(?:__restrict(?:__)?|__launch_bounds__|__cluster_dims__|[A-Z_]*+(?<=UNROLL))\b")
_QUALIFIER: Final = re.compile(r"\b__(?:global|shared|constant)__")
_QUALIFIED: Final[dict[str, Kind]] = {"__global__": "kernel", "__shared__": "shared", "__constant__": "constant"}


def bare(text: str) -> str:
    """A name without template arguments and blanks: "ns::k< 3 >" becomes "ns::k"."""
    text = text.removeprefix("typename ").removeprefix("(void*)").removeprefix("(const void*)").lstrip("&")
    for _ in range(_DEEPEST):
        shorter = _TEMPLATE_ARGUMENTS.sub("", text)
        if shorter == text:
            break
        text = shorter
    return re.sub(r"\s+|\btemplate\b|\(.*?\)", "", text)


def words_of_text(text: str) -> Iterator[tuple[Kind, str, int]]:
    """What code shows that no parser has read: kind, text, and lines after the first. A launch is "kernel<<<grid, block"."""
    text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    if _ASM.search(text):
        yield "asm", " ".join(_STRING.findall(text)), 0
    for found in _PRAGMA.finditer(text):
        yield "pragma", found[1], _lines(text, found)
    code = _STRING.sub('""', text)
    for found in _LAUNCH.finditer(code):
        yield "launch", f"{found[1]}<<<{found[2]}", _lines(code, found)
    for found in _QUALIFIER.finditer(code):
        yield _QUALIFIED[found[0]], "", _lines(code, found)
    for found in _WORD.finditer(code):
        yield "word", found[0], _lines(code, found)
    for found in _POINTER.finditer(code):
        yield "pointer", found[1], _lines(code, found)
    for found in _CALL.finditer(code):
        yield "call", found[1], _lines(code, found)


def _lines(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.start())


def thread_test(condition: str, names: set[str]) -> tuple[Literal["one", "others", ""], str]:
    """Whom a condition without blanks lets through, one thread or all others, and the part of it that says so. ``names`` are
    what holds a thread's number."""
    if condition.startswith("(") and condition.endswith(")"):
        condition = condition[1:-1]
    alone = {f"{name}{test}" for name in names for test in ("==0", "==0u", "<1")} | {f"!{name}" for name in names}
    others = {f"{name}{test}" for name in names for test in ("!=0", "!=0u", ">0", ">=1", "")}
    if "||" not in condition:
        for part in condition.split("&&"):
            if part.strip("()") in alone:
                return "one", part.strip("()")
    if "&&" not in condition:
        for part in condition.split("||"):
            if part.strip("()") in others:
                return "others", part.strip("()")
    return "", ""


def launched_by(function: str, arguments: list[str]) -> tuple[str, list[str]]:
    """Kernel, then grid, block, shared memory and stream, of a call to a function that launches; empty where it hides them."""
    first = [*arguments, *[""] * 9]
    if function.startswith("cuLaunch") and not function.endswith("Ex"):
        grid, block = (f"dim3({', '.join(part)})" if part[0] else "" for part in (first[1:4], first[4:7]))
        return first[0], [grid, block, first[7], first[8]]
    if "Ex" in function:
        return first[1], ["", "", "", ""]
    if function.endswith("MultiDevice"):
        return "", ["", "", "", ""]
    return first[0], [first[1], first[2], first[4], first[5]]


_ONE: Final = re.compile(r"0*1(?:u|l|ul|z)*", re.IGNORECASE)


def is_one(text: str, values: dict[str, set[str]], depth: int = 4) -> bool:
    """Whether an extent of a launch is a single one: "1", "dim3(1, 1)", or a name that never stands for anything else."""
    text = re.sub(r"^(?:const\s+)?dim3\s*(?=[({])", "", text.strip()).strip()
    while len(text) > 1 and text[0] in "({" and text[-1] in ")}":
        text = text[1:-1].strip()
    parts = [part.strip() for part in text.split(",")]
    return bool(text) and all(
        _ONE.fullmatch(part) is not None
        or (depth > 0 and bool(values.get(part)) and all(is_one(value, values, depth - 1) for value in values[part]))
        for part in parts
    )
