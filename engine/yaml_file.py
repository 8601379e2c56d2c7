"""Read a YAML file that a user wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.errors import ConfigError
from engine.plain_file import read_plain


def read_yaml(path: Path, where: str) -> Any:
    """What the file holds, None when it is empty. Raises ConfigError that begins with ``where``, the option that named it."""
    import yaml  # imported where it is used: most fixers and runs need none

    try:
        return yaml.safe_load(read_plain(path).decode())
    except OSError as error:
        raise ConfigError(f"{where}: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: not UTF-8, or a date that is none
        raise ConfigError(f"{where}: not YAML: {' '.join(str(error).split())}") from error
