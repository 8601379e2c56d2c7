"""Whose file is it? Tells the candidate's file, the task's files and the system's apart by the names that tools print.

Tools print a file in many disguises: "driver.cu", "/tmp/tmpxft_0000_00000000-11_driver.o", "driver.cudafe1.cpp",
"libdriver.a(driver.cu.o)". ``stem`` undoes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, Literal

from engine.verdict.rule import Test
from engine.verdict.toolkit_names import is_toolkit_header, is_toolkit_library, is_toolkit_symbol

Owner = Literal["solution", "harness", "system", "unknown"]

_NVCC_TEMPORARY: Final = re.compile(r"^tmpxft_[0-9a-f]+_[0-9a-f]+-\d+_")
_ARCHIVE_MEMBER: Final = re.compile(r"^.*\(([^()]+)\)$")
_SUFFIXES: Final = re.compile(
    r"(?:\.cudafe1|\.compute_\w+|\.(?:cu|cuda|cpp|cc|cxx|c|cuh|h|hh|hpp|hxx|inl|ii|ptx|cubin|fatbin|gpu|stub|o|obj|lo|a|so|py|sm_\w+))+$"
)
_SYSTEM: Final = re.compile(
    r"^(?:/usr/|/lib|/opt/|\(\.text)|(?:^|/)(?:S?crt[1in]|crtbegin\w*|crtend\w*|gcrt1)\.o$|/(?:site|dist)-packages/|\.so(?:\.\d+)*$|/cuda[\w.-]*/"
)
_OBJECT: Final = re.compile(r"\.(?:o|obj|lo|a|cudafe1\.\w+|ptx|cubin|stub\.c|gpu)\)?$|^tmpxft_")
_HEADER: Final = re.compile(r"\.(?:h|hh|hpp|hxx|cuh|inl|inc)$")

CONVENTIONAL_HARNESS: Final = re.compile(
    r"^(?:(?:test|tests|driver|harness|bench|benchmark|checker|verify|verifier|runner)(?:_\w+)?|\w+_(?:test|driver|harness|bench))$"
)
"""Names that a task's own program usually has. Used only when the evidence lists no harness files: a foreign record may not."""


def base_name(path: str) -> str:
    """The last part of a path, without what nvcc and archives put around it."""
    member = _ARCHIVE_MEMBER.match(path)
    name = (member[1] if member else path).replace("\\", "/").rsplit("/", 1)[-1]
    return _NVCC_TEMPORARY.sub("", name)


def stem(path: str) -> str:
    """The name that a source and everything compiled from it share: "driver" for driver.cu, driver.o, driver.cudafe1.cpp."""
    return _SUFFIXES.sub("", base_name(path))


def _parts(path: str) -> list[str]:
    folders = path.strip().replace("\\", "/").split("/")[:-1]
    return [part for part in folders if part not in ("", ".")] + [base_name(path)]


def _common_end(one: list[str], other: list[str]) -> int:
    """How many last parts two paths share."""
    count = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b:
            break
        count += 1
    return count


_REFERENCE: Final = re.compile(
    r"^(?:reference|ref|golden|oracle|baseline)(?:_\w+)?$|^\w+_(?:reference|ref|golden|oracle)$"
)
_BUILD_FILE: Final = re.compile(r"^(?:GNUm|[Mm])akefile$|^CMakeLists\.txt$|\.(?:mk|mak|cmake|ninja)$|^setup\.py$")
_MAINS: Final = frozenset({"main", "_main", "WinMain", "main()", "main(int, char**)"})

_ASK: Final[Mapping[str, Callable[[str], bool]]] = {
    "main": lambda name: name in _MAINS,
    "reference": lambda path: _REFERENCE.match(stem(path)) is not None,
    "build_file": lambda path: _BUILD_FILE.search(base_name(path)) is not None,
    "toolkit_header": is_toolkit_header,
    "toolkit_library": is_toolkit_library,
    "toolkit_symbol": is_toolkit_symbol,
}
"""The questions that the name alone answers."""


