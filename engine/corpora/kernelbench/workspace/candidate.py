"""The solution's own process beside the judge: python candidate.py SOLUTION PROBLEM REQUESTS REPLIES (descriptors).

Every request is one line of JSON, every reply too; a tensor follows its reply as raw bytes. Whatever goes on in here, the judge
believes nothing but the values.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any, BinaryIO

sys.dont_write_bytecode = True


class Candidate:
    """ModelNew, its inputs, and the device that both are on."""

    def __init__(self, solution: str, problem: str) -> None:
        self.torch: Any = importlib.import_module("torch")
        importlib.import_module("extensions").install(build=False)
        imported = importlib.import_module("build").imported
        self.device = "cuda" if self.torch.cuda.is_available() else "cpu"
        self.problem = imported(Path(problem))
        self.solution = imported(Path(solution))
        self.model: Any = None
        self.inputs: list[Any] = []

    def make(self, seed: int) -> None:
        """The model, with the weights that the reference gets from the same seed."""
        self.torch.manual_seed(seed)
        init = [self._placed(value) for value in self.problem.get_init_inputs()]
        self.torch.manual_seed(seed)
        self.model = self.solution.ModelNew(*init).to(self.device)
        self._wait()

    def run(self, seed: int) -> Any:
        """What the model answers to the inputs of ``seed``."""
        self.inputs = []
        self.torch.manual_seed(seed)
        self.inputs = [self._placed(value) for value in self.problem.get_inputs()]
        result = self.model(*self.inputs)
        self._wait()
        return result

    def repeat(self, calls: int) -> None:
        """Calls on the last inputs, all of them done at the end."""
        for _ in range(calls):
            self.model(*self.inputs)
        self._wait()

    def _placed(self, value: Any) -> Any:
        return value.to(self.device) if isinstance(value, self.torch.Tensor) else value

    def _wait(self) -> None:
        if self.device == "cuda":
            self.torch.cuda.synchronize()


def serve(solution: str, problem: str, requests: BinaryIO, replies: BinaryIO) -> None:
    """Do what the judge asks until it hangs up."""
    stage = "load"
    try:
        candidate = Candidate(solution, problem)
        with candidate.torch.no_grad():
            _say(replies, {"did": "load"})
            for line in requests:
                request = json.loads(line)
                stage = request.pop("do")
                result = getattr(candidate, stage)(**request)
                if result is None:
                    _say(replies, {"did": stage})
                else:
                    _send(candidate.torch, replies, result)
                del result
    except Exception as error:
        traceback.print_exc()
        sys.stderr.flush()
        _say(replies, {"failed": stage, "error": type(error).__name__})


def _say(replies: BinaryIO, message: dict[str, Any]) -> None:
    replies.write(json.dumps(message).encode() + b"\n")
    replies.flush()


def _send(torch: Any, replies: BinaryIO, result: Any) -> None:
    """A tensor: its form, then its values in pieces, so that no whole copy of it is held."""
    if not isinstance(result, torch.Tensor):
        raise TypeError(f"ModelNew returned {type(result).__name__}, not a tensor")
    _say(replies, {"shape": list(result.shape), "dtype": str(result.dtype).removeprefix("torch.")})
    flat = result.detach().reshape(-1)
    step = 1 << 24
    for start in range(0, flat.numel(), step):
        piece = flat[start : start + step].contiguous().cpu()
        replies.write(piece.view(torch.uint8).numpy().data if piece.numel() else b"")
    replies.flush()


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], os.fdopen(int(sys.argv[3]), "rb"), os.fdopen(int(sys.argv[4]), "wb"))
