"""What a report of stored runs says: protocol and coverage, scores with their intervals, where and how repairs fail, and how much
of it all is the protocol's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from engine.analysis.document import (
    Document,
    Section,
    Shown,
    Table,
    clean,
    count,
    interval,
    missing,
    number,
    share,
    table,
    words,
)
from engine.analysis.frame import Frame
from engine.analysis.intervals import Interval, bootstrap, wilson
from engine.analysis.metrics import (
    compile_rate,
    cost_to_fix,
    debug_rate,
    iterations_to_fix,
    pass_at_1,
    pass_at_k,
    tokens_to_fix,
)
from engine.analysis.paired import compare
from engine.analysis.rates import AnalysisError, Rate, groups_by, rates_by
from engine.analysis.report_axes import axes_section
from engine.analysis.report_failures import failure_sections
from engine.analysis.report_gate import gate_section
from engine.analysis.rescore import owners, rate_cell, unmeasured_passes
from engine.analysis.scoring import Scored, Scoring, score

MOST_GAPS = 100
"""Planned cells without a result that are listed one by one."""


@dataclass(frozen=True)
class Wishes:
    """What a reader wants to see. ``gate``: None for the runs' own; ``compare``: pairs of fixers on the same tasks."""

    gate: float | None = None
    asymmetric: bool = True
    compare: bool = False


def the_gate(frame: Frame, gate: float | None) -> float:
    """The threshold to score at. Raises AnalysisError when it is not given and the runs do not agree on one."""
    if gate is not None:
        return gate
    mine = sorted({run.gate for run in frame.runs})
    if len(mine) > 1:
        raise AnalysisError(
            f"these runs ask for different gates ({', '.join(f'{p:g}' for p in mine)}); choose one with --gate"
        )
    return mine[0] if mine else 0.0


def report(frame: Frame, facts: Mapping[str, str], wishes: Wishes) -> Document:
    """The whole report. Runs without a counted trajectory have their coverage told, and no numbers. Raises AnalysisError for a gate
    that the runs cannot be scored at."""
    gate = the_gate(frame, wishes.gate)
    head = {**facts, "score": f"pass@k at p={gate:g}{'' if wishes.asymmetric else ', Eq. 5 off'}"}
    sections = [coverage_section(frame)]
    if not len(frame.trajectories):
        nothing = "No trajectory is counted, so there is no score: see the reasons above."
        return Document("Report", (*sections, Section("Scores", note=nothing)), head)
    scoring = Scoring(gate=gate, asymmetric=wishes.asymmetric)
    scored = score(frame, scoring)
    sections += [scores_section(scored), *axes_section(frame, scoring), gate_section(frame, scoring)]
    sections += failure_sections(scored)
    if wishes.compare:
        sections.append(compare_section(scored))
    return Document("Report", tuple(sections), head)


def coverage_section(frame: Frame) -> Section:
    """Planned, counted, and each reason with its cells."""
    coverage = frame.coverage
    rows = [[words("planned"), count(coverage.planned)], [words("counted"), count(coverage.counted)]]
    rows += [[words(f"left out: {why}"), count(total)] for why, total in sorted(coverage.reasons.items())]
    interactive = int(frame.trajectories.interactive.sum())
    rows.append([words("counted although played by hand"), count(interactive)])
    rows.append([words("faults of machine or service that were overcome"), count(int(frame.trajectories.infra.sum()))])
    if fell_back := int(frame.trajectories.fell_back.sum()):
        rows.append([words("iterations with feedback L3 in the place of L4: no profile"), count(fell_back)])
    tables = [table("coverage", "Planned trajectories", ("", "trajectories"), rows)]
    if coverage.gaps:
        listed = [
            [words(gap.cell.task), words(gap.cell.fixer), count(gap.cell.attempt), words(gap.why), words(gap.detail)]
            for gap in coverage.gaps[:MOST_GAPS]
        ]
        more = len(coverage.gaps) - len(listed)
        note = "These cells are no failures: they are in no number." + (f" {more} more are not listed." if more else "")
        names = ("task", "fixer", "attempt", "why", "detail")
        tables.append(table("gaps", "Left out", names, listed, note))
    return Section("Coverage", tuple(tables))


def scores_section(scored: Scored) -> Section:
    """The headline, and the figures around it."""
    groups = groups_by(scored.frame)
    tally = pass_at_k(scored)
    headline = rates_by(tally, groups)
    (drawn,) = bootstrap(scored.frame, [tally], groups)
    parts = [rates_by(part, groups) for part in (pass_at_1(scored), debug_rate(scored), compile_rate(scored))]
    rows = []
    for row, owner in enumerate(owners(groups.keys)):
        rate = headline[row]
        cells = (
            count(round(rate.denominator)),
            rate_cell(rate),
            interval_cell(wilson(rate)),
            interval_cell(drawn[row]),
        )
        rows.append([*owner, *cells, *(rate_cell(part[row]) for part in parts)])
    names = (
        "setting",
        "fixer",
        "tasks",
        "pass@k",
        "Wilson 95 %",
        "bootstrap 95 %",
        "pass@1",
        "debug_rate@k",
        "compile_rate@1",
    )
    note = (
        "pass@k divides by tasks, debug_rate@k by tasks that failed at iteration 1, compile_rate@1 by first candidates. The bootstrap "
        "draws tasks. " + " ".join(_warnings(scored, tally.left_out))
    )
    scores = replace(table("scores", "pass@k and its intervals", names, rows, note), headline=True)
    return Section("Scores", (scores, _effort(scored), *_strata(scored)))


