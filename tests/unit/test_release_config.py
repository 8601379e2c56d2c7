"""The release's config dialect where it says one thing in two ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.config import BatchConfig, read_batch_config, read_protocol
from engine.errors import ConfigError


def config(tmp_path: Path, text: str) -> BatchConfig:
    path = tmp_path / "release.yaml"
    path.write_text(text)
    return read_batch_config(path)


@pytest.mark.parametrize(
    ("keys", "shots", "told"),
    [
        ("few_shot_strategy: random, few_shot_k: 3", "random:3", ""),
        ("few_shot_strategy: matched-error-category, few_shot_k: 1", "matched:1", ""),
        ("few_shot_k: 5", "random:5", ""),
        ("few_shot_strategy: curated, few_shot_k: 0", "none", ""),
        ("fewshot_strategy: matched, fewshot_k: 3", "matched:3", "reads experiment.few_shot_k alone"),
        (
            "few_shot_strategy: curated, few_shot_k: 1, fewshot_strategy: matched, fewshot_k: 3",
            "curated:1",
            "experiment.fewshot_k and experiment.fewshot_strategy are ignored beside experiment.few_shot_k",
        ),
    ],
)
def test_both_spellings_of_few_shot(tmp_path: Path, keys: str, shots: str, told: str):
    read = config(tmp_path, f"experiment: {{{keys}}}\n")
    assert read_protocol(None, read.protocol).few_shot == shots
    assert told in "\n".join(read.warnings)
    assert bool(read.warnings) == bool(told)


def test_an_unknown_strategy_is_refused_with_the_files_name(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"release.yaml.*few_shot='nearest:3'"):
        config(tmp_path, "experiment: {few_shot_strategy: nearest, few_shot_k: 3}\n")


def test_where_examples_are_from(tmp_path: Path):
    read = config(
        tmp_path,
        "experiment: {few_shot_k: 1, few_shot_pair_pool_seed: 7, few_shot_pool_committee_dirs: [a, b],\n"
        "  few_shot_curated_file: c.json}\n",
    )
    assert (read.few_shot_from, read.few_shot_file, read.protocol["few_shot_seed"]) == (["a", "b"], "c.json", 7)


@pytest.mark.parametrize(
    ("text", "gate", "mode"),
    [
        ("{threshold: 0.9}", 0.9, "inloop"),
        ("{enabled: true, min_speedup: 0.5}", 0.5, "inloop"),
        ("{enabled: false, min_speedup: 0.5}", 0.7, "posthoc"),
        ("{enabled: true}", 0.7, "posthoc"),
    ],
)
def test_a_gate_of_the_release_acts_in_the_loop(tmp_path: Path, text: str, gate: float, mode: str):
    protocol = read_protocol(None, config(tmp_path, f"performance_gate: {text}\n").protocol)
    assert (protocol.gate, protocol.gate_mode) == (gate, mode)


def test_a_key_that_is_there_twice_is_named_and_its_last_value_counts(tmp_path: Path):
    read = config(tmp_path, "experiment:\n  feedback_level: 3\n  feedback_mode: aware\n  feedback_mode: raw\n")
    assert read_protocol(None, read.protocol).feedback == "L3raw"
    assert "there twice: feedback_mode; the last one counts" in "\n".join(read.warnings)
