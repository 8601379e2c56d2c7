"""One-at-a-time sweeps over the protocol's axes (paper 3.4): which runs answer which settings, and what they may cost.

Nothing is asked and nothing is spent here. A setting that a run answers already gets no run of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from engine.analysis.grids import AXES, GRIDS, Value
from engine.config import read_protocol
from engine.errors import ConfigError
from engine.fewshot import LOG_CHARACTERS
from engine.fixers.config import FixerConfig
from engine.fixers.prices import cost
from engine.plain_file import read_plain
from engine.prompts import build_messages, encode_messages
from engine.protocol import PRESETS, Feedback, GateMode, Protocol, Sampling
from engine.rundir import Cell
from engine.task import Task

CHARACTERS_PER_TOKEN = 3
"""Of source and logs: on the safe side, common tokenizers reach 3 to 4."""

FEEDBACK_CHARACTERS: dict[Feedback, tuple[int, int]] = {
    Feedback.L0: (0, 0),
    Feedback.L1: (0, 0),
    Feedback.L2: (1, 200),
    Feedback.L3: (1, 1500),
    Feedback.L3RAW: (2, 200),
    Feedback.L4: (1, 3500),
}
"""The most that one remembered round says besides its candidate: so many logs of the protocol's budget, and characters."""


@dataclass(frozen=True)
class Answer:
    """One setting of one axis, and how a run answers it: ``how`` is empty when it was played just so."""

    axis: str
    value: Value
    how: str = ""

    def __str__(self) -> str:
        return f"{self.axis}={self.value}" + (f" ({self.how})" if self.how else "")


@dataclass(frozen=True)
class PlannedRun:
    """A run to be made: its name, its protocol, and the settings that it answers."""

    name: str
    protocol: Protocol
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Load:
    """What a run asks of one fixer. Calls are the most there can be: a trajectory that passes or stagnates asks no further.
    Costs are in US dollars; None with the reason in ``why``, 0 for a fixer that asks nobody."""

    fixer: str
    trajectories: int
    calls: int
    tokens_in: int
    about: float | None
    """With answers as long as the broken start."""
    most: float | None
    """With answers as long as the fixer's max_tokens allows."""
    why: str = ""


def read_values(axes: Sequence[str], values: Sequence[str]) -> dict[str, tuple[Value, ...]]:
    """The settings to sweep: ``axes`` as in ``A1,A3``, their settings the paper's unless ``values`` has others, as in
    ``A3=L0,L4``. Raises ConfigError."""
    names = [name.strip() for text in axes for name in text.split(",") if name.strip()]
    if not names:
        raise ConfigError(f"--axis: name at least one of {', '.join(AXES)}")
    own = dict(_read_own(text) for text in values)
    for name in [*names, *own]:
        if name not in AXES:
            raise ConfigError(f"--axis {name}: unknown; there are {', '.join(AXES)}")
    if strangers := [name for name in own if name not in names]:
        raise ConfigError(f"--values {strangers[0]}=...: {strangers[0]} is not swept; add --axis {strangers[0]}")
    return {name: own.get(name, GRIDS[name]) for name in sorted(set(names))}


def _read_own(text: str) -> tuple[str, tuple[Value, ...]]:
    axis, _, listed = text.partition("=")
    words = [word.strip() for word in listed.split(",") if word.strip()]
    if not words:
        raise ConfigError(f"--values {text}: write it as A3=L0,L3,L4")
    numbers = {"A1": float, "A4": int}
    try:
        values = tuple(dict.fromkeys(numbers[axis](word) if axis in numbers else word for word in words))
    except ValueError:
        raise ConfigError(f"--values {text}: the settings of {axis} are numbers") from None
    if not all(math.isfinite(value) for value in values if isinstance(value, float)):
        raise ConfigError(f"--values {text}: the settings of {axis} are finite numbers")
    return axis, values


def design(base: Protocol, axes: Mapping[str, Sequence[Value]]) -> list[PlannedRun]:
    """The runs of a one-at-a-time design, the one at ``base`` first. Raises ConfigError for an axis that changes nothing."""
    for axis in axes:
        _refuse_idle(axis, base)
    at_base: list[Answer] = []
    others: list[PlannedRun] = []
    for axis, values in axes.items():
        mine = getattr(base, AXES[axis])
        if axis == "A1":
            answers, run = _gates(base, [float(value) for value in values])
            at_base += answers
            others += [run] if run else []
            continue
        at_base.append(Answer(axis, _plain(mine)))
        for value in values:
            protocol = _with(base, axis, value)
            if getattr(protocol, AXES[axis]) == mine:
                continue
            if axis == "A4" and _rounds(protocol) == _rounds(base):
                at_base.append(Answer(axis, value, f"K={base.k} shows {_rounds(base)} rounds at most"))
            else:
                others.append(PlannedRun(f"{axis}-{value}", protocol, (Answer(axis, value),)))
    return [PlannedRun("default", base, tuple(at_base)), *others]


