"""An extension that the build step compiled is found again by what it is made of."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from engine.corpora.kernelbench.commands import EXTENSIONS, files


@pytest.fixture
def extensions() -> ModuleType:
    """As a workspace's program imports it."""
    spec = importlib.util.spec_from_file_location("extensions", EXTENSIONS)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def key(
    extensions: ModuleType, folder: Path, *, code: str = "int one;", name: str = "wrapper.cpp", **more: object
) -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(code)
    given = {"name": "own", "sources": [str(folder / name)], "build_directory": str(folder), **more}
    return str(extensions.content_key(given))


def test_wherever_its_sources_lie(extensions: ModuleType, tmp_path: Path):
    """The runner of def.py tasks writes its wrappers into a fresh folder each time."""
    first = key(extensions, tmp_path / "first")
    assert key(extensions, tmp_path / "second") == first


@pytest.mark.parametrize("more", [{"code": "int two;"}, {"name": "other.cpp"}, {"extra_cuda_cflags": ["-O1"]}])
def test_another_source_name_or_flag_is_another_extension(
    extensions: ModuleType, tmp_path: Path, more: dict[str, object]
):
    assert key(extensions, tmp_path / "first") != key(extensions, tmp_path / "second", **more)


def test_what_one_file_ends_with_is_not_what_the_next_begins_with(extensions: ModuleType, tmp_path: Path):
    def of(*texts: str) -> str:
        paths = [tmp_path / f"{number}.cu" for number, _ in enumerate(texts)]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return str(extensions.content_key({"sources": [str(path) for path in paths]}))

    assert of("ab", "c") != of("a", "bc")


TORCH = {
    "torch/__init__.py": "from torch import cuda\n",
    "torch/cuda.py": "def is_available():\n    return False\n",
    "torch/utils/__init__.py": "",
    "torch/utils/cpp_extension.py": """\
from pathlib import Path

def load_inline(name, cuda_sources, build_directory=None):
    if "undeclared" in cuda_sources:
        raise RuntimeError(f"Error building extension {name!r}")
    Path(build_directory, f"{name}.so").touch()

load = load_inline
""",
}
"""What stands in for PyTorch here compiles nothing. With the real one: tests/integration/test_kernelbench_judge.py."""
BEGIN = "import torch\nfrom torch.utils.cpp_extension import load_inline\nclass ModelNew: ...\n"
GUARDED = "if torch.cuda.is_available():\n    one = load_inline('one', {code!r})\n"
LAZY = "def _extension():\n    return load_inline('one', {code!r})\n"
CACHED = "import functools\n@functools.lru_cache\ndef _extension():\n    return load_inline('one', {code!r})\n"
METHOD = "class ModelNew:\n    def __init__(self):\n        self.one = load_inline('one', {code!r})\n"
OTHER = "import pickle\ndef weights():\n    return pickle.load(open('nowhere'))\n# {code!r}\n"


def built(folder: Path, code: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """What the build step says, and the extensions that it leaves."""
    for name, path in files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / name)
    for name, text in TORCH.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "solution.py").write_text(BEGIN + code)
    (folder / "problem.py").write_text("def get_init_inputs():\n    return []\n")
    command = [sys.executable, "beaver_kernelbench/build.py", "solution.py", "problem.py"]
    surroundings = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"}
    ended = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, check=False)
    return ended, [path.name for path in folder.glob("extensions/*/*.so")]


@pytest.mark.parametrize(
    "style", [GUARDED, LAZY, CACHED, METHOD], ids=["guarded", "lazy", "cached", "in the constructor"]
)
def test_what_a_solution_would_compile_later_is_compiled_in_the_build(tmp_path: Path, style: str):
    """Of 83 tasks of a checkout 13 ask for a GPU first, and 4 compile when a forward asks: while the GPU waited."""
    ended, left = built(tmp_path / "right", style.format(code="int right;"))
    assert (ended.returncode, left) == (0, ["one.so"]), ended.stderr
    ended, _ = built(tmp_path / "wrong", style.format(code="int undeclared;"))
    assert ended.returncode == 1 and "Error building extension 'one'" in ended.stderr


def test_another_function_that_fails_without_arguments_is_no_fault_of_the_build(tmp_path: Path):
    ended, left = built(tmp_path, OTHER.format(code=""))
    assert (ended.returncode, left) == (0, [])
    assert "not made here (FileNotFoundError): left to the test" in ended.stderr
