"""Charts as SVG text, drawn by a few functions of our own: no script, no font and no picture from anywhere else.

Colours are CSS variables of the page that holds them, so that one chart serves light and dark. Whatever has a colour has a
sign, a dash or a label besides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from math import ceil

from engine.analysis.document import Curve, Heat, Ranks, Strip, clean

DASHES = ("", "7 4", "2 3", "9 3 2 3", "14 4", "4 2 1 2", "1 4", "11 3 3 3 3 3")
"""One for each line of a chart, in turn, beside its colour."""
MARKS = "●■▲◆▼○□△"
"""One for each line of a chart, in turn."""
SERIES = 8
"""Colours of lines: --s0 to --s7."""

MOST_BANDS = 4
"""Curves up to which each has its interval drawn: more areas over each other say nothing."""

MOST_STRIPS = 400
"""Trajectories that are drawn one by one."""

LINE, LABEL = 15, 11.5
"""Height of a line of text and of its letters, in the picture's units."""


def text_of(text: str, width: int = 34) -> str:
    """Outside text for a picture or a page: one escaped line of at most ``width`` characters."""
    said = clean(text)
    return escape(said if len(said) <= width else said[: width - 1] + "…")


def p_curves(curves: Sequence[Curve], x_label: str, y_label: str) -> str:
    """Shares over the settings of an axis, a line for each fixer, its name at its end."""
    drawn = [curve for curve in curves if curve.points]
    if not drawn:
        return ""
    left, top, wide, high = 52.0, 14.0, 460.0, 250.0
    xs = sorted({x for curve in drawn for x, _ in curve.points})
    step = _step(max(y for curve in drawn for _, y in curve.points))
    steps = max(1, ceil(max(y for curve in drawn for _, y in curve.points) / step - 1e-9))
    most = step * steps
    place = _scale(xs[0], xs[-1], left, left + wide)
    rise = _scale(0.0, most, top + high, top)
    parts = [
        f'<line class="grid" x1="{left}" x2="{left + wide}" y1="{rise(y):.1f}" y2="{rise(y):.1f}"/>'
        f'<text x="{left - 8}" y="{rise(y) + 4:.1f}" text-anchor="end">{100 * y:.0f}</text>'
        for y in (step * number for number in range(steps + 1))
    ]
    last = -100.0
    for x in xs:
        parts.append(f'<line class="grid" x1="{place(x):.1f}" x2="{place(x):.1f}" y1="{top}" y2="{top + high}"/>')
        if place(x) - last >= 26:
            parts.append(f'<text x="{place(x):.1f}" y="{top + high + 18}" text-anchor="middle">{x:g}</text>')
            last = place(x)
    ends = _spread([rise(curve.points[-1][1]) for curve in drawn])
    for index, (curve, end) in enumerate(zip(drawn, ends, strict=True)):
        corners = " ".join(f"{place(x):.1f},{rise(y):.1f}" for x, y in curve.points)
        mark = MARKS[index % len(MARKS)]
        colour = f"var(--s{index % SERIES})"
        band = _band(curve, place, rise, most) if len(drawn) <= MOST_BANDS else ""
        if band:
            parts.append(f'<polygon class="band" fill="{colour}" points="{band}"/>')
        dash = DASHES[index % len(DASHES)]
        parts.append(f'<polyline class="line" stroke="{colour}" stroke-dasharray="{dash}" points="{corners}"/>')
        parts += [
            f'<text class="mark" style="fill:{colour}" x="{place(x):.1f}" y="{rise(y) + 4:.1f}" text-anchor="middle">{mark}'
            f"<title>{text_of(curve.name, 80)}: {100 * y:.1f} % at {x:g}</title></text>"
            for x, y in curve.points
        ]
        x_end, y_end = place(curve.points[-1][0]), rise(curve.points[-1][1])
        parts.append(
            f'<line class="lead" x1="{x_end + 7:.1f}" y1="{y_end:.1f}" x2="{left + wide + 16}" y2="{end:.1f}"/>'
        )
        parts.append(
            f'<text style="fill:{colour}" x="{left + wide + 20}" y="{end + 4:.1f}">{mark} {text_of(curve.name, 26)}</text>'
        )
    bottom = top + high + 38
    parts.append(f'<text x="{left + wide / 2}" y="{bottom}" text-anchor="middle">{text_of(x_label, 80)}</text>')
    parts.append(
        f'<text x="14" y="{top + high / 2}" text-anchor="middle" transform="rotate(-90 14 {top + high / 2})">{text_of(y_label, 60)}</text>'
    )
    return _svg(left + wide + 225, bottom + 10, f"{y_label} over {x_label}", parts)


