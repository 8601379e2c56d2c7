"""Which settings of which axis a set of runs holds, and every fixer's score at each: one axis at a time (paper 3.4, 4.4).

A fixer's scores along an axis are on the tasks that it has results for at every setting of that axis at which it was measured
(protocol 30), so that no score moves because other tasks were played.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from engine.analysis.flips import JudgedFlip, Posterior, judged_flips, posterior
from engine.analysis.frame import Floats, Frame
from engine.analysis.intervals import task_sums
from engine.analysis.metrics import pass_at_k
from engine.analysis.performance import THRESHOLDS
from engine.analysis.rates import groups_by, setting_label
from engine.analysis.robustness import Scores, Swing, flips, swings
from engine.analysis.scoring import DEFAULT, Scoring, score
from engine.analysis.taus import Tau, played_taus, scored_taus
from engine.protocol import Feedback, GateMode, Protocol, Sampling, read_few_shot

FIELDS: Mapping[str, tuple[str, ...]] = {
    "A2": ("sampling", "temperature"),
    "A3": ("feedback",),
    "A4": ("history",),
    "A5": ("few_shot", "few_shot_pool", "few_shot_seed"),
}
"""The fields of a protocol that may differ along an axis that is played, the one that names its settings first. A1 is scored. A5 is
not the paper's: its release has it."""


@dataclass(frozen=True)
class Axis:
    """Scores along one axis: by setting, in words, then by fixer. ``base`` is the setting that all axes share."""

    name: str
    base: str
    scores: Mapping[str, Scores]
    tasks: Mapping[str, int]
    """By fixer, the tasks that its scores are on."""
    posteriors: Mapping[str, Mapping[str, Posterior]]
    """Of the same scores, for the z-criterion."""
    taus: Mapping[str, Tau]
    """Between the base and every other setting; along a played axis BEST too."""

    @property
    def others(self) -> list[str]:
        return [setting for setting in self.scores if setting != self.base]

    @property
    def swings(self) -> list[Swing]:
        return swings(self.scores)

    def flips(self, other: str) -> list[JudgedFlip]:
        """Pairs whose order differs, judged. The posterior alone may order fixers that are equal; that is no flip."""
        real = {(flip.ahead, flip.behind) for flip in flips(self.scores[self.base], self.scores[other])}
        judged = judged_flips(self.posteriors[self.base], self.posteriors[other])
        return [found for found in judged if (found.flip.ahead, found.flip.behind) in real]


def base_of(settings: Sequence[Protocol]) -> Protocol:
    """The setting that most others differ from along one axis alone; of equals the first. ``settings`` are not empty."""
    return max(settings, key=lambda one: sum(axis_between(one, other) is not None for other in settings))


def base_setting(frame: Frame) -> Protocol:
    """``base_of`` the settings that were played. The Frame has a trajectory."""
    return base_of([frame.settings[number] for number in np.unique(frame.trajectories.setting)])


def axis_between(base: Protocol, other: Protocol) -> str | None:
    """The one played axis along which two settings differ; None for none and for more than that."""
    different = {name for name in Protocol.__struct_fields__ if getattr(base, name) != getattr(other, name)}
    for axis, fields in FIELDS.items():
        if different and different <= set(fields) and fields[0] in different:
            return axis
    return None


def axes_of(frame: Frame, scoring: Scoring = DEFAULT) -> list[Axis]:
    """Every axis with at least two settings. Settings that differ from the base along several axes are on none of them."""
    if not len(frame.trajectories):
        return []
    played = [frame.settings[number] for number in np.unique(frame.trajectories.setting)]
    base = base_setting(frame)
    axes = [_gates(frame, base, scoring)]
    for axis, fields in FIELDS.items():
        mine = _along(axis, base, played)
        if len(mine) > 1:
            named = _named(fields[0], base, mine)
            at_base = next(name for name, setting in named.items() if setting == base)
            labels = {name: setting_label(setting) for name, setting in named.items()}
            taus = played_taus(frame, at_base, labels, scoring)
            axes.append(_axis(axis, at_base, _sums(frame, named, scoring), taus))
    return [axis for axis in axes if len(axis.scores) > 1]


