"""What an installed wheel holds, and that it works from any folder."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    code = (
        f"import os; os.chdir({str(ROOT)!r}); from hatchling.build import build_wheel; print(build_wheel({str(out)!r}))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    return out / done.stdout.split()[-1]


def test_corpus_and_themes_are_in_the_wheel(wheel: Path):
    names = set(zipfile.ZipFile(wheel).namelist())
    tasks = [path.parent.name for path in (ROOT / "corpus").glob("*/input.json")]
    assert len(tasks) >= 8
    for task in tasks:
        sources = [
            f"{name}.py" if (ROOT / "corpus" / task / f"{name}.py").is_file() else f"{name}.cu"
            for name in ("broken", "reference")
        ]
        for part in ("input.json", "prompt.txt", *sources, "error.log", "checker/check.py"):
            assert f"engine/_corpus/{task}/{part}" in names
    assert "engine/_corpus/shared/beaver_driver.cuh" in names
    assert "engine/harness/checklib/beaver_check.py" in names
    assert any(name.startswith("beaver_tui/_themes/") for name in names)
    assert not any(name.startswith(("tests/", "corpus/")) for name in names)


def test_an_unpacked_wheel_finds_its_corpus_from_any_folder(wheel: Path, tmp_path: Path):
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    code = (
        f"import sys; sys.path.insert(0, {str(site)!r}); import engine; assert engine.__file__.startswith({str(site)!r}), engine.__file__; "
        "from beaver_tui.cli import main; sys.exit(main(['tasks', '--check']))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    tasks = len(list((ROOT / "corpus").glob("*/input.json")))
    assert f"{tasks} tasks are sound" in done.stdout


def test_the_cpu_device_is_whole_in_the_wheel(wheel: Path):
    names = set(zipfile.ZipFile(wheel).namelist())
    for path in (ROOT / "engine/devices/cpu").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert str(path.relative_to(ROOT)) in names
