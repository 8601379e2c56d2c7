"""An extension that the build step compiled is found again by what it is made of."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from engine.corpora.kernelbench.commands import EXTENSIONS


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
