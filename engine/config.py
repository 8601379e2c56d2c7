"""The YAML config of a batch: fixers, protocol, tasks, limits. Unknown keys are errors with a suggestion."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import msgspec
import yaml

from engine.errors import ConfigError
from engine.fixers.config import FixerConfig, read_config
from engine.harness.limits import LimitsConfig
from engine.protocol import PRESETS, Protocol
from engine.release_config import FOREIGN_KEYS, read_release_config


class BatchConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a file may set; the command line overrides it. ``warnings`` names what a foreign dialect holds and we ignore."""

    name: str | None = None
    corpus: str | None = None
    tasks: list[str] = []
    fixers: list[FixerConfig] = []
    preset: str | None = None
    protocol: dict[str, Any] = {}
    limits: LimitsConfig = LimitsConfig()
    device: str | None = None
    sandbox: str | None = None
    jobs: int | None = None
    attempts: int | None = None
    two_phase: bool | None = None
    warnings: list[str] = []


def read_batch_config(path: Path) -> BatchConfig:
    """Read a config file. Raises ConfigError that names the file, the key and the nearest known key."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"--config {path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"--config {path}: not YAML: {' '.join(str(error).split())}") from error
    if content is None:
        content = {}
    if not isinstance(content, dict):
        raise ConfigError(f"--config {path}: must be a mapping of keys, such as fixers: and protocol:")
    if FOREIGN_KEYS & set(content):
        return BatchConfig(**read_release_config(str(path), content))
    known = set(BatchConfig.__struct_fields__) - {"warnings"}
    _refuse_unknown(path, "", content, known)
    _refuse_unknown(path, "protocol.", content.get("protocol") or {}, set(Protocol.__struct_fields__))
    _refuse_unknown(path, "limits.", content.get("limits") or {}, set(LimitsConfig.__struct_fields__))
    entries = content.pop("fixers", None) or []
    if not isinstance(entries, list):
        raise ConfigError(f"--config {path}: fixers: must be a list")
    fixers = []
    for index, entry in enumerate(entries):
        where = f"--config {path}: fixers[{index}]"
        _refuse_unknown(path, f"fixers[{index}].", entry, set(FixerConfig.__struct_fields__))
        fixers.append(read_config(entry, where))
    try:
        config = msgspec.convert({name: value for name, value in content.items() if value is not None}, BatchConfig)
    except msgspec.ValidationError as error:
        raise ConfigError(f"--config {path}: {error}") from None
    return msgspec.structs.replace(config, fixers=fixers)


def read_protocol(preset: str | None, *layers: dict[str, Any]) -> Protocol:
    """A preset (the paper's when none is named), overridden by each layer in turn; None values override nothing."""
    if preset is not None and preset not in PRESETS:
        raise ConfigError(f"--preset {preset}: choose {' or '.join(PRESETS)}")
    fields: dict[str, Any] = msgspec.to_builtins(PRESETS[preset or "paper"])
    for layer in layers:
        fields |= {name: value for name, value in layer.items() if value is not None}
    try:
        return msgspec.convert(fields, Protocol)
    except msgspec.ValidationError as error:
        raise ConfigError(f"protocol: {error}") from None


def _refuse_unknown(path: Path, place: str, mapping: object, known: set[str]) -> None:
    if not isinstance(mapping, dict):
        raise ConfigError(f"--config {path}: {place.rstrip('.')}: must be a mapping of keys")
    for key in mapping:
        if key not in known:
            near = difflib.get_close_matches(str(key), sorted(known), n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}"
            raise ConfigError(f"--config {path}: unknown key {place}{key}; {hint}")
