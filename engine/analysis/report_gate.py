"""The part of a report that speed makes: the curve over the gate, repair by degeneration, and how good the times are."""

from __future__ import annotations

from engine.analysis.axes import base_setting
from engine.analysis.document import Curve, Section, Shown, Table, clean, count, number, share, table
from engine.analysis.frame import Frame
from engine.analysis.intervals import wilson
from engine.analysis.performance import THRESHOLDS, Timings, allowed_thresholds, degeneration, p_sweep, timings
from engine.analysis.rates import Figure, Groups, Rate, groups_by, rates_by, setting_label
from engine.analysis.rescore import owners, rate_cell
from engine.analysis.scoring import Scoring, score


def gate_section(frame: Frame, scoring: Scoring) -> Section:
    """pass@k over the gate for every setting; the picture is of the base setting."""
    assert scoring.gate is not None
    gates = allowed_thresholds(frame, sorted({*THRESHOLDS, scoring.gate}))
    groups = groups_by(frame)
    rates = {gate: rates_by(tally, groups) for gate, tally in p_sweep(frame, gates, scoring)}
    rows = [[*owner, *(rate_cell(rates[gate][row]) for gate in gates)] for row, owner in enumerate(owners(groups.keys))]
    names = ("setting", "fixer", *(f"p={gate:g}" for gate in gates))
    limit = "" if len(gates) > len(THRESHOLDS) - 1 else " A gate in the loop bounds the thresholds that can be scored."
    curve = table("p_curve", "pass@k by performance gate", names, rows, f"Stored speedups, scored again.{limit}")
    return Section(
        "Performance gate",
        (curve, _degeneration(frame, scoring, groups), *_timings(frame)),
        curves=_curves(frame, groups, rates),
        note="The curve is of the setting that the others differ from; its band is Wilson's 95 % interval.",
    )


def _curves(frame: Frame, groups: Groups, rates: dict[float, list[Rate]]) -> tuple[Curve, ...]:
    base = setting_label(base_setting(frame))
    found = []
    for row, key in enumerate(groups.keys):
        if key[0] != base:
            continue
        points, spread = [], []
        for gate, column in rates.items():
            rate = column[row]
            if rate.value is None:
                continue
            around = wilson(rate)
            points.append((gate, rate.value))
            spread.append((around.low, around.high) if around.low is not None and around.high is not None else None)
        found.append(Curve(clean(key[1]), tuple(points), tuple(spread)))
    return tuple(found)


def _degeneration(frame: Frame, scoring: Scoring, groups: Groups) -> Table:
    """Figure 4, left."""
    rows = []
    for row, owner in enumerate(owners(groups.keys)):
        found = degeneration(score(frame.where(groups.index == row), scoring))
        slow = [rate_cell(found.rate, "none"), count(round(found.rate.denominator)), count(found.unmeasured)]
        rows.append([*owner, _speedup(found.first), _speedup(found.later), *slow])
    names = (
        "setting",
        "fixer",
        "median at iteration 1",
        "median later",
        "degeneration rate",
        "later passes",
        "unmeasured",
    )
    note = (
        "Speedups of first correct candidates, on tasks solved at p=0; the rate is the share of later passes below 1.0x. Without a "
        "measured pass there is no rate."
    )
    return table("degeneration", "Repair by degeneration", names, rows, note)


def _speedup(figure: Figure) -> Shown:
    return number(figure.value, 2, "x", why="none")


def _timings(frame: Frame) -> list[Table]:
    found: Timings = timings(frame)

    row = [
        rate_cell(found.unmeasured),
        share(found.median_cv.value, found.median_cv.why),
        share(found.p90_cv.value, found.p90_cv.why),
        rate_cell(found.flagged),
        count(round(found.flagged.denominator)),
    ]
    names = ("correct, not measured", "median CV", "90th percentile", "CV above 3 %", "of")
    note = "CV is the coefficient of variation of the relaunches' means (appendix G): reported, never enforced."
    return [table("timings", "How good the times are", names, [row], note)]
