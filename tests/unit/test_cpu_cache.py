"""What is compiled once and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.devices.cpu.cache import digest, made_whole


def test_who_is_second_leaves_what_the_first_one_made(tmp_path: Path):
    target = tmp_path / "kept"
    with made_whole(target) as slow:
        (slow / "object").write_text("second")
        with made_whole(target) as quick:
            (quick / "object").write_text("first")
    assert (target / "object").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_what_fails_leaves_nothing(tmp_path: Path):
    with pytest.raises(RuntimeError), made_whole(tmp_path / "kept") as folder:
        (folder / "half").touch()
        raise RuntimeError
    assert not list(tmp_path.iterdir())


def test_the_borders_of_texts_count():
    assert digest(["ab", "c"]) != digest(["a", "bc"])
