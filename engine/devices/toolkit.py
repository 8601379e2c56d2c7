"""Find the CUDA toolkit: the PATH first, CUDA_HOME next, then the wheels of the ``toolkit`` extra."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from engine.errors import ConfigError

ABSENT = (
    "nvcc: not found on PATH, under CUDA_HOME or in this Python's packages. Install the CUDA toolkit, "
    "or run: pip install 'beaver-tui[toolkit]'"
)


PLACES = ("PATH", "CUDA_HOME", "CUDA_PATH", "wheels")
"""Where a toolkit is looked for, in this order."""

_INCLUDES = ("include", "targets/x86_64-linux/include")


@dataclass(frozen=True)
class Toolkit:
    """``nvcc`` is the program as found; ``found`` says where it was looked up (PATH, CUDA_HOME, wheels)."""

    nvcc: Path
    found: str

    @cached_property
    def version(self) -> str:
        """Release and build as nvcc prints them, for example 13.0 (V13.0.88)."""
        text = subprocess.run(
            [str(self.nvcc), "--version"], capture_output=True, text=True, timeout=30, check=False
        ).stdout
        match = re.search(r"release (\S+), (\S+)", text)
        return f"{match[1]} ({match[2]})" if match else "unknown"

    @cached_property
    def root(self) -> Path:
        """The toolkit's folder, which a sandbox must show. An nvcc on PATH may be a script that starts another: then it is asked."""
        beside = self.nvcc.resolve().parent.parent
        if any((beside / place / "cuda_runtime_api.h").is_file() for place in _INCLUDES):
            return beside
        command = [str(self.nvcc), "--dryrun", "-x", "cu", "-c", "/dev/null", "-o", "/dev/null"]
        text = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stderr
        match = re.search(r"^#\$ TOP=(.+)$", text, re.MULTILINE)
        return Path(match[1]).resolve() if match else beside

    @property
    def include_folder(self) -> Path:
        """Where cuda_runtime_api.h lies. Raises ConfigError when the toolkit has none."""
        for place in _INCLUDES:
            if (self.root / place / "cuda_runtime_api.h").is_file():
                return self.root / place
        raise ConfigError(f"nvcc: {self.root} holds no cuda_runtime_api.h; install the CUDA runtime's headers with it")

    @property
    def link_folder(self) -> Path | None:
        """Where the linker must be told to look. The wheels keep their libraries in lib/, and nvcc looks in lib64/."""
        folder = self.root / "lib"
        return folder if not (self.root / "lib64").exists() and (folder / "libcudart_static.a").is_file() else None

    def program(self, name: str) -> Path | None:
        """Another program of the toolkit (compute-sanitizer, cuobjdump), or None."""
        for folder in (self.nvcc.parent, self.root / "bin", Path("/usr/local/cuda/bin")):
            if os.access(folder / name, os.X_OK):
                return folder / name
        found = shutil.which(name)
        return Path(found) if found else _of_wheels(name)


def _of_wheels(name: str) -> Path | None:
    """A program that one of NVIDIA's wheels brings, the newest first, or None."""
    spec = importlib.util.find_spec("nvidia")
    for place in spec.submodule_search_locations or [] if spec else []:
        for program in sorted(Path(place).glob(f"*/bin/{name}"), reverse=True):
            if os.access(program, os.X_OK):
                return program
    return None


def find_toolkit() -> Toolkit:
    """The toolkit to build with. Raises ConfigError, with what to do, when there is none."""
    on_path = shutil.which("nvcc")
    if on_path:
        return Toolkit(Path(on_path), "PATH")
    for variable in PLACES[1:3]:
        home = os.environ.get(variable)
        if home and os.access(Path(home, "bin", "nvcc"), os.X_OK):
            return Toolkit(Path(home, "bin", "nvcc"), variable)
    nvcc = _of_wheels("nvcc")
    if nvcc is not None:
        return Toolkit(nvcc, "wheels")
    raise ConfigError(ABSENT)