class Files:
    """Which names belong to whom, for one piece of evidence."""

    def __init__(self, solution_file: str, harness_files: list[str]) -> None:
        self.solution = base_name(solution_file)
        self._solution_path = _parts(solution_file)
        self._solution_stem = stem(solution_file)
        self._harness_paths: dict[str, list[list[str]]] = {}
        for path in harness_files:
            if _parts(path) != self._solution_path:
                self._harness_paths.setdefault(base_name(path), []).append(_parts(path))
        # Headers leave no objects: an object called like both solution.cu and solution.h came from solution.cu.
        self._harness_stems = {stem(name) for name in self._harness_paths if not _HEADER.search(name)} - {
            self._solution_stem
        }

    def owner(self, path: str) -> Owner:
        """Who wrote the file, or the source of the object, that a tool calls ``path``."""
        path = path.strip()
        name = base_name(path)
        if not name:
            return "unknown"
        theirs = max((_common_end(_parts(path), known) for known in self._harness_paths.get(name, [])), default=0)
        ours = _common_end(_parts(path), self._solution_path) if name == self.solution else 0
        if ours or theirs:
            # Two files of one name: the folders that the tool printed tell them apart, and a bare name is the solution's.
            return "harness" if theirs > ours else "solution"
        if _SYSTEM.search(path):
            return "system"
        if _OBJECT.search(path) or "." not in name:
            if stem(path) == self._solution_stem:
                return "solution"
            if stem(path) in self._harness_stems:
                return "harness"
        if not self._harness_paths and not _HEADER.search(name) and CONVENTIONAL_HARNESS.match(stem(path)):
            return "harness"
        return "unknown"

    def holds(self, test: Test, text: str | None) -> bool:
        """The answer to one of a rule's questions about a captured name. A name that was not captured answers no."""
        if text is None:
            return False
        if test == "harness" or test == "solution":
            return self.owner(text) == test
        ask = _ASK.get(test)
        if ask is None:
            raise ValueError(f"the test {test!r} is not about a name")
        return ask(text.strip())


_PLACE: Final = re.compile(r"(?P<path>[^\s`'\"()]+?\.(?:o|obj|a|cu|cpp|cc|c|cxx)(?:\([^()]+\))?)\s?:")
_IN: Final = re.compile(r"' in '(?P<path>[^']+)'")
_REFERENCED: Final = re.compile(
    r">>>\s+(?:referenced by|defined (?:at|in)) (?P<path>[^\s:]+)|>>>\s+(?P<object>[^\s:]+\.(?:o|a)(?:\([^()]+\))?)"
)
_FIRST_DEFINED: Final = re.compile(r";\s*(?P<path>[^;\s]+?\.(?:o|obj|a)(?:\([^()]+\))?):.*first defined here")


def referrers(line: str, before: list[str], after: list[str]) -> list[str]:
    """The objects or sources on whose behalf a linker complains in ``line``, most telling first.

    GNU ld names the source on the line itself when it knows it, and the object on the line "x.o: in function `f':" above,
    which may head several complaints; nvlink says "in 'x.o'"; lld and mold list ">>> referenced by" below.
    """
    found = [match["path"] for match in _IN.finditer(line)]
    found += [match["path"] for match in _FIRST_DEFINED.finditer(line)]
    found += [match["path"] for match in _PLACE.finditer(line)]
    # "file.cc:(.text+0x1): undefined reference" already says who; an anonymous "(.text+0x1)" or "/tmp/ccX.o" does not.
    if not found or all(re.search(r"(?:^|/)cc\w{6}\.o", path) for path in found):
        for previous in reversed(before):
            match = re.search(r"(?P<path>[^\s`'\"]+?\.(?:o|obj|a)(?:\([^()]+\))?): [Ii]n function", previous)
            if match:
                found.append(match["path"])
                break
    if "undefined symbol" in line or "duplicate symbol" in line:
        for following in after:
            match = _REFERENCED.match(following.strip())
            if not match:
                break
            found.append(match["path"] or match["object"])
    return found
