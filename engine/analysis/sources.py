"""Which fixer made a task's broken start: the fixer that repairs its own code has one iteration less (paper, appendix A)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from engine.analysis.frame import Bools, Frame

ALIASES: Final[Mapping[str, Sequence[str]]] = {
    "kimi-k2.6": ("kimi-k2.5/k2.6", "kimi-k2.5", "kimi-k2-5", "kimi-k2-6"),
    "qwen3.6-plus": ("qwen3-6-plus", "qwen-3.6-plus"),
    "gemma-4-31b-it": ("gemma-4", "gemma-4-31b", "gemma4-31b-it"),
    "gpt-5.4": ("gpt5.4", "gpt-5-4"),
}
"""The paper's source models that go by several names (protocol 27: Table 15's "Kimi-k2.5/k2.6" is the fixer Kimi-k2.6)."""

_CANONICAL = {alias: name for name, aliases in ALIASES.items() for alias in (name, *aliases)}


def canonical(model: str) -> str:
    """The name by which two mentions of one model are equal: without case, without a provider before the last "/"."""
    name = model.strip().lower()
    if name in _CANONICAL:
        return _CANONICAL[name]
    short = name.rpartition("/")[2]
    return _CANONICAL.get(short, short)


def same_model(one: str, other: str) -> bool:
    """Whether two names are of one model; an empty name is of none."""
    return bool(one.strip()) and canonical(one) == canonical(other)


def self_sourced(frame: Frame) -> Bools:
    """Which trajectories repair a start that their own fixer made. The fixer's name counts and the model's that the service
    returned: either may be the one that the task knows."""
    table = frame.trajectories
    found = np.zeros(len(table), bool)
    for source, name in enumerate(frame.names["source"]):
        of_source = table.source == source
        for column, ids in (("fixer", table.fixer), ("model", table.model)):
            ours = [code for code, own in enumerate(frame.names[column]) if same_model(own, name)]
            if ours:
                found |= of_source & np.isin(ids, ours)
    return found


def with_sources(frame: Frame, sources: Mapping[str, str]) -> Frame:
    """The Frame with the source models that ``sources`` gives by task; tasks that it does not name keep theirs."""
    names = list(frame.names["source"])
    known = {name: code for code, name in enumerate(names)}
    column = frame.trajectories.source.copy()
    for code, task in enumerate(frame.names["task"]):
        if task in sources:
            if sources[task] not in known:
                known[sources[task]] = len(names)
                names.append(sources[task])
            column[frame.trajectories.task == code] = known[sources[task]]
    return replace(
        frame, names={**frame.names, "source": tuple(names)}, trajectories=replace(frame.trajectories, source=column)
    )
