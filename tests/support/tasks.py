"""Small real tasks: a C++ function, a driver that calls it, a checker in Python. They build in a fraction of a second."""

from __future__ import annotations

import json
from pathlib import Path

from engine.corpora.native import read_native
from engine.task import Task
from engine.text import slug

SOLUTION = """\
#include <cstddef>
// adds up n floats
float total(const float* x, std::size_t n) {
  float sum = 0.0f;
  for (std::size_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}
"""

BROKEN = SOLUTION.replace("float sum = 0.0f;", "float sum = 0.0f")
WRONG = SOLUTION.replace("i = 0;", "i = 1;")
CRASH = SOLUTION.replace("float sum = 0.0f;", "float sum = *(volatile float*)nullptr;")
HANG = SOLUTION.replace("float sum = 0.0f;", "float sum = 0.0f; for (volatile int k = 1; k;) {}")

DRIVER = """\
#include <cstddef>
#include <cstdio>
#include <vector>
float total(const float* x, std::size_t n);
int main() {
  std::vector<float> x(1024);
  std::FILE* in = std::fopen("in/x.f32", "rb");
  if (!in || std::fread(x.data(), 4, x.size(), in) != x.size()) return 3;
  std::fclose(in);
  float y = total(x.data(), x.size());
  std::FILE* out = std::fopen("out/y.f32", "wb");
  std::fwrite(&y, 4, 1, out);
  std::fclose(out);
  std::printf("Kernel time: %.4f ms\\n", 0.5);
  return 0;
}
"""

CHECKER = """\
import json, os, sys
import numpy as np

if sys.argv[1] == "generate":
    rng = np.random.default_rng(int(os.environ["BEAVER_SEED"]))
    rng.uniform(1, 2, 1024).astype("<f4").tofile("in/x.f32")
else:
    want = float(np.fromfile("in/x.f32", "<f4").astype("f8").sum())
    path = "out/y.f32"
    got = np.fromfile(path, "<f4") if os.path.exists(path) else np.array([])
    error = abs(float(got[0]) - want) if got.size == 1 else float("inf")
    passed = bool(error < 0.05)
    result = {"passed": passed, "output": "y", "shape": [1], "dtype": "float32", "tolerance": {"atol": 0.05}}
    if got.size == 1:
        result |= {"max_abs": error, "mean_abs": error, "mismatches": [] if passed else [{"index": [0], "got": float(got[0]), "want": want}]}
    result["message"] = "y matches" if passed else "mismatch: y differs"
    json.dump(result, open("result.json", "w"))
    print(result["message"])
    sys.exit(0 if passed else 1)
"""

SPEC = {
    "task_id": "sum",
    "source": "tests",
    "backend": "make",
    "solution_file": "solution.cpp",
    "build_cmd": "g++ -O1 -o driver driver.cpp solution.cpp",
    "check": {"generate": "python3 check.py generate", "run": "./driver", "compare": "python3 check.py compare"},
    "start_bucket": "compile_error",
    "timeouts": {"cuda": {"build": 60, "test": 10}},
}


def write_task(
    corpus: Path,
    name: str = "sum",
    *,
    broken: str = BROKEN,
    error_log: str = "solution.cpp:4:19: error: expected ',' or ';' before 'for'\n",
    driver: str = DRIVER,
    files: dict[str, str] | None = None,
    answers: dict[str, list[str]] | None = None,
    spec: dict[str, object] | None = None,
) -> Task:
    """A task folder ``corpus/name``; ``spec`` overrides fields of input.json (None removes one), ``files`` lie beside
    the driver."""
    folder = corpus / slug(name)
    for part in ("testbench", "checker"):
        (folder / part).mkdir(parents=True)
    fields = {**SPEC, "task_id": name, **(spec or {})}
    (folder / "input.json").write_text(json.dumps({key: value for key, value in fields.items() if value is not None}))
    (folder / "prompt.txt").write_text("Write float total(const float* x, std::size_t n): the sum of n floats.\n")
    (folder / "broken.cpp").write_text(broken)
    (folder / "reference.cpp").write_text(SOLUTION)
    (folder / "error.log").write_text(error_log)
    (folder / "testbench" / "driver.cpp").write_text(driver)
    for place, text in (files or {}).items():
        (folder / "testbench" / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / "testbench" / place).write_text(text)
    (folder / "checker" / "check.py").write_text(CHECKER)
    for script, sources in (answers or {}).items():
        place = folder / "answers" / script
        place.mkdir(parents=True)
        for number, source in enumerate(sources, 1):
            (place / f"{number}.cpp").write_text(source)
    return read_native(folder)
