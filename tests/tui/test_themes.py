"""Themes: text can be read on what is behind it, and categories can be told apart, with any common colour blindness too.

Contrast is that of WCAG 2.1 (relative luminance). Colour blindness is simulated with the matrices for full severity of Machado,
Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009, in
linear RGB. Distances are Euclidean in CIE L*a*b* (D65): 2.3 is what can just be noticed.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.color import Color
from textual.theme import Theme

from beaver_tui.glyphs import CATEGORY_SIGNS, SIGNS
from beaver_tui.themes import builtin_themes, read_theme, themes_folder
from engine.errors import ConfigError
from engine.verdict.categories import Category

THEMES = builtin_themes()
CATEGORIES = [f"category-{category}" for category in Category]

READABLE = 4.5
"""Contrast of text, WCAG 2.1 AA."""
HIGH = 7.0
"""Contrast of text in the theme night, WCAG 2.1 AAA."""
APART = 10.0
"""Least distance of two categories in the theme okabe, however they are seen: four times what can just be noticed."""

MATRICES = {
    "as it is": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}


def linear(colour: str) -> tuple[float, ...]:
    """The linear red, green and blue of "#rrggbb", 0 to 1."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)


def luminance(colour: str) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def seen(colour: str, matrix: tuple[tuple[float, ...], ...]) -> tuple[float, float, float]:
    """L*, a*, b* of a colour as it is seen through a matrix."""
    rgb = linear(colour)
    red, green, blue = (min(1.0, max(0.0, sum(m * c for m, c in zip(row, rgb, strict=True)))) for row in matrix)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def colours(theme: Theme) -> dict[str, str]:
    own = {name: getattr(theme, name) for name in ("primary", "accent", "foreground", "success", "warning", "error")}
    return {**own, **theme.variables}


def mixed(theme: Theme, over: str, share: float, under: str) -> str:
    """A translucent colour of the style sheet as it is drawn."""
    return Color.parse(under).blend(Color.parse(over), share).hex[:7]


TEXT = ("primary", "accent", "foreground", "success", "warning", "error", "quiet", *CATEGORIES)
CODE = (
    "syntax-keyword",
    "syntax-type",
    "syntax-function",
    "syntax-string",
    "syntax-number",
    "syntax-comment",
    "syntax-preprocessor",
    "syntax-cuda",
)


def behind(theme: Theme) -> dict[str, str]:
    """What text can stand on: the grounds of panes."""
    return {"background": theme.background, "surface": theme.surface, "panel": theme.panel}  # type: ignore[dict-item]


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_text_can_be_read(theme: Theme):
    least = HIGH if theme.name == "night" else READABLE
    known = colours(theme)
    poor = {
        f"{name} on {ground}": round(contrast(known[name], colour), 2)
        for name in (*TEXT, *CODE)
        for ground, colour in behind(theme).items()
        if contrast(known[name], colour) < least
    }
    assert poor == {}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_text_can_be_read_in_changed_lines(theme: Theme):
    least = HIGH if theme.name == "night" else READABLE
    known = colours(theme)
    poor = {
        f"{name} on {ground}": round(contrast(known[name], known[ground]), 2)
        for names, grounds in (
            (("foreground", *CODE), ("diff-add", "diff-remove")),
            (("foreground",), ("diff-add-word", "diff-remove-word")),  # words that changed have no colour of their own
        )
        for name in names
        for ground in grounds
        if contrast(known[name], known[ground]) < least
    }
    assert poor == {}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_the_selected_row_can_be_read_and_seen(theme: Theme):
    cursor = mixed(theme, str(theme.primary), 0.4, str(theme.background))
    assert contrast(str(theme.foreground), cursor) >= READABLE
    assert contrast(cursor, str(theme.background)) >= 1.4


@pytest.mark.parametrize("sight", MATRICES)
def test_categories_can_be_told_apart_in_okabe(sight: str):
    theme = next(theme for theme in THEMES if theme.name == "okabe")
    labs = {name: seen(theme.variables[name], MATRICES[sight]) for name in CATEGORIES}
    near = {}
    for one, other in combinations(CATEGORIES, 2):
        distance = sum((a - b) ** 2 for a, b in zip(labs[one], labs[other], strict=True)) ** 0.5
        if distance < APART:
            near[one, other] = round(distance, 1)
    assert near == {}


@pytest.mark.parametrize("form", [0, 1], ids=["signs", "ASCII"])
def test_every_category_has_a_sign_of_its_own_one_cell_wide(form: int):
    signs = [CATEGORY_SIGNS[category][form] for category in Category]
    assert len(set(signs)) == len(signs)
    assert [sign for sign in signs if cell_len(sign) != 1] == []


def test_stand_ins_are_ascii():
    pairs = {**CATEGORY_SIGNS, **SIGNS}
    assert [name for name, (_, ascii_sign) in pairs.items() if not ascii_sign.isascii()] == []


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_theme_names_the_same_colours(theme: Theme):
    assert sorted(theme.variables) == sorted(THEMES[0].variables)
    assert set(CATEGORIES) <= set(theme.variables)


def test_a_colour_that_is_missing_or_unknown_is_named(tmp_path: Path):
    text = (themes_folder() / "lodge.yaml").read_text()
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace("primary:", "primry:"))
    with pytest.raises(ConfigError, match="primary, primry: missing or unknown"):
        read_theme(path)
