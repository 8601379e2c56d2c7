"""CUDA source as plain text: names without their templates, and the words of macros and of what did not parse."""

from __future__ import annotations

import re
from bisect import bisect_left
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
_PRAGMA: Final = re.compile(r'_Pragma\s*\(\s*"((?:[^"\\\n]|\\.)*)"')
_ASM: Final = re.compile(r"\b(?:asm|__asm__|__asm)\b(?:\s+\w+){0,3}\s*\(")
_IN_TEXT: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("launch", re.compile(r"(?<![\w:])([A-Za-z_][\w:]*+\s*+(?:<[^<>]*+>\s*+)?<<<[^>]*)(?:>>>|$)")),
    ("kernel", re.compile(r"\b(__global__)\b")),
    ("shared", re.compile(r"\b(__shared__)\b")),
    ("constant", re.compile(r"\b(__constant__)\b")),
    ("word", re.compile(r"\b(__restrict(?:__)?|__launch_bounds__|__cluster_dims__|[A-Z_]*+(?<=UNROLL))\b")),
    ("pointer", re.compile(r"\b([A-Za-z_]\w*+)\s*+(?:const\s*+)?\*")),
    ("call", re.compile(r"(?<![\w:.])([A-Za-z_][\w:.]*+)\s*+\(")),
)
"""The first group is what was found. Nothing here may search a long text twice: a source can be made to be slow."""


def bare(text: str) -> str:
    """A name without template arguments and blanks: "ns::k< 3 >" becomes "ns::k"."""
    if text.isidentifier():
        return text
    text = text.removeprefix("typename ").removeprefix("(void*)").removeprefix("(const void*)").lstrip("&")
    for _ in range(_DEEPEST):
        shorter = _TEMPLATE_ARGUMENTS.sub("", text)
        if shorter == text:
            break
        text = shorter
    return re.sub(r"\s+|\btemplate\b|\(.*?\)", "", text)


def words_of_text(text: str) -> Iterator[tuple[Kind, str, int]]:
    """What code shows that no parser has read: kind, text, and lines after the first. A launch is "kernel<<<grid, block", cut before its end."""
    text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    if _ASM.search(text):
        yield "asm", " ".join(_STRING.findall(text)), 0
    if _PRAGMA.search(text):
        yield from (("pragma", words, 0) for words in _PRAGMA.findall(text))
    code = _STRING.sub('""', text)
    ends = [place for place, character in enumerate(code) if character == "\n"]
    for kind, pattern in _IN_TEXT:
        for found in pattern.finditer(code):
            yield kind, found[1], bisect_left(ends, found.start())


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


_MOST_THREADS: Final = 1 << 20
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


def extent(text: str, values: dict[str, set[str]], depth: int = 4) -> int:
    """The number that an extent of a launch stands for, 0 where the text does not tell: "256", "dim3(32, 8)", "kThreads"."""
    text = re.sub(r"^(?:const\s+)?dim3\s*(?=[({])", "", text.strip()).strip()
    while len(text) > 1 and text[0] in "({" and text[-1] in ")}":
        text = text[1:-1].strip()
    product = 1
    for part in re.split(r"[,*]", text):
        number = re.fullmatch(r"(\d+)(?:u|l|ul|z)*", part.strip(), re.IGNORECASE)
        if number is not None:
            product *= int(number[1])
            continue
        known = values.get(part.strip(), set()) if depth else set()
        found = {extent(value, values, depth - 1) for value in known}
        product *= min(found) if len(found) == 1 else 0
    return product if text and product <= _MOST_THREADS else 0
