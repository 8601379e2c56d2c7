"""The judge of a KernelBench problem: python -I judge.py test TRIALS | time TRIALS, in the workspace of a solution.

The solution runs in a process of its own (candidate.py) and hands over values; inputs, reference, comparison and clock are here.
Nothing that the solution prints is taken for a result: it goes to standard error, and a pass is sealed. The first line of standard
output is the SHA-256 of a secret, written before the solution exists; the secret itself follows a pass alone. Rules as in
KernelBench: float32, fixed seeds, torch.allclose with 1e-4. Exit 0: correct; 1: not; 3: the problem's own model fails.

Imports nothing from the workspace: ``-I`` keeps what a build may have left there off the path.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

HERE = Path(__file__).resolve().parent
SEED = 42
TOLERANCE = 1e-4
ROUNDS = 10
"""Turns of reference and solution in a timing."""
LEAST_SECONDS = 0.02
"""Of one turn, so that the clock and the pipe between the two do not count."""
PIECE = 1 << 24
"""Elements that are compared at a time."""
LONGEST_LINE = 4096
_NOT_DUMPABLE, _HEIR_OF_ORPHANS = (4, 0), (36, 1)
"""Of prctl: neither traced nor opened by others of our uid; parent of every process that the solution leaves behind."""


class Failed(Exception):
    """The solution is wrong, or gave no answer. ``compiled`` is False when it could not even be loaded."""

    def __init__(self, reason: str, *, compiled: bool = True, code: int = 1) -> None:
        super().__init__(reason)
        self.compiled, self.code = compiled, code


class Reference:
    """The problem's own model."""

    def __init__(self, torch: Any, problem: Path) -> None:
        self.torch = torch
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.names: dict[str, Any] = {"__name__": "problem"}
        # the task's own file, which no step may change
        exec(compile(problem.read_text("utf-8"), problem.name, "exec"), self.names)  # noqa: S102
        torch.manual_seed(SEED)
        init = [self._placed(value) for value in self.names["get_init_inputs"]()]
        torch.manual_seed(SEED)
        self.model = self.names["Model"](*init).to(self.device)
        self.inputs: list[Any] = []

    def prepare(self, seed: int) -> None:
        self.inputs = []
        self.torch.manual_seed(seed)
        self.inputs = [self._placed(value) for value in self.names["get_inputs"]()]

    def answer(self, seed: int) -> Any:
        self.prepare(seed)
        result = self.model(*self.inputs)
        self.wait()
        return result

    def seconds(self, calls: int) -> float:
        began = time.perf_counter()
        for _ in range(calls):
            self.model(*self.inputs)
        self.wait()
        return time.perf_counter() - began

    def wait(self) -> None:
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def _placed(self, value: Any) -> Any:
        return value.to(self.device) if isinstance(value, self.torch.Tensor) else value


class Solution:
    """The candidate's process, and what it says."""

    def __init__(self, solution: str, problem: str) -> None:
        ours, theirs = os.pipe(), os.pipe()
        words = [sys.executable, str(HERE / "candidate.py"), solution, problem, str(theirs[0]), str(ours[1])]
        # what it prints must reach no descriptor that a result is read from
        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno(), pass_fds=(theirs[0], ours[1])
        )
        os.close(theirs[0])
        os.close(ours[1])
        self.replies: BinaryIO = os.fdopen(ours[0], "rb")
        self.requests: BinaryIO = os.fdopen(theirs[1], "wb")
        self.reply("load")

    def ask(self, do: str, **more: Any) -> dict[str, Any]:
        """Its reply to a request. Raises Failed for an error of its own and when it is gone."""
        try:
            self.requests.write(json.dumps({"do": do, **more}).encode() + b"\n")
            self.requests.flush()
        except BrokenPipeError:
            raise self._gone(do) from None
        return self.reply(do)

    def reply(self, stage: str) -> dict[str, Any]:
        line = self.replies.readline(LONGEST_LINE)
        if not line:
            raise self._gone(stage)
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise Failed("the solution's process speaks another language")
        if "failed" in message:
            raise Failed(f"{stage}: the solution raised an exception", compiled=stage != "load")
        return message

    def values(self, torch: Any, dtype: Any, count: int) -> Any:
        """The next ``count`` values of a tensor."""
        data = bytearray(count * dtype.itemsize)
        view, at = memoryview(data), 0
        while at < len(data):
            read = self.replies.readinto(view[at:])  # type: ignore[attr-defined]
            if not read:
                raise self._gone("run")
            at += read
        return torch.frombuffer(data, dtype=dtype)

    def seconds(self, calls: int) -> float:
        began = time.perf_counter()
        self.ask("repeat", calls=calls)
        return time.perf_counter() - began

    def _gone(self, stage: str) -> Failed:
        code = self.process.wait()
        how = f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return Failed(
            f"{stage}: the solution's process {how}", compiled=stage != "load", code=128 - code if code < 0 else 1
        )


