"""Small failing programs as users have them: a folder, one file that is wrong, a command that builds and one that tests.

They are host programs, which build in a fraction of a second; what is under test is the way from a folder to a task.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.devices.base import Gpu
from engine.devices.toolkit import Toolkit

SUM = """\
#include "sum.h"
// adds up
int sum(const int* x, int n) {
  int total = 0;
  for (int i = 0; i < n; ++i) total += x[i];
  return total;
}
"""
HEADER = "#pragma once\nint sum(const int* x, int n);\n"
MAIN = """\
#include "sum.h"
#include <cstdio>
int main() {
  int x[4] = {1, 2, 3, 4};
  std::printf("sum %d\\n", sum(x, 4));
  return sum(x, 4) == 10 ? 0 : 1;
}
"""
WRONG = SUM.replace("i = 0;", "i = 1;")
KERNEL = "#include <cstdio>\n__global__ void k(int* x) { *x = undeclared; }\nint main() { return 0; }\n"
TIMED = '#include <cstdio>\nint main() { std::puts("took %s ms"); }\n'


@dataclass(frozen=True)
class Program:
    """``files`` by name; ``words`` are fields of Wish beside folder, file, build and test."""

    files: dict[str, str]
    file: str
    build: str
    test: str
    category: str
    words: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)
        return folder


BUILD = "g++ -o prog main.cpp sum.cpp"
PARTS = {"main.cpp": MAIN, "sum.h": HEADER}

SHAPES = {
    "single file": Program({"k.cu": KERNEL}, "k.cu", "nvcc -o prog k.cu", "./prog", "buildability"),
    "makefile": Program(
        {**PARTS, "sum.cpp": WRONG, "Makefile": "prog: main.cpp sum.cpp\n\tg++ -o $@ $^\n"},
        *("sum.cpp", "make -s prog", "./prog", "functional_correctness"),
    ),
    "cmake": Program(
        {
            **{f"src/{name}": text for name, text in PARTS.items()},
            "src/sum.cpp": WRONG,
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.18)\nproject(p LANGUAGES CXX)\nadd_executable(prog src/main.cpp src/sum.cpp)\n",
        },
        *("src/sum.cpp", "cmake -S . -B build && cmake --build build", "build/prog", "functional_correctness"),
    ),
    "python test": Program(
        {
            **PARTS,
            "sum.cpp": WRONG,
            "test.py": "import subprocess\nout = subprocess.run(['./prog'], capture_output=True, text=True).stdout\nassert out == 'sum 10\\n', out\n",
        },
        *("sum.cpp", BUILD, "python3 test.py", "functional_correctness"),
    ),
    "wrong output, right exit code": Program(
        {"main.cpp": MAIN.replace("return sum(x, 4) == 10 ? 0 : 1;", "return 0;"), "sum.h": HEADER, "sum.cpp": WRONG},
        *("sum.cpp", BUILD, "./prog", "functional_correctness", {"pass_regex": "^sum 10$"}),
    ),
    "hang": Program(
        {**PARTS, "sum.cpp": SUM.replace("int total = 0;", "int total = 0; for (volatile int go = 1; go;) {}")},
        *("sum.cpp", BUILD, "./prog", "timeout", {"test_seconds": 1.0}),
    ),
    "crash": Program(
        {**PARTS, "sum.cpp": SUM.replace("int total = 0;", "int total = *(volatile int*)nullptr;")},
        *("sum.cpp", BUILD, "./prog", "illegal_memory_access"),
    ),
    "slow": Program(
        {"main.cpp": TIMED % "5.0", "fast.txt": TIMED % "1.0"},
        *("main.cpp", "g++ -o prog main.cpp", "./prog", "passed"),
        {"timing_regex": "took ([0-9.]+) ms", "reference": Path("fast.txt"), "exclude": ("fast.txt",)},
    ),
    "header": Program(
        {"main.cpp": MAIN, "sum.h": "#pragma once\ninline int sum(const int* x, int n) { return x[0] + n }\n"},
        *("sum.h", "g++ -o prog main.cpp", "./prog", "buildability"),
    ),
    "several files with a reference": Program(
        {"lib/sum.cpp": WRONG, "lib/sum.h": HEADER, "app/main.cpp": MAIN, "good.cpp": SUM},
        *("lib/sum.cpp", "g++ -Ilib -o prog app/main.cpp lib/sum.cpp", "./prog", "functional_correctness"),
        {"reference": Path("good.cpp"), "exclude": ("good.cpp",)},
    ),
}


@dataclass(frozen=True)
class Counting(Gpu):
    """A device that tells each program the how many-th it is, in RUN: the way to a test that is flaky every time."""

    runs: Iterator[int] = field(default_factory=itertools.count)

    def environment(self, toolkit: Toolkit, folder: Path, seconds: float) -> dict[str, str]:
        return {"RUN": str(next(self.runs))}


FLAKY = "test $RUN = 0 && echo 'error: one' && exit 3; kill -SEGV $$"
"""A test that ends in another way when it is run again, on a Counting device."""
