"""Read a YAML file that a user wrote."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

from engine.errors import ConfigError
from engine.plain_file import read_plain


def read_yaml(path: Path, where: str, doubled: list[str] | None = None) -> Any:
    """What the file holds, None when it is empty. Raises ConfigError that begins with ``where``, the option that named it.

    A key that is there twice is such an error; with ``doubled`` it is added there, and its last value counts.
    """
    import yaml  # imported where it is used: most fixers and runs need none

    class Loader(yaml.SafeLoader):
        """A key that is there twice is a mistake: one of its values is lost."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
            seen = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                    if key.value in seen:
                        if doubled is not None:
                            doubled.append(str(key.value))
                            continue
                        raise yaml.constructor.ConstructorError(
                            None, None, f"the key {key.value[:60]} is there twice", key.start_mark
                        )
                    seen.add(key.value)
            return super().construct_mapping(node, deep)

    try:
        content = yaml.load(read_plain(path), Loader)
    except OSError as error:
        raise ConfigError(f"{where}: {error.strerror}") from error
    except RecursionError:
        raise ConfigError(f"{where}: not YAML: nested too deeply") from None
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, KeyError, IndexError, OverflowError) as error:
        # beside YAMLError all that the library's own constructors raise: bytes that are no text, a date or number that is none
        said = " ".join(str(error).split())
        if not isinstance(error, yaml.YAMLError | ValueError):
            said = f"a value that does not fit its tag ({said})"
        raise ConfigError(f"{where}: not YAML: {said}") from error
    if lone := _lone_surrogate(content):
        raise ConfigError(
            f"{where}: {lone[:60].encode('ascii', 'backslashreplace').decode()}: is no text (\\ud800 and its like)"
        )
    return content


def _lone_surrogate(value: Any) -> str | None:
    """The first text that no file can hold."""
    if isinstance(value, str):
        return value if any("\ud800" <= sign <= "\udfff" for sign in value) else None
    if isinstance(value, dict):
        return next((found for item in value.items() for part in item if (found := _lone_surrogate(part))), None)
    if isinstance(value, list | tuple):
        return next((found for item in value if (found := _lone_surrogate(item))), None)
    return None
