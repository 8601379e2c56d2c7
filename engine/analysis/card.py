"""The evaluation card: what was scored, under which protocol, how sure it is, and what is missing (docs/analysis.md).

A card that lacks a field is not written: what does not exist stands there with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.analysis.axes import Axis, axes_of
from engine.analysis.card_check import faults
from engine.analysis.card_schema import CARD_VERSION
from engine.analysis.disclosure import (
    Card,
    absent,
    corpus_of,
    coverage_of,
    deviations,
    fixers_of,
    runs_of,
    settings_of,
)
from engine.analysis.document import clean as line
from engine.analysis.frame import SIGNALS, Frame
from engine.analysis.intervals import Interval, bootstrap, wilson
from engine.analysis.metrics import (
    compile_rate,
    cost_to_fix,
    debug_rate,
    fix_rate_by_bucket,
    fix_rate_by_category,
    iterations_to_fix,
    pass_at_1,
    pass_at_k,
    tokens_to_fix,
)
from engine.analysis.performance import THRESHOLDS, allowed_thresholds, degeneration, p_sweep
from engine.analysis.rates import AnalysisError, Figure, Groups, Rate, Tally, groups_by, rates_by
from engine.analysis.scoring import Scored, Scoring, score
from engine.analysis.stagnation import stagnation_rates
from engine.analysis.transitions import progression_rate, unique_by_task, unique_pooled
from engine.protocol import Protocol
from engine.rundir import RunDirectory

DENOMINATORS: Mapping[str, str] = {
    "pass_at_1": "tasks; for repeated sampling the mean over a task's attempts",
    "pass_at_k": "tasks (a trajectory each; for repeated sampling all attempts of a task together)",
    "debug_rate": "tasks that failed at iteration 1 (D.3)",
    "compile_rate_at_1": "first candidates",
    "fix_rate_by_category": "tasks whose iteration 1 was of the category (D.3; passed has no row)",
    "fix_rate_by_bucket": "tasks whose broken start is of the bucket, at p=0 (Table 13)",
    "stagnation_of_all": "tasks (D.3)",
    "stagnation_of_failing": "tasks that never passed as played (Table 12)",
    "stagnation_mix": "tasks that never passed as played (Table 6)",
    "oscillation": "tasks (D.3)",
    "progression": "tasks that failed at iteration 1",
    "unique_approach_pooled": "iterations",
    "unique_approach_per_task": "trajectories, the mean of each one's own ratio",
    "degeneration": "measured passes after iteration 1, of tasks solved at p=0",
}
"""What each rate divides by (protocol 29). Cells that are not counted are in no denominator; see coverage."""


def make_card(
    runs: Sequence[RunDirectory],
    frame: Frame,
    scoring: Scoring,
    *,
    made: str,
    tool_version: str,
    verdicts: Mapping[str, int] | None = None,
    filters: str | None = None,
    plan: Mapping[str, Protocol] | None = None,
) -> Card:
    """The card of ``runs``, whose Frame this is, scored at ``scoring.gate``. Raises AnalysisError when the runs cannot be scored
    there, and when the card would not be whole."""
    counted = len(frame.trajectories) > 0
    scored = score(frame, scoring)
    card = {
        "schema_version": CARD_VERSION,
        "made": made,
        "tool_version": tool_version,
        "runs": runs_of(runs),
        "fixers": fixers_of(runs, frame),
        "corpus": corpus_of(runs, frame, verdicts, filters),
        "settings": settings_of(runs),
        "asymmetry": _asymmetry(scored),
        "prompts_shared_across_settings": False,
        "coverage": coverage_of(runs, frame, plan),
        "denominators": dict(DENOMINATORS),
        "results": _results(scored) if counted else absent("no trajectory is counted; see coverage"),
        "robustness": _robustness(axes_of(frame, scoring)),
        "deviations": deviations(runs),
    }
    if wrong := faults(card):
        raise AnalysisError(f"the card is not whole and was not written: {'; '.join(wrong[:5])}")
    return card


def _asymmetry(scored: Scored) -> Card:
    """Eq. 5, and whether it could be applied (protocol 27)."""
    table = scored.frame.trajectories
    known = len(np.unique(table.task[table.source >= 0]))
    if not scored.scoring.asymmetric:
        rule = "asymmetry: off, as asked"
    elif not known:
        rule = "asymmetry: off, no source"
    else:
        rule = (
            "Eq. 5: a fixer has one iteration less on a start of its own; a start of unknown source counts as another's"
        )
    return {
        "on": scored.scoring.asymmetric and known > 0,
        "rule": rule,
        "tasks_with_known_source": known,
        "trajectories_on_own_starts": int(scored.self_source.sum()),
    }


def _results(scored: Scored) -> list[Card]:
    frame, scoring = scored.frame, scored.scoring
    groups = groups_by(frame)
    headline = pass_at_k(scored)
    (drawn,) = bootstrap(frame, [headline], groups)
    plain = pass_at_k(score(frame, Scoring(gate=0.0, k=scoring.k, asymmetric=scoring.asymmetric)))
    stagnation = stagnation_rates(frame)
    columns: dict[str, list[Rate]] = {
        name: rates_by(tally, groups)
        for name, tally in {
            "pass_at_1": pass_at_1(scored),
            "pass_at_k": headline,
            "pass_at_k_correct": plain,
            "debug_rate": debug_rate(scored),
            "compile_rate_at_1": compile_rate(scored),
            "stagnation_of_all": stagnation["stagnation"],
            "stagnation_of_failing": stagnation["stagnation_failing"],
            "oscillation": stagnation["oscillation"],
            "progression": progression_rate(scored),
            "unique_approach_per_task": unique_by_task(frame),
        }.items()
    }
    means = {
        name: rates_by(tally, groups)
        for name, tally in {
            "iterations_to_fix": iterations_to_fix(scored),
            "tokens_to_fix": tokens_to_fix(scored),
            "cost_to_fix": cost_to_fix(scored),
        }.items()
    }
    tables: dict[str, dict[str, list[Rate]]] = {
        "fix_rate_by_category": _by_name(fix_rate_by_category(scored), groups),
        "fix_rate_by_bucket": _by_name(fix_rate_by_bucket(frame, scoring), groups),
        "stagnation_mix": _by_name({name: stagnation[name] for name in SIGNALS}, groups),
    }
    gates = {
        gate: rates_by(tally, groups) for gate, tally in p_sweep(frame, allowed_thresholds(frame, THRESHOLDS), scoring)
    }
    found = []
    for row, (setting, fixer) in enumerate(groups.keys):
        mine = frame.where(groups.index == row)
        protocol = frame.settings[int(mine.trajectories.setting[0])]
        found.append(
            {
                "setting": setting,
                "fixer": line(fixer),
                "gate": scoring.gate,
                "k": scoring.k or protocol.k,
                "tasks": len(np.unique(mine.trajectories.task)),
                "trajectories": len(mine.trajectories),
                **{name: rate_of(column[row]) for name, column in columns.items()},
                "pass_at_k_wilson": _interval(wilson(columns["pass_at_k"][row])),
                "pass_at_k_bootstrap": _interval(drawn[row]),
                "unique_approach_pooled": rate_of(unique_pooled(mine)),
                **{
                    name: {line(key): rate_of(column[row], SHORT_REASONS[name]) for key, column in parts.items()}
                    for name, parts in tables.items()
                },
                **{name: _mean(column[row]) for name, column in means.items()},
                "p_curve": [{"p": gate, "pass_at_k": rate_of(column[row])} for gate, column in gates.items()]
                or absent("no threshold can be scored"),
                "degeneration": _degeneration(score(mine, scoring)),
            }
        )
    return found


def _by_name(tallies: Mapping[str, Tally], groups: Groups) -> dict[str, list[Rate]]:
    return {name: rates_by(tally, groups) for name, tally in tallies.items()}


SHORT_REASONS: Mapping[str, str] = {
    "fix_rate_by_category": "none began so",
    "fix_rate_by_bucket": "none starts so",
    "stagnation_mix": "none failed",
}
"""Reasons of tables in which they stand often."""


def rate_of(rate: Rate, why: str = "") -> Card:
    """A rate with what it divides by, or why there is none."""
    if rate.value is None:
        return absent(why or rate.why or f"no {rate.of}")
    return {"value": rate.value, "numerator": rate.numerator, "denominator": rate.denominator}


def _mean(rate: Rate) -> float | Card:
    return rate.value if rate.value is not None else absent("none that tells it")


def _figure(figure: Figure) -> float | Card:
    return figure.value if figure.value is not None else absent(figure.why or "not measured")


def _interval(found: Interval) -> Card:
    if found.low is None or found.high is None:
        return absent(found.why or "no interval")
    return {"low": found.low, "high": found.high, "level": found.level, "method": found.method}


def _tau_interval(found: Interval) -> Card:
    if found.low is None or found.high is None:
        return absent(found.why or "no interval")
    return {"from": found.low, "to": found.high, "level": found.level, "method": found.method}


def _degeneration(scored: Scored) -> Card:
    found = degeneration(scored)
    if not found.first.count and not found.later.count:
        return absent("no correct candidate was measured" if found.unmeasured else "no correct candidate")
    return {
        "first_median": _figure(found.first),
        "later_median": _figure(found.later),
        "rate": rate_of(found.rate),
        "first_passes": found.first.count,
        "later_passes": found.later.count,
    }


def _robustness(axes: Sequence[Axis]) -> dict[str, Any]:
    if not axes:
        nothing = absent("one setting was played, and no threshold can be scored besides")
        return {"swing": nothing, "tau": nothing, "flips": nothing}
    swing = [
        {
            "axis": axis.name,
            "fixer": line(each.fixer),
            "swing": min(each.size, 1.0),
            "lowest": each.lowest,
            "highest": each.highest,
            "settings": each.settings,
        }
        for axis in axes
        for each in axis.swings
    ]
    tau = [
        {
            "axis": axis.name,
            "first": axis.base,
            "second": other,
            "tau": _figure(found.tau),
            "interval": _tau_interval(found.interval),
            "fixers": found.tau.count,
            "tasks": found.tasks,
            "tasks_left_out": found.left_out,
        }
        for axis in axes
        for other, found in axis.taus.items()
    ]
    flips = [
        {
            "axis": axis.name,
            "setting": other,
            "ahead_at_base": line(judged.flip.ahead),
            "ahead_here": line(judged.flip.behind),
            "resolved": judged.resolved,
        }
        for axis in axes
        for other in axis.others
        for judged in axis.flips(other)
    ]
    return {
        "swing": swing or absent("no fixer was measured at two settings"),
        "tau": tau or absent("no two settings of one axis"),
        "flips": flips,
    }
