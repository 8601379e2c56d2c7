"""Read a YAML file that a user wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.errors import ConfigError


def read_yaml(path: Path, where: str) -> Any:
    """What the file holds, None when it is empty. Raises ConfigError that begins with ``where``, the option that named it."""
    import yaml  # imported where it is used: most fixers and runs need none

    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{where}: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: not UTF-8, or a date that is none
        raise ConfigError(f"{where}: not YAML: {' '.join(str(error).split())}") from error