def judge(torch: Any, reference: Reference, solution: Solution, seed: int) -> None:
    """One trial. Raises Failed."""
    wanted = reference.answer(seed)
    reply = solution.ask("run", seed=seed)
    shape, dtype = list(wanted.shape), str(wanted.dtype).removeprefix("torch.")
    if reply.get("shape") != shape:
        raise Failed(f"wrong result: output shape mismatch: expected {shape}, got {reply.get('shape')}")
    if reply.get("dtype") != dtype:
        raise Failed(f"wrong result: output dtype mismatch: expected {dtype}, got {reply.get('dtype')}")
    flat, wrong, worst = wanted.reshape(-1), 0, 0.0
    for start in range(0, flat.numel(), PIECE):
        want = flat[start : start + PIECE]
        got = solution.values(torch, wanted.dtype, want.numel()).to(want.device)
        away = ~torch.isclose(want, got, rtol=TOLERANCE, atol=TOLERANCE)
        if (count := int(away.sum())) > 0:
            wrong += count
            worst = max(worst, float((want.double() - got.double()).abs().nan_to_num(float("inf")).max()))
    if wrong:
        raise Failed(
            f"wrong result: output mismatch: {wrong} of {flat.numel()} values differ, max difference {worst:g}"
        )


def timed(reference: Reference, solution: Solution) -> tuple[float, float]:
    """Milliseconds of a call of solution and reference: means over turns, by this process's clock."""
    reference.seconds(1)
    solution.seconds(1)
    calls = max(1, min(1000, int(LEAST_SECONDS / max(reference.seconds(1), 1e-6)) + 1))
    spent = [0.0, 0.0]
    for _ in range(ROUNDS):
        spent[0] += solution.seconds(calls)
        spent[1] += reference.seconds(calls)
    return 1e3 * spent[0] / (ROUNDS * calls), 1e3 * spent[1] / (ROUNDS * calls)


def end_all() -> bool:
    """Kill what the solution started, however it hid it, before anything that counts is printed. False when some is left."""
    for _ in range(100):
        children = [int(path.name) for path in Path("/proc").glob("[0-9]*") if _parent(path) == os.getpid()]
        if not children:
            return True
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return False


def _parent(process: Path) -> int | None:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def main(mode: str, trials: int) -> int:
    secret = secrets.token_hex(32)
    print(f"sealed {hashlib.sha256(secret.encode()).hexdigest()}", flush=True)
    torch = importlib.import_module("torch")
    try:
        with torch.no_grad():
            reference = Reference(torch, Path("problem.py"))
            reference.answer(SEED)
    except Exception as error:
        print(f"the harness's own reference fails: {type(error).__name__}: {error}", file=sys.stderr)
        return 3
    for option in (_NOT_DUMPABLE, _HEIR_OF_ORPHANS):
        ctypes.CDLL(None).prctl(*option, 0, 0, 0)
    failure: Failed | None = None
    times = None
    try:
        with torch.no_grad():
            times = examine(torch, reference, mode, trials)
    except Failed as failed:
        failure = failed
    if not end_all():
        failure = failure or Failed("the solution left processes that cannot be ended")
    if failure is not None:
        print(failure, file=sys.stderr)
        print(f"compiled={failure.compiled} correctness=False")
        return failure.code
    print(f"compiled=True correctness=True trials={trials}")
    if times is not None:
        print(f"Kernel time: {times[0]:.6f} ms\nReference time: {times[1]:.6f} ms")
    print(f"opened {secret}")
    return 0


def examine(torch: Any, reference: Reference, mode: str, trials: int) -> tuple[float, float] | None:
    """All trials, and the times of a solution that passed them (``mode`` time). Raises Failed."""
    solution = Solution("solution.py", "problem.py")
    solution.ask("make", seed=SEED)
    torch.manual_seed(SEED)
    for seed in [int(torch.randint(0, 2**32 - 1, (1,))) for _ in range(trials)]:
        judge(torch, reference, solution, seed)
    if mode != "time":
        return None
    times = timed(reference, solution)
    judge(torch, reference, solution, SEED + 1)
    return times


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
