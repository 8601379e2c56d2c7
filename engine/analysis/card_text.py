"""A card for people: the same fields as tables, each absent value with its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.analysis.document import (
    Document,
    Section,
    Shown,
    Table,
    count,
    interval,
    missing,
    number,
    share,
    table,
    words,
)

Card = Mapping[str, Any]


def card_document(card: Card) -> Document:
    """The whole card. Raises nothing for a card that keeps to its schema."""
    sections = [
        Section("Coverage", (_coverage(card["coverage"]), *_gaps(card["coverage"]["gaps"]))),
        Section("Results", tuple(_results(card["results"]))),
        Section("Robustness", tuple(_robustness(card["robustness"]))),
        Section(
            "Protocol",
            (
                _turned("settings", "Settings", card["settings"], "setting"),
                _asymmetry(card),
                _denominators(card["denominators"]),
            ),
        ),
        Section("Fixers", (_turned("fixers", "Fixers", card["fixers"], "fixer"),)),
        Section("Corpus", (_pairs("corpus", "Corpus", card["corpus"]),)),
        Section("Runs", tuple(_run(number, run) for number, run in enumerate(card["runs"], 1))),
        Section("Deviations from the paper", (_listing("deviations", "Deviations", card["deviations"]),)),
    ]
    facts = {"made": card["made"], "tool version": card["tool_version"], "schema version": str(card["schema_version"])}
    return Document("Evaluation card", tuple(sections), facts)


def shown(value: Any) -> Shown:
    """Any value of a card as a cell."""
    if isinstance(value, dict):
        if set(value) == {"not_available"}:
            return missing(value["not_available"])
        if {"value", "denominator"} <= set(value):
            return Shown(
                f"{100 * value['value']:.1f} % ({value['numerator']:.4g}/{value['denominator']:.6g})", value["value"]
            )
        if set(value) == {"planned", "missing"}:
            return words(f"{value['planned']} runs, missing: {', '.join(value['missing']) or 'none'}")
        if {"from", "to"} <= set(value):
            return words(f"{value['from']:.2f} to {value['to']:.2f}")
        if {"low", "high"} <= set(value):
            return interval(value["low"], value["high"])
        return words(", ".join(f"{name} {shown(item).text}" for name, item in value.items()) or "none")
    if isinstance(value, list):
        return words(", ".join(shown(item).text for item in value) or "none")
    if isinstance(value, bool):
        return words("yes" if value else "no")
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float):
        return Shown(f"{value:.4g}", value)
    return words("none" if value is None else str(value))


def _absent(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"not_available"}


def _pairs(name: str, title: str, fields: Card) -> Table:
    """A line for each field."""
    return table(name, title, ("field", "value"), [[words(_said(key)), shown(value)] for key, value in fields.items()])


def _listing(name: str, title: str, items: Sequence[Card], note: str = "") -> Table:
    """A line for each item, a column for each field."""
    if not items:
        return table(name, title, ("none",), [], note)
    return table(
        name,
        title,
        [_said(key) for key in items[0]],
        [[shown(value) for value in item.values()] for item in items],
        note,
    )


def _said(name: str) -> str:
    return NAMES.get(name, name.replace("_", " "))


def _coverage(coverage: Card) -> Table:
    rows = [[words(_said(key)), shown(value)] for key, value in coverage.items() if key != "gaps"]
    note = "Cells that are missing, excluded or left out are in no number, and count as no failure."
    return table("coverage", "Planned trajectories", ("what", "number"), rows, note)


def _gaps(gaps: Sequence[Card]) -> list[Table]:
    return [_listing("gaps", "Left out", gaps)] if gaps else []


NAMES: Mapping[str, str] = {
    "pass_at_1": "pass@1",
    "pass_at_k": "pass@k",
    "pass_at_k_correct": "pass@k at p=0",
    "pass_at_k_wilson": "Wilson",
    "pass_at_k_bootstrap": "bootstrap",
    "debug_rate": "debug_rate@k",
    "compile_rate_at_1": "compile_rate@1",
}
"""Fields that people know by another name."""

HEADLINES = (
    "pass_at_k",
    "pass_at_k_wilson",
    "pass_at_k_bootstrap",
    "pass_at_k_correct",
    "pass_at_1",
    "debug_rate",
    "compile_rate_at_1",
)
MIX = (
    "stagnation_of_all",
    "stagnation_of_failing",
    "oscillation",
    "progression",
    "unique_approach_pooled",
    "unique_approach_per_task",
)
COSTS = ("iterations_to_fix", "tokens_to_fix", "cost_to_fix")


def _results(results: Any) -> list[Table]:
    if _absent(results):
        return [table("results", "Results", ("results",), [[shown(results)]])]
    head = ("setting", "fixer", "gate", "k", "tasks", "trajectories")
    tables = [
        _columns("scores", "Scores", results, (*head, *HEADLINES)),
        _columns("progress", "Stagnation and progress", results, (*head[:2], *MIX)),
        _columns("effort", "Means up to the first pass", results, (*head[:2], *COSTS)),
    ]
    for name, title in (
        ("fix_rate_by_category", "fix_rate by category of iteration 1"),
        ("fix_rate_by_bucket", "fix_rate by start bucket, at p=0"),
        ("stagnation_mix", "Signals that end failing trajectories"),
    ):
        keys = list(results[0][name])
        rows = [
            [*map(shown, (each["setting"], each["fixer"])), *(shown(each[name][key]) for key in keys)]
            for each in results
        ]
        tables.append(table(name, title, ("setting", "fixer", *keys), rows))
    return [*tables, _curves(results), _degeneration(results)]


def _columns(name: str, title: str, results: Sequence[Card], fields: Sequence[str]) -> Table:
    rows = [[shown(each[field]) for field in fields] for each in results]
    return table(name, title, [_said(field) for field in fields], rows)


def _curves(results: Sequence[Card]) -> Table:
    """The p-curve of each result, or why there is none."""
    gates = list(
        dict.fromkeys(point["p"] for each in results if not _absent(each["p_curve"]) for point in each["p_curve"])
    )
    rows = []
    for each in results:
        curve = each["p_curve"]
        points = {} if _absent(curve) else {point["p"]: point["pass_at_k"] for point in curve}
        why = shown(curve) if _absent(curve) else missing("not scored")
        rows.append(
            [shown(each["setting"]), shown(each["fixer"]), *(shown(points[p]) if p in points else why for p in gates)]
        )
    return table("p_curve", "pass@k by performance gate", ("setting", "fixer", *(f"p={p:g}" for p in gates)), rows)


def _degeneration(results: Sequence[Card]) -> Table:
    fields = ("first_median", "later_median", "rate", "first_passes", "later_passes")
    rows = []
    for each in results:
        found = each["degeneration"]
        cells = [shown(found)] * len(fields) if _absent(found) else [shown(found[field]) for field in fields]
        rows.append([shown(each["setting"]), shown(each["fixer"]), *cells])
    return table("degeneration", "Repair by degeneration", ("setting", "fixer", *map(_said, fields)), rows)


def _robustness(robustness: Card) -> list[Table]:
    titles = {"swing": "Swing (Eq. 2)", "tau": "Kendall's tau (Eq. 4)", "flips": "Flips"}
    tables = []
    for name, title in titles.items():
        value = robustness[name]
        if _absent(value):
            tables.append(table(name, title, (name,), [[shown(value)]]))
        elif name == "swing":
            rows = [[share(cell) if key == "swing" else shown(cell) for key, cell in item.items()] for item in value]
            tables.append(table(name, title, [_said(key) for key in value[0]], rows))
        elif name == "tau":
            rows = [
                [number(cell) if isinstance(cell, float) else shown(cell) for cell in item.values()] for item in value
            ]
            tables.append(table(name, title, [_said(key) for key in value[0]], rows))
        else:
            tables.append(_listing(name, title, value, "" if value else "No pair of fixers changes its order."))
    return tables


def _turned(name: str, title: str, items: Sequence[Card], each: str) -> Table:
    """A column for each item: there are more fields than a page is wide."""
    rows = [[words(_said(field)), *(shown(item[field]) for item in items)] for field in items[0]]
    return table(name, title, ("field", *(f"{each} {place}" for place in range(1, len(items) + 1))), rows)


def _asymmetry(card: Card) -> Table:
    fields = {**card["asymmetry"], "prompts_shared_across_settings": card["prompts_shared_across_settings"]}
    return _pairs("asymmetry", "Asymmetry and shared draws", fields)


def _denominators(denominators: Card) -> Table:
    rows = [[words(name), words(text)] for name, text in denominators.items()]
    return table("denominators", "What each rate divides by", ("rate", "denominator"), rows)


def _run(place: int, run: Card) -> Table:
    fields = {key: value for key, value in run.items() if key != "hardware"}
    fields |= {f"hardware {key}": value for key, value in run["hardware"].items()}
    return _pairs(f"run_{place}", f"Run {place}", fields)