def _named(field: str, base: Protocol, settings: Sequence[Protocol]) -> dict[str, Protocol]:
    """Settings by their value of the axis' first field; those that share it by all that sets them apart from the base."""
    values = [str(getattr(setting, field)) for setting in settings]
    return {
        value if setting == base or values.count(value) == 1 else setting_label(setting, base): setting
        for value, setting in zip(values, settings, strict=True)
    }


def _along(axis: str, base: Protocol, played: Sequence[Protocol]) -> list[Protocol]:
    """The base and the settings that differ from it along ``axis``, in the order of the axis' values."""
    mine = [base, *(other for other in played if axis_between(base, other) == axis)]
    return sorted(mine, key=lambda one: _place(getattr(one, FIELDS[axis][0])))


Sums = dict[str, dict[str, tuple[Floats, Floats]]]
"""By setting, then fixer: what each task adds to numerator and denominator."""


def _gates(frame: Frame, base: Protocol, scoring: Scoring) -> Axis:
    """A1: the base's trajectories at every threshold that they can be scored at. A gate in the loop bounds them; runs that differ
    from the base by a higher gate alone answer for what is above (protocol 20)."""
    rows = frame.trajectories
    runs = rows.run[rows.setting == frame.settings.index(base)]
    used = scoring.gate if scoring.gate is not None else frame.runs[int(runs[0])].gate
    higher = [
        one for one in frame.settings if msgspec.structs.replace(one, gate=base.gate) == base and one.gate > base.gate
    ]
    sums: Sums = {}
    own: dict[str, float] = {}
    for gate in sorted({*THRESHOLDS, used}):
        source = next((one for one in (base, *sorted(higher, key=_gate)) if _can_score(one, gate)), None)
        if source is not None:
            at = Scoring(gate=gate, k=scoring.k, asymmetric=scoring.asymmetric)
            mine = frame.where(rows.setting == frame.settings.index(source))
            sums[f"{gate:g}"] = _sums(mine, {"base": source}, at)["base"]
            own |= {f"{gate:g}": gate} if source == base else {}
    mine = frame.where(rows.setting == frame.settings.index(base))
    return _axis("A1", f"{used:g}", sums, scored_taus(mine, used, own, scoring) if used in own.values() else {})


_ORDER: tuple[str, ...] = (*Sampling, *Feedback)


def _place(value: str | int) -> tuple[int, str]:
    """Where a setting stands among its axis' values, from least to most."""
    if isinstance(value, int):
        return value, ""
    if value in _ORDER:
        return _ORDER.index(value), ""
    shots = read_few_shot(value)
    return (shots.k, shots.choosing) if shots is not None else (0, "")


def _gate(protocol: Protocol) -> float:
    return protocol.gate


def _can_score(protocol: Protocol, gate: float) -> bool:
    return protocol.gate_mode is GateMode.POSTHOC or gate <= protocol.gate


def _sums(frame: Frame, settings: Mapping[str, Protocol], scoring: Scoring) -> Sums:
    groups = groups_by(frame)
    hits, base = task_sums(frame, pass_at_k(score(frame, scoring)), groups)
    found: Sums = {}
    for name, protocol in settings.items():
        label = setting_label(protocol)
        found[name] = {
            fixer: (hits[:, column], base[:, column])
            for column, (setting, fixer) in enumerate(groups.keys)
            if setting == label and base[:, column].any()
        }
    return found


def _axis(name: str, base: str, sums: Sums, taus: Mapping[str, Tau]) -> Axis:
    scores: dict[str, dict[str, float]] = {setting: {} for setting in sums}
    posteriors: dict[str, dict[str, Posterior]] = {setting: {} for setting in sums}
    tasks: dict[str, int] = {}
    for fixer in dict.fromkeys(fixer for by_fixer in sums.values() for fixer in by_fixer):
        measured = {setting: by_fixer[fixer] for setting, by_fixer in sums.items() if fixer in by_fixer}
        common = np.logical_and.reduce([base > 0 for _, base in measured.values()])
        tasks[fixer] = int(common.sum())
        if not tasks[fixer]:
            continue
        for setting, (hits, tried) in measured.items():
            passed, trials = hits[common], tried[common]
            scores[setting][fixer] = float(passed.sum() / trials.sum())
            posteriors[setting][fixer] = posterior(np.stack((trials - passed, passed), axis=1))
    return Axis(name, base, scores, tasks, posteriors, taus)