def _gates(base: Protocol, values: list[float]) -> tuple[list[Answer], PlannedRun | None]:
    """A1 is scored, not played, while the gate is posthoc. In the loop, a run re-scores for gates up to its own (protocol
    20): one more run, at the highest gate, answers all that are above the base's."""
    for value in values:
        _with(base, "A1", value)
    if base.gate_mode is GateMode.POSTHOC:
        return [Answer("A1", value, "" if value == base.gate else "re-scored") for value in values], None
    below = [Answer("A1", value, "" if value == base.gate else "re-scored") for value in values if value <= base.gate]
    above = sorted(value for value in values if value > base.gate)
    if not above:
        return below, None
    top = above[-1]
    answers = tuple(Answer("A1", value, "" if value == top else "re-scored") for value in above)
    return below, PlannedRun(f"A1-{top}", _with(base, "A1", top), answers)


def _refuse_idle(axis: str, base: Protocol) -> None:
    if axis not in ("A3", "A4"):
        return
    shown = "the rounds that a prompt shows"
    if base.iterations == 1:
        raise ConfigError(
            f"--axis {axis}: {shown} are none, with {base.sampling} sampling and K={base.k}; leave it out"
        )
    if axis == "A3" and base.history == 0:
        raise ConfigError(f"--axis A3: {shown} are none, with history 0; leave it out, or choose --history")
    if axis == "A4" and base.feedback is Feedback.L0:
        raise ConfigError(f"--axis A4: {shown} are none at feedback L0; leave it out, or choose --feedback")


def _with(base: Protocol, axis: str, value: Value) -> Protocol:
    """The base with one field changed. The other sampling strategy has its own temperature (paper 4: 0.7 and 1.0)."""
    fields: dict[str, Any] = msgspec.to_builtins(base) | {AXES[axis]: value}
    if axis == "A2" and value != base.sampling:
        fields["temperature"] = None
    try:
        return msgspec.convert(fields, Protocol)
    except (msgspec.ValidationError, ConfigError) as error:
        raise ConfigError(f"--values {axis}={value}: {error}") from None


def _rounds(protocol: Protocol) -> int:
    """The most rounds that any prompt shows."""
    return 0 if protocol.feedback is Feedback.L0 else min(protocol.history, protocol.iterations - 1)


def _plain(value: Value) -> Value:
    return str(value) if isinstance(value, str) else value


def load_of(run: PlannedRun, config: FixerConfig, cells: Sequence[Cell], tasks: Mapping[str, Task]) -> Load:
    """What ``run`` asks of a fixer, whose ``cells`` these are."""
    protocol = run.protocol
    calls = len(cells) * protocol.iterations
    if config.kind != "chat":
        return Load(config.name, len(cells), calls, 0, 0.0, 0.0, f"a {config.kind} fixer costs nothing")
    sizes = {cell.task: _sizes(tasks[cell.task], protocol) for cell in cells}
    tokens_in = sum(sizes[cell.task][0] for cell in cells)
    answers = sum(sizes[cell.task][1] for cell in cells) * protocol.iterations
    about = cost(config.prices, tokens_in, answers)
    if config.prices is None:
        return Load(config.name, len(cells), calls, tokens_in, None, None, "no prices given")
    if config.max_tokens is None:
        return Load(config.name, len(cells), calls, tokens_in, about, None, "no max_tokens given")
    return Load(
        config.name, len(cells), calls, tokens_in, about, cost(config.prices, tokens_in, calls * config.max_tokens)
    )


def _sizes(task: Task, protocol: Protocol) -> tuple[int, int]:
    """Tokens of all prompts of a trajectory that is played to its end, and of one answer."""
    first = len(encode_messages(build_messages(task, protocol, [])))
    if protocol.shots is not None:  # about as long as this task's own start, twice each
        first += protocol.shots.k * (2 * len(task.broken) + LOG_CHARACTERS)
    logs, words = FEEDBACK_CHARACTERS[protocol.feedback]
    a_round = len(task.broken) + logs * protocol.log_budget + words
    shown = 0 if protocol.feedback is Feedback.L0 else protocol.history
    rounds = sum(min(shown, number) for number in range(protocol.iterations))
    prompts = protocol.iterations * first + rounds * a_round
    return -(-prompts // CHARACTERS_PER_TOKEN), -(-len(task.broken) // CHARACTERS_PER_TOKEN)


def config_protocol(protocol: Protocol) -> dict[str, Any]:
    """The protocol for a config file: the axes and K always, else what differs from the paper's."""
    fields: dict[str, Any] = msgspec.to_builtins(protocol)
    plain = msgspec.to_builtins(PRESETS["paper"])
    always = {"k", "gate_mode", *AXES.values()}
    return {name: value for name, value in fields.items() if name in always or value != plain[name]}


def planned_protocols(path: Path) -> dict[str, Protocol]:
    """The protocol of every run of a stored plan (plan.json), by the run's name. Raises ConfigError for a file that is none."""
    try:
        content = msgspec.json.decode(read_plain(path), type=_Plan)
        return {run.run: read_protocol(None, run.protocol) for run in content.runs}
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except (msgspec.MsgspecError, ValueError, ConfigError) as error:
        raise ConfigError(f"{path}: not a plan of beaver-tui plan: {error}") from None


class _PlannedRun(msgspec.Struct):
    run: str
    protocol: dict[str, Any]


class _Plan(msgspec.Struct):
    runs: list[_PlannedRun]


def attempts_of(protocol: Protocol, attempts: int | None) -> int:
    """Trajectories of one task and fixer (protocol 21)."""
    count = 1 if attempts is None else attempts
    return max(count, protocol.k) if protocol.sampling is Sampling.REPEATED else count
