"""The seams: the engine knows no screen, and a sweep starts without what it does not need."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import engine
from engine.corpora import builtin_folder
from engine.harness.sandbox import Namespaces

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


USERS = {"engine.fixers.watch": {"watchdog"}} | {
    name: {"numpy"} for name in MODULES if name.startswith("engine.analysis.")
}
"""The modules that are there for a heavy library; who uses them imports them late. No module takes scipy along."""


@pytest.mark.parametrize("module", MODULES)
def test_heavy_libraries_are_imported_only_where_they_are_used(module: str):
    assert loaded(f"import {module}") & set(HEAVY) <= USERS.get(module, set())


def test_version_needs_nothing():
    code = "import io\nsys.stdout, kept = io.StringIO(), sys.stdout\nfrom beaver_tui.cli import main\nmain(['--version'])\nsys.stdout = kept"
    names = loaded(code)
    assert not names & {*HEAVY, "click", "msgspec", "asyncio", "engine", "yaml"}


def test_batch_needs_no_screen_and_no_client():
    assert not loaded("from beaver_tui.batch.command import batch") & set(HEAVY)


def test_what_type_checkers_see_of_the_engine_is_what_it_has():
    tree = ast.parse(Path(engine.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert {alias.name: node.module for node in imports for alias in node.names} == engine._HOMES
    assert sorted(engine.__all__) == list(engine.__all__) == [name for name in dir(engine) if name in engine._HOMES]
    for name in engine.__all__:
        assert getattr(engine, name).__name__ == name


def test_the_engine_alone_is_cheap_and_complete():
    assert not loaded("import engine") & {*HEAVY, "msgspec", "yaml", "asyncio"}
    assert loaded("from engine import *") >= {"engine", "msgspec"}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = engine.nothing


async def test_the_example_in_the_engines_docstring_runs(capsys: pytest.CaptureFixture[str]):
    example = textwrap.dedent((engine.__doc__ or "").split("\n\n", 1)[1])
    names: dict[str, object] = {}
    code = compile(example, "engine/__init__.py", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    await eval(code, names)
    assert "TrajectoryClosed" in capsys.readouterr().out


def test_the_built_in_answers_are_hidden_unless_asked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engine.local.choose_sandbox", lambda wish, hide: Namespaces(hide))
    with engine.local_harness() as harness:
        assert isinstance(harness.sandbox, Namespaces)
        assert builtin_folder().resolve() in harness.sandbox.hide
