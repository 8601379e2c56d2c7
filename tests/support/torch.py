"""A Python with PyTorch, for tests of what runs in one. PyTorch is no dependency of this program."""

from __future__ import annotations

import os
import subprocess
from functools import cache

import pytest

from engine.harness.pythons import VARIABLE


@cache
def _found() -> str | None:
    wish = os.environ.get(VARIABLE)
    if not wish:
        return None
    ended = subprocess.run([wish, "-I", "-c", "import torch"], check=False, capture_output=True)
    return wish if ended.returncode == 0 else None


def torch_python() -> str:
    """The Python that BEAVER_TASK_PYTHON names; skips the test where it has no PyTorch."""
    found = _found()
    if found is None:
        pytest.skip(f"{VARIABLE} names no Python with PyTorch")
    return found