def _warnings(scored: Scored, left_out: int) -> list[str]:
    """What a reader of the headline must know besides."""
    frame, gate = scored.frame, scored.scoring.gate or 0.0
    own = int(scored.self_source.sum())
    untimed = int(unmeasured_passes(frame).sum()) if gate > 0 else 0
    devices = frame.labels("device")
    used = [clean(devices[code]) for code in np.unique(frame.trajectories.device)]
    return [
        said
        for said, holds in (
            (f"Eq. 5 takes the last iteration from {own} trajectories on a start of the fixer's own.", own > 0),
            (f"{untimed} trajectories were correct and never measured: they fail p={gate:g}.", untimed > 0),
            (f"{left_out} repeated tasks have fewer attempts than K and are left out.", left_out > 0),
            (f"Rows of several devices are counted together: {', '.join(used)}.", len(used) > 1),
        )
        if holds
    ]


def interval_cell(found: Interval) -> Shown:
    return interval(found.low, found.high, found.why or "no interval")


def _effort(scored: Scored) -> Table:
    """What a fix took."""
    groups = groups_by(scored.frame)
    iterations, tokens, cost = (
        rates_by(tally, groups) for tally in (iterations_to_fix(scored), tokens_to_fix(scored), cost_to_fix(scored))
    )
    rows = [
        [
            *owner,
            count(round(iterations[row].denominator)),
            _mean(iterations[row], 2, "none"),
            _mean(tokens[row], 0, "not told"),
            _mean(cost[row], 4, "not told"),
        ]
        for row, owner in enumerate(owners(groups.keys))
    ]
    names = ("setting", "fixer", "solved", "iterations", "tokens", "US dollars")
    return table(
        "effort",
        "Means up to the first pass",
        names,
        rows,
        "Over solved trajectories of iterative repair that tell it.",
    )


def _mean(rate: Rate, digits: int, why: str) -> Shown:
    return number(rate.value, digits, why=why)


STRATA = ("family", "bucket", "operation", "generation")
"""By which results are split (columns of a Frame); one that has a single name says nothing more."""


def _strata(scored: Scored) -> list[Table]:
    found = []
    tally = pass_at_k(scored)
    for column in STRATA:
        if len(np.unique(getattr(scored.frame.trajectories, column))) < 2:
            continue
        groups = groups_by(scored.frame, column)
        rates = rates_by(tally, groups)
        by_key = dict(zip(groups.keys, rates, strict=True))
        names = list(dict.fromkeys(key[2] for key in groups.keys))
        rows = [
            [words(setting), words(fixer), *(_share_of(by_key.get((setting, fixer, name))) for name in names)]
            for setting, fixer in dict.fromkeys(key[:2] for key in groups.keys)
        ]
        title = {"bucket": "start bucket", "generation": "GPU generation"}.get(column, column)
        found.append(table(f"by_{column}", f"pass@k by {title}", ("setting", "fixer", *names), rows))
    return found


def _share_of(rate: Rate | None) -> Shown:
    """A rate with what it divides by: tasks of a stratum are few."""
    if rate is None or rate.value is None:
        return missing("not played")
    return Shown(f"{100 * rate.value:.1f} % of {rate.denominator:.0f}", round(rate.value, 6))


def compare_section(scored: Scored) -> Section:
    """Every pair of fixers of a setting on the tasks that both played. Raises AnalysisError when there is no pair."""
    frame = scored.frame
    tally, labels = pass_at_k(scored), groups_by(frame)
    rows = []
    for setting in dict.fromkeys(key[0] for key in labels.keys):
        fixers = [key[1] for key in labels.keys if key[0] == setting]
        here = {key[1]: labels.index == place for place, key in enumerate(labels.keys) if key[0] == setting}
        for one, two in combinations(fixers, 2):
            found = compare(frame, tally, here[one], here[two])
            test = found.mcnemar
            why = found.why or "attempts give shares, not one outcome a task"
            discordant = f"{test.only_first} and {test.only_second}" if test else None
            rows.append(
                [
                    words(setting),
                    words(one),
                    words(two),
                    count(found.tasks),
                    share(found.first, why),
                    share(found.second, why),
                    share(found.difference, why),
                    interval_cell(found.interval),
                    words(discordant) if discordant else number(None, why=why),
                    number(test.exact_p if test else None, 4, why=why),
                ]
            )
    if not rows:
        raise AnalysisError("--compare needs two fixers of one setting; these runs have one")
    names = (
        "setting",
        "one",
        "two",
        "tasks",
        "one's",
        "two's",
        "difference",
        "95 %",
        "solved by one only",
        "McNemar p",
    )
    note = (
        "On tasks that both played. The interval is that of the difference under resamples of these tasks; McNemar's test is exact and "
        "two-sided. p values are of single pairs, not corrected for their number."
    )
    return Section("Pairs of fixers", (table("pairs", "Each pair on the tasks that both played", names, rows, note),))
