"""KernelBench-style tasks: a problem in PyTorch, and a solution that brings its own CUDA kernels as extensions."""

from engine.corpora.kernelbench.commands import BUILD, EVIDENCE, EXPORTS, LIBRARY, REQUIRES, TIMING, files, judged
from engine.corpora.kernelbench.reader import Problems, is_kernelbench

__all__ = [
    "BUILD",
    "EVIDENCE",
    "EXPORTS",
    "LIBRARY",
    "REQUIRES",
    "TIMING",
    "Problems",
    "files",
    "is_kernelbench",
    "judged",
]
