"""A task's own Python programs run in a Python that has what they import, and the sandbox shows it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import events as ev
from engine.harness.error_log import error_log
from engine.harness.examine import Harness
from engine.harness.preflight import preflight
from engine.harness.pythons import SYSTEM, VARIABLE, task_python
from tests.support.examining import examine

NEEDS_A_MODULE = {
    "check": None,
    "build_cmd": "true",
    "test_cmd": 'python -c "import unusual; print(unusual.WORD)" && python3 -c "import unusual"',
    "requires": ["module:unusual"],
    "pass_evidence": "^from the other Python$",
}


@pytest.fixture
def other_python() -> Iterator[Path]:
    """An environment with a module of its own, where everybody may look."""
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    folder.chmod(0o755)
    subprocess.run([str(SYSTEM), "-m", "venv", "--without-pip", str(folder / "env")], check=True)
    (place,) = folder.glob("env/lib/python3*/site-packages")
    (place / "unusual.py").write_text("WORD = 'from the other Python'\n")
    yield folder / "env/bin/python3"
    shutil.rmtree(folder)


def test_a_task_without_modules_runs_in_the_systems_python(make_task, monkeypatch, other_python: Path):
    monkeypatch.setenv(VARIABLE, str(other_python))
    python = task_python(make_task())
    assert (python.word, python.folders, python.first) == ("python3", (), ())


async def test_the_named_python_runs_in_the_sandbox(make_task, monkeypatch, other_python: Path, harness: Harness):
    monkeypatch.setenv(VARIABLE, str(other_python))
    task = make_task(spec=NEEDS_A_MODULE)
    evidence, events = await examine(harness, task, task.broken)
    assert evidence.preflight == []
    assert evidence.pass_evidence
    built = next(event for event in events if isinstance(event, ev.Built))
    assert f"python is {other_python}" in built.rewrites


async def test_a_log_is_the_same_wherever_the_python_lies(make_task, monkeypatch, other_python: Path, harness: Harness):
    monkeypatch.setenv(VARIABLE, str(other_python))
    task = make_task(
        spec={**NEEDS_A_MODULE, "test_cmd": "python -c 'import unusual; print(unusual.__file__); unusual.gone'"}
    )
    evidence, _ = await examine(harness, task, task.broken)
    log = error_log(task, evidence)
    assert "/python/lib/python3" in log and "site-packages/unusual.py" in log and "AttributeError" in log
    assert str(other_python.parent.parent) not in log


def test_a_module_that_the_named_python_lacks_is_named_with_it(
    make_task, monkeypatch, other_python: Path, harness: Harness
):
    monkeypatch.setenv(VARIABLE, str(other_python))
    task = make_task(spec={**NEEDS_A_MODULE, "requires": ["module:unusual", "module:more_unusual"]})
    assert preflight(task, task.broken, harness.device, harness.toolkit) == [
        f"requires: module:more_unusual in {other_python}; {VARIABLE} names a Python that has it"
    ]


def test_a_python_that_is_not_there_has_no_modules(make_task, monkeypatch, harness: Harness):
    monkeypatch.setenv(VARIABLE, "/nowhere/python")
    task = make_task(spec=NEEDS_A_MODULE)
    assert preflight(task, task.broken, harness.device, harness.toolkit) == [
        f"requires: module:unusual in /nowhere/python; {VARIABLE} names a Python that has it"
    ]
