"""The CUDA in a Python file, where load_inline compiles it from strings (the tasks of KernelBench)."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Final

_CUDA: Final = re.compile(r"__global__|__device__|<<<|#include")
_TRIPLE: Final = re.compile(r'"""(.*?)"""|\'\'\'(.*?)\'\'\'', re.DOTALL)
"""What is left to look for in a file that is no Python any more."""


def cuda_in_python(code: bytes) -> bytes:
    """The strings of a Python file that hold CUDA, each on its own lines, all else empty: lines keep their numbers."""
    text = code.decode("utf-8", "replace")
    lines: list[str] = [""] * (text.count("\n") + 1)
    for first, string in _strings(text):
        if _CUDA.search(string):
            for offset, line in enumerate(string.split("\n")):
                # A string with "\n" in its source has more lines than the file: the rest goes to the last one.
                lines[min(first + offset, len(lines)) - 1] += f" {line}"
    return "\n".join(lines).encode("utf-8", "replace")


def _strings(text: str) -> list[tuple[int, str]]:
    """Every string with the line, from 1, on which it begins."""
    try:
        with warnings.catch_warnings():
            # Python says of "\d" that it is odd, on the standard error of whoever reads: a screen may be there.
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [
            (text.count("\n", 0, found.start()) + 1, found[1] or found[2] or "") for found in _TRIPLE.finditer(text)
        ]
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [(node.lineno, node.value) for node in nodes if isinstance(node.value, str)]
