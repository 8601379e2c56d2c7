"""The YAML config of a batch: fixers, protocol, tasks, limits. Unknown keys are errors with a suggestion."""

from __future__ import annotations

import difflib
import math
from pathlib import Path
from typing import Any, TypeVar, overload

import msgspec

from engine.complaints import complaint
from engine.errors import ConfigError
from engine.fixers.config import FixerConfig, read_config
from engine.harness.limits import LimitsConfig
from engine.protocol import PRESETS, Protocol
from engine.release_config import is_release_config, rename_keys
from engine.yaml_file import read_yaml

Value = TypeVar("Value")

MOST_NAME = 60
"""Characters of a run's name, which is part of its folder's."""

BOUNDS: dict[str, tuple[int, int]] = {
    "jobs": (1, 4096),
    "attempts": (1, 100_000),
    "memory_mib": (1, 1 << 30),
    "file_size_mib": (1, 1 << 30),
    "processes": (1, 1 << 22),
}
"""Least and greatest value of every number that no struct checks by itself. The upper ones are what a kernel still takes."""


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
    few_shot_from: list[str] = []
    few_shot_file: str | None = None
    warnings: list[str] = []

    def __post_init__(self) -> None:
        if self.name is not None and not (self.name.isprintable() and 0 < len(self.name.strip()) <= MOST_NAME):
            raise ConfigError(f"name: must be printable text of 1 to {MOST_NAME} characters")
        for name in ("jobs", "attempts"):
            check_bounds(name, name, getattr(self, name))
        for name in LimitsConfig.__struct_fields__:
            check_bounds(f"limits.{name}", name, getattr(self.limits, name))

    @property
    def given(self) -> list[str]:
        """The keys that the file sets to something else than their default."""
        plain = BatchConfig()
        names = (name for name in self.__struct_fields__ if name != "warnings")
        return [name for name in names if getattr(self, name) != getattr(plain, name)]


@overload
def first_given(*values: Value | None) -> Value | None: ...


@overload
def first_given(*values: Value | None, default: Value) -> Value: ...


def first_given(*values: Value | None, default: Value | None = None) -> Value | None:
    """The first value that is not None. Not ``or``: 0 and "" are values, and mostly wrong ones that must be told."""
    return next((value for value in values if value is not None), default)


def check_bounds(shown: str, name: str, value: float | None) -> None:
    """Raises ConfigError, which calls the number ``shown``, when it is outside BOUNDS[``name``]. None is no number."""
    least, most = BOUNDS[name]
    if value is not None and value < least:
        raise ConfigError(f"{shown} {value}: must be at least {least}")
    if value is not None and value > most:
        raise ConfigError(f"{shown} {value}: must be at most {most}")


def read_batch_config(path: Path) -> BatchConfig:
    """Read a config file. Raises ConfigError that names the file, the key and the nearest known key."""
    where = f"--config {path}"
    doubled: list[str] = []
    content = read_yaml(path, where, doubled)
    if content is None:
        content = {}
    if doubled and not (isinstance(content, dict) and is_release_config(content)):
        content = read_yaml(path, where)  # says where
    if not isinstance(content, dict):
        raise ConfigError(f"{where}: must be a mapping of keys, such as fixers: and protocol:")
    warnings: list[str] = []
    if is_release_config(content):
        content, warnings = rename_keys(where, content)
        if doubled:
            warnings.append(f"{where}: there twice: {', '.join(doubled)}; the last one counts, as in the release")
    return msgspec.structs.replace(_convert(where, content), warnings=warnings)


def _convert(where: str, content: dict[str, Any]) -> BatchConfig:
    given = {name: value for name, value in content.items() if value is not None}
    _refuse_unknown(where, "", given, set(BatchConfig.__struct_fields__) - {"warnings"})
    _refuse_unknown(where, "protocol.", given.get("protocol", {}), set(Protocol.__struct_fields__))
    _refuse_unknown(where, "limits.", given.get("limits", {}), set(LimitsConfig.__struct_fields__))
    entries = given.pop("fixers", [])
    if not isinstance(entries, list):
        raise ConfigError(f"{where}: fixers: must be a list, for example [{{name: qwen, model: Qwen/Qwen3-Coder}}]")
    fixers = []
    for index, entry in enumerate(entries):
        _refuse_unknown(where, f"fixers[{index}].", entry, set(FixerConfig.__struct_fields__))
        fixers.append(read_config(entry, f"{where}: fixers[{index}]"))
    try:
        config = msgspec.convert(given, BatchConfig)
        read_protocol(None, config.protocol)  # a mistake is told with the name of the file that holds it
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {complaint(error, BatchConfig)}") from None
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    return msgspec.structs.replace(config, fixers=fixers)


def read_protocol(preset: str | None, *layers: dict[str, Any]) -> Protocol:
    """A preset (the paper's when none is named), overridden by each layer in turn; None values override nothing."""
    if preset is not None and preset not in PRESETS:
        raise ConfigError(f"--preset {preset}: choose {' or '.join(PRESETS)}")
    fields: dict[str, Any] = msgspec.to_builtins(PRESETS["paper" if preset is None else preset])
    for layer in layers:
        fields |= {name: value for name, value in layer.items() if value is not None}
    for name, value in fields.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"protocol: {name}={value!r} must be a finite number")
    try:
        return msgspec.convert(fields, Protocol)
    except msgspec.ValidationError as error:
        raise ConfigError(complaint(error, Protocol, "protocol")) from None


def _refuse_unknown(where: str, place: str, mapping: object, known: set[str]) -> None:
    if not isinstance(mapping, dict):
        raise ConfigError(f"{where}: {place.rstrip('.')}: must be a mapping of keys")
    for key in mapping:
        if key not in known:
            near = difflib.get_close_matches(str(key), sorted(known), n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}"
            raise ConfigError(f"{where}: unknown key {place}{key}; {hint}")
