"""What can be said about a candidate before anything is built.

A finding is a line "code: what (where)". Codes: missing_file, anti_cheat, path (the candidate's or the task's fault) and
min_sm, arch_exact, requires (what this machine lacks).
"""

from __future__ import annotations

import ctypes.util
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from engine.devices.base import Device
from engine.devices.toolkit import Toolkit
from engine.harness.pythons import VARIABLE, TaskPython, task_python
from engine.task import Task

_LACKS = ("min_sm", "arch_exact", "requires")

_ON_GPU = ("kernelbench", "defpy")
"""Backends whose tests give PyTorch tensors of a GPU to the solution."""

_SANITIZER = "program:compute-sanitizer"

_DYNAMIC_LOADING = ("dlopen", "dlsym", "dlvsym", "dlmopen")
"""Where a library is forbidden, so are the ways to reach it by a name put together at run time."""

_LEXEMES = re.compile(
    r"""
    (?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
  | (?P<raw>R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<name>[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*(?:::)?)
  | (?P<paste>\#\#)
  | (?P<line>\n)
    """,
    re.VERBOSE | re.DOTALL,
)


def preflight(task: Task, code: bytes, device: Device, toolkit: Toolkit | None) -> list[str]:
    """All findings for a candidate on a device; an empty list lets the build begin."""
    return [*_machine(task, device, toolkit), *_solution(task, code)]


def machine_lacks(findings: list[str]) -> str | None:
    """The first finding that says what this machine lacks, None when there is none: the candidate's faults are no lack."""
    return next((finding for finding in findings if finding.partition(":")[0] in _LACKS), None)


def _machine(task: Task, device: Device, toolkit: Toolkit | None) -> Iterator[str]:
    spec = task.spec
    if device.sm and spec.min_sm > device.sm:
        yield f"min_sm: the task needs sm_{spec.min_sm}, {device.name} is sm_{device.sm}"
    if device.sm and spec.arch_exact and not re.fullmatch(rf"sm_{device.sm}[af]?", spec.arch_exact):
        yield f"arch_exact: the task needs {spec.arch_exact}, {device.name} is sm_{device.sm}"
    if device.kind == "cpu" and spec.backend in _ON_GPU and "module:torch" in spec.requires:
        yield "requires: module:torch on a GPU: PyTorch's kernels are machine code"
        return
    python = task_python(task)
    for need in spec.requires:
        kind, _, name = need.partition(":")
        if kind == "module":
            if name in python.lacks:
                yield f"requires: {need} in {python.program}; {VARIABLE} names a Python that has it"
            continue
        reason = device.missing_library(name) if kind == "lib" else None
        if reason is not None:
            yield f"requires: {need}: {reason}"
        elif need == _SANITIZER and toolkit is not None and device.sanitizer(toolkit, Path()) is not None:
            continue  # the device brings its own
        elif not _present(kind, name, toolkit, python):
            yield f"requires: {need}"


def _present(kind: str, name: str, toolkit: Toolkit | None, python: TaskPython) -> bool:
    roots = [toolkit.root] if toolkit else []
    if kind == "program":
        beside = any((folder / name).is_file() for folder in python.first)
        return beside or shutil.which(name) is not None or bool(toolkit and toolkit.program(name))
    if kind == "header":
        places = [*(root / "include" for root in roots), *(root / "targets/x86_64-linux/include" for root in roots)]
        return any((place / name).is_file() for place in (*places, Path("/usr/include"), Path("/usr/local/include")))
    if kind == "lib":
        patterns = [root.glob(f"lib*/lib{name}.so*") for root in roots]
        patterns += [root.glob(f"targets/*/lib/lib{name}.so*") for root in roots]
        return ctypes.util.find_library(name) is not None or any(next(found, None) for found in patterns)
    return False


def _solution(task: Task, code: bytes) -> Iterator[str]:
    if not code.strip():
        yield f"missing_file: {task.spec.solution_file} is empty"
        return
    if not task.spec.anti_cheat:
        return
    text = code.decode("utf-8", "replace")
    for entry, name, line in forbidden(text, task.spec.anti_cheat):
        yield f"anti_cheat: {name} ({task.spec.solution_file}:{line})" + (
            f", forbidden is {entry}" if entry != name else ""
        )


def forbidden(text: str, entries: list[str]) -> list[tuple[str, str, int]]:
    """Uses of forbidden names in C++ source, as (entry, name found, line), each once.

    An identifier counts when it contains an entry (cublasSgemm_v2 contains cublasSgemm); comments do not count. Definitions of
    macros do, so a name can hide only by token pasting: pieces that are pasted are joined and looked at too. In string
    literals a forbidden name counts where the source loads libraries by itself, or writes assembly; neighbours that the
    compiler joins are joined here.
    """
    names, strings, pasted = _lex(text)
    found: dict[tuple[str, str], int] = {}
    plain = {name for name, _ in names}
    loads = [(name, line) for name, line in names if name in _DYNAMIC_LOADING]
    for name, line in loads:
        found.setdefault((name, name), line)
    assembly = plain & {"asm", "__asm__", "__asm"} or (pasted and _pasteable("asm", plain))
    for name in _DYNAMIC_LOADING:
        if pasted and _pasteable(name, plain):
            found.setdefault((name, f"{name} put together with ##"), pasted)
        for literal, line in strings if assembly else ():
            if name in literal:
                found.setdefault((name, literal[:60]), line)
    for entry in entries:
        wanted = entry.strip()
        for name, line in names:
            if wanted in name or (wanted.endswith("::") and name.rstrip(":") == wanted.rstrip(":")):
                found.setdefault((wanted, name), line)
        if loads or assembly:
            for literal, line in strings:
                if wanted.rstrip(":") in literal:
                    found.setdefault((wanted, literal[:60]), line)
        if pasted and wanted.rstrip(":") not in {name for _, name in found} and _pasteable(wanted, plain):
            found.setdefault((wanted, f"{wanted} put together with ##"), pasted)
    return [(entry, name, line) for (entry, name), line in found.items()]


def _lex(text: str) -> tuple[list[tuple[str, int]], list[tuple[str, int]], int]:
    """Names and string literals with their lines, and the line of the first ``##`` (0 for none)."""
    spliced = re.sub(r"\\[ \t]*\r?\n", "", text)
    spliced = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), spliced)
    names: list[tuple[str, int]] = []
    strings: list[tuple[str, int]] = []
    pasted, line, end = 0, 1, -1
    for match in _LEXEMES.finditer(spliced):
        kind, token = match.lastgroup, match[0]
        if match["name"]:
            names.append((token, line))
        elif match["string"] or match["raw"]:
            if end >= 0 and not spliced[end : match.start()].strip():
                strings[-1] = (strings[-1][0][:-1] + token.partition('"')[2], strings[-1][1])
            else:
                strings.append((token, line))
        elif kind == "paste":
            pasted = pasted or line
        line += token.count("\n")
        if kind != "line":
            end = match.end() if match["string"] or match["raw"] else -1
    return names, strings, pasted


def _pasteable(wanted: str, names: set[str]) -> bool:
    """Whether the forbidden word can be put together from two or more names of the source."""
    pieces = {name for name in names if len(name) >= 2 and name in wanted}
    reachable = {0}
    for end in range(1, len(wanted) + 1):
        if any(wanted[start:end] in pieces for start in reachable):
            reachable.add(end)
    return len(wanted) in reachable
