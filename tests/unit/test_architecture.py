"""The seams: the engine knows no screen, and a sweep starts without what it does not need."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

import engine

MODULES = sorted(
    module.name for module in pkgutil.walk_packages(engine.__path__, "engine.") if "checklib" not in module.name
)

HEAVY = ("textual", "rich", "openai", "scipy", "numpy", "watchdog", "pydantic", "httpx")


def loaded(code: str) -> set[str]:
    """Top-level names in sys.modules after ``code`` in a fresh process."""
    script = f"import sys\n{code}\nprint('\\n'.join(sorted(name.partition('.')[0] for name in sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines())


def test_no_engine_module_imports_a_screen():
    imports = "\n".join(f"import {name}" for name in MODULES)
    assert not loaded(imports) & {"textual", "rich", "beaver_tui"}


@pytest.mark.parametrize(
    "module", ["engine.loop", "engine.sweep.registry", "engine.fixers.chat", "engine.fixers.human"]
)
def test_heavy_libraries_are_imported_only_where_they_are_used(module: str):
    assert not loaded(f"import {module}") & set(HEAVY)


def test_version_needs_nothing():
    code = "import io\nsys.stdout, kept = io.StringIO(), sys.stdout\nfrom beaver_tui.cli import main\nmain(['--version'])\nsys.stdout = kept"
    names = loaded(code)
    assert not names & {*HEAVY, "click", "msgspec", "asyncio", "engine", "yaml"}


def test_batch_needs_no_screen_and_no_client():
    assert not loaded("from beaver_tui.batch.command import batch") & set(HEAVY)
