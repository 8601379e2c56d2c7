"""``--sources FILE``: which model made a task's broken start, for corpora that do not say it (protocol 27)."""

from __future__ import annotations

from pathlib import Path


def read_sources(path: Path | None) -> dict[str, str]:
    """Model by task, from a YAML or JSON mapping. Raises ConfigError for anything else."""
    if path is None:
        return {}
    from engine.errors import ConfigError
    from engine.yaml_file import read_yaml

    where = f"--sources {path}"
    content = read_yaml(path, where)
    if not isinstance(content, dict) or not all(isinstance(part, str) for pair in content.items() for part in pair):
        raise ConfigError(f"{where}: must be a mapping of task ids to models, such as softmax_rows: GPT-5.4")
    return content
