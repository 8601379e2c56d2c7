"""The themes: one YAML file each, of the colours that the style sheet and the panes name."""

from __future__ import annotations

from pathlib import Path

from textual.theme import Theme

from engine.errors import ConfigError
from engine.yaml_file import read_yaml

DEFAULT = "lodge"
STYLE_SHEET = "beaver.tcss"

_COLOURS = (
    "primary",
    "secondary",
    "accent",
    "foreground",
    "background",
    "surface",
    "panel",
    "success",
    "warning",
    "error",
)


def themes_folder() -> Path:
    """Where the themes lie: the repository's folder, or the copy in an installed package. Raises ConfigError."""
    here = Path(__file__).resolve().parent
    for folder in (here.parent / "themes", here / "_themes"):
        if (folder / STYLE_SHEET).is_file():
            return folder
    raise ConfigError("themes: missing from this installation; install beaver-tui again")


def read_theme(path: Path) -> Theme:
    """A theme from its file. Raises ConfigError that names what is missing or unknown in it."""
    content = read_yaml(path, str(path))
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: must be a mapping of colours")
    wanted = {"name", "dark", "variables", *_COLOURS}
    if wrong := sorted(wanted.symmetric_difference(content)):
        raise ConfigError(
            f"{path}: {', '.join(map(str, wrong))}: missing or unknown; a theme has {', '.join(sorted(wanted))}"
        )
    return Theme(**content)


def builtin_themes() -> list[Theme]:
    """Every theme of this installation, the default first."""
    themes = [read_theme(path) for path in sorted(themes_folder().glob("*.yaml"))]
    return sorted(themes, key=lambda theme: (theme.name != DEFAULT, theme.name))