def strips(rows: Sequence[Strip], signs: Mapping[str, str]) -> str:
    """Trajectories as strings of category signs: a line for each task, a column for each fixer."""
    shown = list(rows)[:MOST_STRIPS]
    if not shown:
        return ""
    box, left, top = 17.0, 190.0, 26.0
    tasks, fixers = list(dict.fromkeys(row.task for row in shown)), list(dict.fromkeys(row.fixer for row in shown))
    longest = {fixer: max(len(row.categories) for row in shown if row.fixer == fixer) for fixer in fixers}
    starts, at = {}, left
    for fixer in fixers:
        starts[fixer] = at
        at += max(longest[fixer] * box, 8.0 * min(len(fixer), 22)) + 18
    parts = [f'<text class="strong" x="{starts[fixer]:.1f}" y="14">{text_of(fixer, 22)}</text>' for fixer in fixers]
    parts += [
        f'<text x="{left - 10}" y="{top + box * line + 13:.1f}" text-anchor="end">{text_of(task, 26)}</text>'
        for line, task in enumerate(tasks)
    ]
    used: dict[tuple[str, str], int] = {}
    for row in shown:
        offset = used.get((row.task, row.fixer), 0)
        used[row.task, row.fixer] = offset + len(row.categories)
        for step, category in enumerate(row.categories, offset):
            x, y = starts[row.fixer] + step * box, top + tasks.index(row.task) * box
            parts.append(
                f'<rect class="box" fill="var(--{_variable(category)})" x="{x:.1f}" y="{y:.1f}" width="{box - 2}" height="{box - 2}" rx="3"/>'
                f'<text class="sign" x="{x + box / 2 - 1:.1f}" y="{y + 12:.1f}" text-anchor="middle">{_sign(signs, category)}'
                f"<title>{text_of(row.task, 60)}, {text_of(row.fixer, 60)}, {step - offset + 1}: {text_of(category, 60)}"
                f"{f' ({text_of(row.stop, 40)})' if row.stop else ''}</title></text>"
            )
    return _svg(max(at, 320), top + box * len(tasks) + 6, "Trajectories as strings of categories", parts)


def heat_map(heat: Heat, signs: Mapping[str, str]) -> str:
    """The transition matrix: rows are what was, columns what came next, and each cell says its share."""
    cell, left, top = 46.0, 230.0, 30.0
    names = heat.names
    parts = []
    for index, name in enumerate(names):
        sign = _sign(signs, name)
        middle = top + (index + 0.5) * 30 + 4
        parts.append(
            f'<text x="{left - 10}" y="{middle:.1f}" text-anchor="end">{text_of(name, 26)} {sign}  n={heat.counts[index]}</text>'
        )
        parts.append(
            f'<text x="{left + (index + 0.5) * cell:.1f}" y="20" text-anchor="middle">{sign}<title>{text_of(name)}</title></text>'
        )
    for row, shares in enumerate(heat.shares):
        for column, value in enumerate(shares):
            x, y = left + column * cell, top + row * 30
            strength = 0.0 if value is None else value
            parts.append(f'<rect class="cell" x="{x:.1f}" y="{y:.1f}" width="{cell - 2}" height="28" rx="3"/>')
            if strength > 0:
                parts.append(
                    f'<rect fill="var(--heat)" fill-opacity="{0.12 + 0.78 * strength:.2f}" x="{x:.1f}" y="{y:.1f}" width="{cell - 2}" height="28" rx="3"/>'
                )
            said = "" if value is None else "·" if value == 0 else f"{100 * value:.0f}"
            weight = ' class="over"' if strength > 0.55 else ' class="faint"' if not strength else ""
            parts.append(
                f'<text{weight} x="{x + cell / 2 - 1:.1f}" y="{y + 18:.1f}" text-anchor="middle">{said}</text>'
            )
    return _svg(
        left + cell * len(names) + 8,
        top + 30 * len(names) + 8,
        "Transitions between categories, percent of a row",
        parts,
    )


