"""Finding a toolkit, and what a build needs to be told about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.devices.toolkit import Toolkit, find_toolkit
from engine.errors import ConfigError
from engine.harness.backends import environment
from engine.local import closed_folder


def test_the_toolkit_here_is_found_with_its_version(toolkit: Toolkit):
    assert toolkit.version.startswith(("13.", "12."))


def test_wheels_keep_their_libraries_where_nvcc_does_not_look(tmp_path: Path):
    """A build with the wheels' nvcc compiled, and then found no cudadevrt to link."""
    for name in ("bin/nvcc", "include/cuda_runtime_api.h", "lib/libcudart_static.a"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert environment(Toolkit(tmp_path / "bin" / "nvcc", "wheels"))["LIBRARY_PATH"] == str(tmp_path / "lib")


def test_an_installed_toolkit_needs_no_help(toolkit: Toolkit):
    if toolkit.found != "wheels":
        assert "LIBRARY_PATH" not in environment(toolkit)


def test_a_build_is_told_the_toolkit_that_builds_and_not_another(toolkit: Toolkit, monkeypatch: pytest.MonkeyPatch):
    """PyTorch took /usr/local for the toolkit, where the nvcc on the path was a script, and its extensions did not link."""
    monkeypatch.setenv("CUDA_HOME", "/usr/local/cuda-of-another-day")
    monkeypatch.setenv("CUDA_PATH", "/usr/local/cuda-of-another-day")
    variables = environment(toolkit)
    assert variables["CUDA_HOME"] == variables["CUDA_PATH"] == str(toolkit.root)
    assert (toolkit.include_folder / "cuda_runtime_api.h").is_file()
    assert list(Path(variables["CUDA_HOME"]).glob("lib*/libcudart_static.a"))
    assert "CUDA_HOME" not in environment(None)


def test_cuda_home_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    nvcc = tmp_path / "bin" / "nvcc"
    nvcc.parent.mkdir()
    nvcc.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 13.1, V13.1.99'\n")
    nvcc.chmod(0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    found = find_toolkit()
    assert (found.nvcc, found.found) == (nvcc, "CUDA_HOME")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert found.version == "13.1 (V13.1.99)"


def test_no_toolkit_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'beaver-tui\[toolkit\]'"):
        find_toolkit()


def test_a_toolkit_that_only_root_may_enter_is_named(tmp_path: Path):
    """Candidates are not built as root: their sandbox would fail to start, without saying why."""
    private = tmp_path / "private"
    (private / "bin").mkdir(parents=True)
    private.chmod(0o700)
    assert closed_folder(private / "bin" / "nvcc") in (private, *private.parents)
    assert closed_folder(Path("/usr/bin/env")) is None
