"""The driver of a KernelBench-style task with a checker: python driver.py run | time, in the workspace.

Inputs come from in/, one file for each argument of Model.forward (x.f32, lengths.i32), in the shapes of problem.get_inputs();
the output goes to out/y.<element>. Judging is the checker's. ``time`` does what corpus/shared/beaver_driver.cuh does: with
BEAVER_CLOCK=1 the harness says on standard input what is timed and when, and holds the clock.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

sys.dont_write_bytecode = True

_SUFFIX = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "uint8": "u8"}
_BATCH_MS = 100.0
_BATCHES = 3


class Calls:
    """A model, its inputs in place, and batches of calls."""

    def __init__(self, torch: Any, model: Any, inputs: list[Any]) -> None:
        self.torch, self.model, self.inputs = torch, model, inputs
        self._true = [value.clone() for value in inputs]

    def call(self) -> Any:
        return self.model(*self.inputs)

    def disturb(self) -> None:
        """Other values of the same kind in the same place: a result kept from a timed call is not the right one. Integers stay,
        they may be indices."""
        for value in self.inputs:
            if value.is_floating_point():
                value.copy_(value.flatten().roll(1).reshape(value.shape))

    def restore(self) -> None:
        for value, true in zip(self.inputs, self._true, strict=True):
            value.copy_(true)

    def batch(self, calls: int, call: Callable[[], Any] | None = None) -> float:
        """Milliseconds of so many calls, by events around an idle device."""
        began, ended = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.torch.cuda.synchronize()
        began.record()
        for _ in range(calls):
            (call or self.call)()
        self.torch.cuda.synchronize()
        ended.record()
        ended.synchronize()
        return float(began.elapsed_time(ended))


def main(mode: str) -> int:
    torch: Any = importlib.import_module("torch")
    importlib.import_module("extensions").install(build=False)
    imported = importlib.import_module("build").imported
    problem, solution = imported(Path("problem.py")), imported(Path("solution.py"))
    inputs = _inputs(torch, problem)
    with torch.no_grad():
        calls = Calls(torch, solution.ModelNew(*problem.get_init_inputs()).cuda(), inputs)
        asked = os.environ.get("BEAVER_CLOCK") == "1"
        if mode == "time":
            calls.disturb()
            if asked:
                _obey_clock(calls)
            else:
                _measure_alone(calls)
            calls.restore()
        result = calls.call()
        torch.cuda.synchronize()
    dtype = str(result.dtype).removeprefix("torch.")
    if mode == "time" and asked:
        _tell(f"end {threading.active_count()} threads")
    Path("out", f"y.{_SUFFIX[dtype]}").write_bytes(result.contiguous().cpu().numpy().tobytes())
    return 0


def _inputs(torch: Any, problem: Any) -> list[Any]:
    names = [name for name in inspect.signature(problem.Model.forward).parameters if name != "self"]
    inputs = []
    for name, like in zip(names, problem.get_inputs(), strict=True):
        dtype = str(like.dtype).removeprefix("torch.")
        data = bytearray(Path("in", f"{name}.{_SUFFIX[dtype]}").read_bytes())
        inputs.append(torch.frombuffer(data, dtype=like.dtype).reshape(like.shape).cuda())
    return inputs


def _measure_alone(calls: Calls) -> None:
    """Warms up, finds a batch of at least 100 ms, measures three and prints the mean time of a call."""
    calls.batch(1)
    count, spent = 1, calls.batch(1)
    while spent < _BATCH_MS:
        count = count * 16 if spent < 1.0 else int(1.2 * count * _BATCH_MS / spent) + 1
        spent = calls.batch(count)
    total = sum(calls.batch(count) for _ in range(_BATCHES))
    print(f"Kernel time: {total / _BATCHES / count:.6f} ms", flush=True)


def _obey_clock(calls: Calls) -> None:
    """Batches as asked for, until "end". There is nothing to prepare: a model makes its outputs anew in every call."""
    kinds = {"calls": calls.call, "fresh": calls.call, "blank": lambda: None}
    _tell("clock 1")
    for line in sys.stdin:
        if line == "end\n":
            return
        words = line.split()
        if len(words) != 3 or words[0] not in kinds or not words[2].isdigit() or int(words[2]) < 1:
            _clock_fault(line)
        _tell(f"ready {words[1]}")
        if (go := sys.stdin.readline()) != f"go {words[1]}\n":
            _clock_fault(go)
        spent = calls.batch(int(words[2]), kinds[words[0]])
        _tell(f"done {words[1]} {words[2]} {spent:.6f}")
    _clock_fault("nothing more")


def _tell(text: str) -> None:
    print(f"\nbeaver: {text}", flush=True)


def _clock_fault(line: str) -> NoReturn:
    print(f"driver: the clock asked for {line.strip()}", file=sys.stderr)
    sys.exit(3)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