def bump_chart(ranks: Ranks) -> str:
    """The rank of every fixer at every setting; a line that moves against the first setting is thick and its rank has a mark."""
    if not ranks.ranks or len(ranks.settings) < 2:
        return ""
    left, top, step, line = 190.0, 34.0, 104.0, 30.0
    deepest = max((rank for row in ranks.ranks.values() for rank in row if rank is not None), default=1.0)
    parts = [
        f'<text class="strong" x="{left + index * step:.1f}" y="16" text-anchor="middle">{text_of(name, 15)}</text>'
        for index, name in enumerate(ranks.settings)
    ]
    labels = _spread([top + (row[0] or deepest + 1) * line - line / 2 for row in ranks.ranks.values()])
    for index, ((fixer, row), label) in enumerate(zip(ranks.ranks.items(), labels, strict=True)):
        colour, dash = f"var(--s{index % SERIES})", DASHES[index % len(DASHES)]
        places = [
            (left + position * step, top + rank * line - line / 2, rank)
            for position, rank in enumerate(row)
            if rank is not None
        ]
        moved = len({rank for rank in row if rank is not None}) > 1
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
        parts.append(
            f'<polyline class="line{" moved" if moved else ""}" stroke="{colour}" stroke-dasharray="{dash}" points="{corners}"/>'
        )
        for x, y, rank in places:
            flipped = row[0] is not None and rank != row[0]
            parts.append(
                f'<circle class="dot" stroke="{colour}" cx="{x:.1f}" cy="{y:.1f}" r="{14 if flipped else 11}" stroke-width="{3 if flipped else 1.2}"/>'
            )
            parts.append(
                f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{rank:g}{"*" if flipped else ""}</text>'
            )
        parts.append(
            f'<text style="fill:{colour}" x="{left - 20}" y="{label + 4:.1f}" text-anchor="end">{text_of(fixer, 24)}</text>'
        )
    return _svg(
        left + step * (len(ranks.settings) - 1) + 40, top + deepest * line + 12, "Ranks of fixers by setting", parts
    )


def legend(categories: Sequence[str], signs: Mapping[str, str]) -> str:
    """Sign, colour and name of each category, as HTML."""
    items = [
        f'<span class="key"><b style="background:var(--{_variable(name)})">{_sign(signs, name)}</b> {text_of(name)}</span>'
        for name in categories
    ]
    return f'<p class="legend">{" ".join(items)}</p>'


def _sign(signs: Mapping[str, str], category: str) -> str:
    """A category's sign, as text: some fonts have a picture of their own colours for it."""
    return escape(signs.get(category, "?")) + "\N{VARIATION SELECTOR-15}"


def _variable(category: str) -> str:
    """The CSS variable of a category's colour; an unknown category has the quiet one."""
    plain = category.replace("_", "")
    return f"category-{category}" if plain.isascii() and plain.isalpha() else "quiet"


class _Scale:
    """Straight from one range to another."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self._low, self._start = low, start
        self._slope = (end - start) / (high - low) if high != low else 0.0

    def __call__(self, value: float) -> float:
        return self._start + (value - self._low) * self._slope


def _step(most: float) -> float:
    """Between two lines of a grid with at most five of them, in numbers that people count in."""
    return next((step for step in (0.02, 0.05, 0.1, 0.2) if most <= 5 * step), 0.25)


def _scale(low: float, high: float, start: float, end: float) -> _Scale:
    return _Scale(low, high, start, end)


def _band(curve: Curve, place: _Scale, rise: _Scale, most: float) -> str:
    """Corners of the area between the bounds of a curve's intervals, cut off at ``most``; empty when one is missing."""
    bounds = [bound for bound in curve.spread if bound is not None]
    if len(bounds) != len(curve.points):
        return ""
    upper = [(x, high) for (x, _), (_, high) in zip(curve.points, bounds, strict=True)]
    lower = [(x, low) for (x, _), (low, _) in zip(curve.points, bounds, strict=True)]
    return " ".join(f"{place(x):.1f},{rise(min(y, most)):.1f}" for x, y in [*upper, *reversed(lower)])


def _spread(places: Sequence[float], apart: float = LINE) -> list[float]:
    """Places for labels near those wanted, in the same order from top to bottom, none nearer than ``apart`` to the next."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    found = list(places)
    for before, after in pairwise(order):
        found[after] = max(found[after], found[before] + apart)
    return found


def _svg(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{text_of(title, 120)}</title>{''.join(parts)}</svg>"
    )
