"""The config dialect of the CUDABeaver release, renamed into our own: what has a counterpart here is kept as it is written,
the rest is named. Nothing is converted here: the values meet the same checks as those of our own files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from engine.errors import ConfigError

FOREIGN_SECTIONS = ("api", "experiment", "build", "performance_gate")
"""Top-level keys by which the dialect is recognised."""

SECTIONS = (*FOREIGN_SECTIONS, "logging")

RENAMED: dict[str, str] = {
    "experiment.max_iterations": "protocol.k",
    "experiment.max_history_rounds": "protocol.history",
    "experiment.method": "protocol.sampling",
    "experiment.feedback_level": "protocol.feedback",
    "experiment.feedback_mode": "protocol.feedback",  # after feedback_level: raw is a level of its own here
    "experiment.n_attempts": "batch.attempts",
    "experiment.tasks": "batch.tasks",
    "experiment.name": "batch.name",
    "api.temperature": "protocol.temperature",
    "api.model": "fixer.model",
    "api.base_url": "fixer.base_url",
    "api.api_key_env": "fixer.api_key_env",
    "api.max_tokens": "fixer.max_tokens",
    "api.max_completion_tokens": "fixer.max_tokens",
    "api.timeout": "timeouts.read",
    "api.top_p": "body.top_p",
    "api.reasoning_effort": "body.reasoning_effort",
    "api.extra_body": "fixer.extra_body",
    "performance_gate.threshold": "protocol.gate",
    "performance_gate.min_speedup": "protocol.gate",
    "experiment.few_shot_pair_pool_seed": "protocol.few_shot_seed",
    "experiment.few_shot_pool_committee_dirs": "batch.few_shot_from",
    "experiment.few_shot_curated_file": "batch.few_shot_file",
}
"""Their key: our section and key."""

TRUE_ANYWAY = ("api.backend", "api.stream", "logging.save_api_responses", "performance_gate.enabled")
"""Understood, and true here anyway: replies always stream, responses are always kept, both backends are chat; or, the last, read
where the gate is."""

FEW_SHOT: dict[str, str] = {
    "random": "random",
    "matched": "matched",
    "matched-error-category": "matched",
    "curated": "curated",
}
"""Their strategies: ours."""

FEW_SHOT_KEYS = (
    ("experiment.few_shot_strategy", "experiment.few_shot_k"),
    ("experiment.fewshot_strategy", "experiment.fewshot_k"),
)
"""How the strategy and K are spelled. The release's harness reads the first pair alone: configs with the second were played there
without any example."""

SAME_VALUE: dict[str, Callable[[Any], Any]] = {
    "experiment.feedback_level": lambda level: f"L{level}" if type(level) is int else level,
    "experiment.feedback_mode": lambda mode: "L3raw" if mode == "raw" else None,
}
"""Values that are written differently; None leaves what is there."""


def is_release_config(content: dict[Any, Any]) -> bool:
    """Whether a file speaks the dialect."""
    return any(section in content for section in FOREIGN_SECTIONS)


def rename_keys(where: str, content: dict[Any, Any]) -> tuple[dict[str, Any], list[str]]:
    """The same content under our keys, and a warning for every key that is not understood: none is dropped in silence."""
    given = dict(_flat(where, content))
    ours: dict[str, dict[str, Any]] = {"protocol": {}, "fixer": {}, "timeouts": {}, "body": {}, "batch": {}}
    for theirs, name in RENAMED.items():
        value = given.get(theirs)
        if theirs in SAME_VALUE and value is not None:
            value = SAME_VALUE[theirs](value)
        if value is not None:
            section, _, key = name.partition(".")
            ours[section][key] = value
    warnings = []
    _gate(given, ours["protocol"])
    warnings += [f"{where}: {text}" for text in _few_shot(given, ours["protocol"])]
    shown = [key for pair in FEW_SHOT_KEYS for key in pair]
    unknown = [key for key in given if key not in RENAMED and key not in TRUE_ANYWAY and key not in shown]
    if unknown:
        warnings.append(
            f"{where} is a config of the CUDABeaver release; not understood, and ignored: {', '.join(unknown)}"
        )
    batch, fixer = ours["batch"], ours["fixer"]
    if _is_blank(fixer.get("base_url")):
        blank = fixer.pop("base_url")
        warnings.append(
            f"{where}: api.base_url is a blank to fill in ({blank}); without it the SDK's own address is used"
        )
    if ours["timeouts"]:
        fixer["timeouts"] = ours["timeouts"]
    if ours["body"] and isinstance(fixer.get("extra_body", {}), dict):
        fixer["extra_body"] = {**fixer.get("extra_body", {}), **ours["body"]}
    fixers = [{"name": batch.get("name", fixer["model"]), **fixer}] if "model" in fixer else []
    return {**batch, "fixers": fixers, "protocol": ours["protocol"]}, warnings


def _few_shot(given: dict[str, Any], protocol: dict[str, Any]) -> Iterator[str]:
    """Both spellings into the protocol's; yields what is to be said of the second."""
    for strategy, count in FEW_SHOT_KEYS:
        number = given.get(count)
        if number in (None, 0):
            continue
        if "few_shot" in protocol:
            yield f"{count} and {strategy} are ignored beside {FEW_SHOT_KEYS[0][1]}, as in the release"
            continue
        named = given.get(strategy, "random")
        protocol["few_shot"] = f"{FEW_SHOT.get(named, named)}:{number}"
        if count != FEW_SHOT_KEYS[0][1]:
            yield f"{count} is meant; the release's own harness reads {FEW_SHOT_KEYS[0][1]} alone"


def _gate(given: dict[str, Any], protocol: dict[str, Any]) -> None:
    """Their gate acts while a task is played: what is too slow goes on. One that is not enabled is none."""
    if "gate" in protocol and given.get("performance_gate.enabled", True):
        protocol["gate_mode"] = "inloop"
    elif "gate" in protocol:
        del protocol["gate"]


def _is_blank(address: object) -> bool:
    """``<CLOUD_API_BASE_URL>`` and its like; a real address that is wrong is for the fixer's own check."""
    try:
        return isinstance(address, str) and not urlsplit(address).scheme and not urlsplit(address).hostname
    except ValueError:
        return False


def _flat(where: str, content: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Two levels of keys, dotted."""
    for name, value in content.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{key}", inner) for key, inner in value.items())
        elif name in SECTIONS and value is not None:
            raise ConfigError(f"{where}: {name}: must be a mapping of keys")
        else:
            yield str(name), value
