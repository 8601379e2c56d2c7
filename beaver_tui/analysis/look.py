"""Signs and colours of categories for reports, from the program's own tables and themes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from beaver_tui.glyphs import CATEGORY_SIGNS

if TYPE_CHECKING:
    from engine.analysis.page import Look

LIGHT, DARK = "river", "lodge"
"""The themes of a light and a dark page."""


def colours(theme: str) -> dict[str, str]:
    """Every colour of a theme by its name."""
    from beaver_tui.themes import themes_folder
    from engine.yaml_file import read_yaml

    path = themes_folder() / f"{theme}.yaml"
    content = read_yaml(path, str(path))
    flat = {**content, **content["variables"]}
    return {name: value for name, value in flat.items() if isinstance(value, str) and value.startswith("#")}


def signs(ascii_only: bool = False) -> Mapping[str, str]:
    return {category: pair[ascii_only] for category, pair in CATEGORY_SIGNS.items() if category}


def page_look() -> Look:
    """What an HTML page needs."""
    from engine.analysis.page import Look

    return Look(signs(), colours(LIGHT), colours(DARK))
