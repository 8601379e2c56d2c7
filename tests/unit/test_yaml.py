"""Faults in a user's YAML file are one line that names the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.config import read_batch_config
from engine.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: a\nname: b", "the key name is there twice"),
        ("fixers: [{name: a, model: x, model: y}]", "the key model is there twice"),
        ("name: !!timestamp x", "not YAML"),
        ("name: !!int x", "not YAML"),
        ("name: !!float x", "not YAML"),
        ("name: !!binary 5", "not YAML"),
        ("name: !!python/object:os.system x", "not YAML"),
        ("name: 2020-13-45", "not YAML"),
        ("name: 2020-12-12", "name: must be text"),
        ("[" * 3000, "nested too deeply"),
        ('name: "\\ud800"', "is no text"),
        ("name: " + "x" * 5000, "name: must be printable text of 1 to 60 characters"),
        ("name: ''", "name: must be printable text"),
        (
            "fixers: [{name: a, kind: chatt}]",
            "fixers[0].kind: 'chatt' is unknown; use chat, scripted, replay, human",
        ),
        ("fixers: [{kind: chat}]", "fixers[0]: name must be given"),
        (
            "fixers: [{name: a, model: b, timeouts: {read: soon}}]",
            "fixers[0].timeouts.read: must be a number, not text",
        ),
        ("tasks: one", 'tasks: must be a list, for example ["scan_*"]'),
        ("protocol: {k: many}", "protocol.k: must be a whole number, not text"),
        ("protocol: {feedback: L9}", "protocol.feedback: 'L9' is unknown; use L0, L1, L2, L3, L3raw, L4"),
        ("protocol: {early_stop: 5}", "protocol.early_stop: "),
        ("limits: {processes: many}", "limits.processes: must be a whole number, not text"),
        ("jobs: [1]", "jobs: must be a whole number, not a list"),
        ("two_phase: maybe", "two_phase: must be true or false, not text"),
    ],
    ids=lambda value: value[:40],
)
def test_a_mistake_is_one_line_that_names_its_key(tmp_path: Path, text: str, message: str):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as told:
        read_batch_config(path)
    assert message in str(told.value)
    assert str(told.value).startswith(f"--config {path}: ")
    assert "\n" not in str(told.value)
    str(told.value).encode()


def test_keys_that_are_merged_are_not_there_twice(tmp_path: Path):
    path = tmp_path / "config.yaml"
    path.write_text("fixers:\n  - &a {name: a, model: m}\n  - {<<: *a, name: b}\n")
    assert [fixer.name for fixer in read_batch_config(path).fixers] == ["a", "b"]
