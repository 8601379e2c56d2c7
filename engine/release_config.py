"""The config dialect of the CUDABeaver release, taken as it is: what has a counterpart here is used, the rest is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from engine.errors import ConfigError
from engine.fixers.config import FixerConfig, Timeouts

FOREIGN_KEYS = {"api", "experiment", "build", "performance_gate"}
"""Top-level keys by which the dialect is recognised."""

Settings = dict[str, dict[str, Any]]
"""What was understood: fields for ``protocol``, ``fixer``, ``extra_body`` and ``batch``."""


def _set(
    section: str, name: str, convert: Callable[[Any], Any] = lambda value: value
) -> Callable[[Settings, Any], None]:
    def put(settings: Settings, value: Any) -> None:
        settings[section][name] = convert(value)

    return put


def _nothing(settings: Settings, value: Any) -> None:
    """Understood, and true here anyway: replies always stream, responses are always kept, both backends are chat."""


def _feedback_mode(settings: Settings, value: Any) -> None:
    if value == "raw":
        settings["protocol"]["feedback"] = "L3raw"


def _feedback_level(settings: Settings, value: Any) -> None:
    settings["protocol"].setdefault("feedback", f"L{value}" if isinstance(value, int) else str(value))


_UNDERSTOOD: dict[str, Callable[[Settings, Any], None]] = {
    "experiment.feedback_mode": _feedback_mode,  # before feedback_level: raw is a level of its own here
    "experiment.feedback_level": _feedback_level,
    "experiment.max_iterations": _set("protocol", "k"),
    "experiment.max_history_rounds": _set("protocol", "history"),
    "experiment.method": _set("protocol", "sampling"),
    "experiment.n_attempts": _set("batch", "attempts"),
    "experiment.tasks": _set("batch", "tasks", list),
    "experiment.name": _set("batch", "name", str),
    "api.temperature": _set("protocol", "temperature", float),
    "api.model": _set("fixer", "model", str),
    "api.base_url": _set("fixer", "base_url"),
    "api.api_key_env": _set("fixer", "api_key_env"),
    "api.max_tokens": _set("fixer", "max_tokens"),
    "api.max_completion_tokens": _set("fixer", "max_tokens"),
    "api.timeout": _set("fixer", "timeouts", lambda seconds: Timeouts(read=float(seconds))),
    "api.extra_body": _set("fixer", "extra_body", dict),
    "api.top_p": _set("extra_body", "top_p"),
    "api.reasoning_effort": _set("extra_body", "reasoning_effort"),
    "api.backend": _nothing,
    "api.stream": _nothing,
    "logging.save_api_responses": _nothing,
    "performance_gate.threshold": _set("protocol", "gate", float),
    "performance_gate.min_speedup": _set("protocol", "gate", float),
}


def read_release_config(where: str, content: dict[str, Any]) -> dict[str, Any]:
    """Fields of a BatchConfig. Every key that is not understood is named in ``warnings``, none is dropped in silence."""
    given = dict(_flat(content))
    settings: Settings = {"protocol": {}, "fixer": {}, "extra_body": {}, "batch": {}}
    try:
        for key, put in _UNDERSTOOD.items():
            if given.get(key) is not None:
                put(settings, given[key])
    except (TypeError, ValueError) as error:
        raise ConfigError(f"--config {where}: {key}: {error}") from None
    warnings = []
    unknown = [key for key in given if key not in _UNDERSTOOD]
    if unknown:
        warnings.append(
            f"{where} is a config of the CUDABeaver release; not understood, and ignored: {', '.join(unknown)}"
        )
    fixer = settings["fixer"]
    address = fixer.get("base_url")
    if address is not None and not urlsplit(str(address)).hostname:
        warnings.append(
            f"{where}: api.base_url is a blank to fill in ({address}); without it the SDK's own address is used"
        )
        fixer["base_url"] = None
    if "extra_body" in fixer or settings["extra_body"]:
        fixer["extra_body"] = {**fixer.get("extra_body", {}), **settings["extra_body"]}
    batch = settings["batch"]
    fixers = [FixerConfig(name=str(batch.get("name", fixer["model"])), **fixer)] if "model" in fixer else []
    return {**batch, "fixers": fixers, "protocol": settings["protocol"], "warnings": warnings}


def _flat(content: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Two levels of keys, dotted."""
    for name, value in content.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{key}", inner) for key, inner in value.items())
        else:
            yield str(name), value
