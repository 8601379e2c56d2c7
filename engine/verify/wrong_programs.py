"""Programs that must not pass: they have the interface that a task's header declares, and compute nothing.

The header beside the driver says what a solution must define (``cudaError_t softmax_rows(const float* x, ...);``). From
that, whole files can be written that build and link, whatever the task is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.task import Task

_HEADERS = (".h", ".cuh", ".hpp")
_SOURCES = (".cu", ".cpp", ".cc", ".cxx")

_NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", re.DOTALL | re.MULTILINE)
_LINKAGE = re.compile(r'\bextern\s*"C"\s*')
_TYPES = re.compile(r"\b(?:struct|class|union|enum)\b[^;{}()]*\{")
_NAMESPACE = re.compile(r"\bnamespace\s+([\w:]+)\s*\{")
_FUNCTION = re.compile(r"^(?P<returns>[\w:]+(?:\s+[\w:]+)*[\s*&]+)(?P<name>\w+)\s*\((?P<parameters>.*)\)$", re.DOTALL)
_NO_FUNCTION = {"typedef", "using", "static_assert", "inline", "static", "template", "constexpr", "friend", "return"}
_DEFAULT = re.compile(r"\s*=\s*(?:\{[^{}]*\}|[^,{}()]+|\([^()]*\))(?=,|$)")


@dataclass(frozen=True)
class Function:
    """A function that a header declares. ``name`` is qualified with its namespaces."""

    returns: str
    name: str
    parameters: str

    def definition(self, statements: str = "") -> str:
        """One that does ``statements`` and reports success."""
        end = {"void": "", "cudaError_t": " return cudaSuccess;"}.get(self.returns, " return {};")
        return f"{self.returns} {self.name}({self.parameters}) {{{statements}{end} }}\n"


def declared_functions(header: str) -> list[Function]:
    """The functions that a C++ header declares and does not define: plain ones, no templates, at namespace level."""
    text = _LINKAGE.sub(" ", _NOT_CODE.sub(" ", header))
    return list(_declarations(text, ""))


def _declarations(text: str, scope: str) -> Iterator[Function]:
    at = begin = 0
    while at < len(text):
        sign = text[at]
        if sign == "{":
            end = _closing(text, at)
            opening = text[begin : at + 1].strip()
            if named := _NAMESPACE.fullmatch(opening):
                yield from _declarations(text[at + 1 : end], f"{scope}{named[1]}::")
            elif opening == "{":  # what is left of extern "C" {
                yield from _declarations(text[at + 1 : end], scope)
            at = end + 1
            if not _TYPES.fullmatch(opening):
                begin = at  # a body ends what stood before it; a type still wants its semicolon
            continue
        if sign == ";":
            if (found := _function(text[begin:at], scope)) is not None:
                yield found
            begin = at + 1
        at += 1


def _function(text: str, scope: str) -> Function | None:
    match = _FUNCTION.match(" ".join(text.split()))
    if match is None or _NO_FUNCTION & set(match["returns"].split()) or "{" in text:
        return None
    return Function(match["returns"].strip(), scope + match["name"], _DEFAULT.sub("", match["parameters"]))


def _closing(text: str, opening: int) -> int:
    depth = 0
    for at in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)


@dataclass(frozen=True)
class Interface:
    """What a solution must define, and the headers that declare it."""

    headers: tuple[str, ...]
    functions: tuple[Function, ...]

    def file(self, statements: str = "", more: str = "") -> bytes:
        """A whole solution whose functions do ``statements``."""
        lines = ["#include <cstdio>\n#include <unistd.h>\n", *(f'#include "{name}"\n' for name in self.headers), more]
        return "".join([*lines, *(function.definition(statements) for function in self.functions)]).encode()


def interface(task: Task) -> Interface | None:
    """The interface of a task with driver and checker; None where no header of its own declares one."""
    if task.spec.check is None or not task.spec.solution_file.endswith(_SOURCES):
        return None
    headers, functions = [], []
    for name, path in sorted(task.harness_files.items()):
        if name in task.spec.shared_files or Path(name).suffix not in _HEADERS:
            continue
        found = declared_functions(path.read_text("utf-8", "replace"))
        if found:
            headers.append(name)
            functions += found
    return Interface(tuple(headers), tuple(functions)) if functions else None


_EXIT = "namespace { struct Leave { Leave() { _exit(0); } } leave; }\n"


def wrong_programs(task: Task, printed: str) -> dict[str, bytes]:
    """Solutions that must be rejected, by name: ``empty`` does nothing and reports success, ``exit`` ends the process with 0
    before main begins, ``print`` writes what the reference's test printed, and PASS. Empty without a known interface. A
    KernelBench-style solution has one always: ModelNew."""
    if task.spec.backend == "kernelbench":
        return _wrong_modules(printed)
    known = interface(task)
    if known is None:
        return {}
    said = "".join(
        f" std::puts({_literal(line)});" for line in (*printed.splitlines()[:20], "PASS", "All tests passed")
    )
    return {"empty": known.file(), "exit": known.file(more=_EXIT), "print": known.file(f"{said} std::fflush(stdout);")}


def _literal(text: str) -> str:
    """A C string; what means something in one, and all beyond ASCII, becomes octal escapes."""
    plain = (
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in text[:200].encode()
    )
    return f'"{"".join(plain)}"'


_MODULE = """\
import torch
import torch.nn as nn
{before}

class ModelNew(nn.Module):
    def __init__(self, *given):
        super().__init__()

    def forward(self, *inputs):
{statements}        return torch.empty_like(inputs[0])
"""


def _wrong_modules(printed: str) -> dict[str, bytes]:
    """The same three as PyTorch modules."""
    lines = [*printed.splitlines()[:20], "PASS", "All tests passed"]
    said = "".join(f"        print({line[:200]!a}, flush=True)\n" for line in lines)
    leaves = "torch.os._exit(0)\n"
    programs = {"empty": ("", ""), "exit": (leaves, ""), "print": ("", said)}
    return {name: _MODULE.format(before=before, statements=more).encode() for name, (before, more) in programs.items()}
