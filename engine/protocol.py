"""The protocol: the axes A of pass@k(M, C, A), and what else decides how a trajectory is played (paper 3.3-3.5)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec

from engine.errors import ConfigError

MOST_ITERATIONS = 1000
"""The paper plays 5; a number beyond this is a slip of the finger, and no screen could show it."""


class Feedback(StrEnum):
    """A3, feedback richness: what each remembered round shows besides the broken start (paper 3.4, C.2)."""

    L0 = "L0"
    L1 = "L1"
    L2 = "L2"
    L3 = "L3"
    L3RAW = "L3raw"
    L4 = "L4"


class Sampling(StrEnum):
    """A2: one trajectory of K iterations with feedback, or independent attempts from the first prompt."""

    ITERATIVE = "iterative"
    REPEATED = "repeated"


class GateMode(StrEnum):
    """Where the performance gate acts: when scoring (the paper), or inside the loop."""

    POSTHOC = "posthoc"
    INLOOP = "inloop"


class EarlyStop(StrEnum):
    """Whether a stagnation signal ends the trajectory (the paper) or is only recorded."""

    STOP = "stop"
    OBSERVE = "observe"


class Choosing(StrEnum):
    """How examples are chosen: any, those whose start failed in the task's own bucket first, or those that a file lists."""

    RANDOM = "random"
    MATCHED = "matched"
    CURATED = "curated"


class FewShot(NamedTuple):
    """``k`` examples in every prompt, chosen so."""

    choosing: Choosing
    k: int


NO_SHOTS = "none"
MOST_SHOTS = 10
"""Examples in a prompt; the release plays 1, 3 and 5."""


def read_few_shot(text: str) -> FewShot | None:
    """What ``matched:3`` means; None for "none". Raises ConfigError."""
    if text == NO_SHOTS:
        return None
    name, _, number = text.partition(":")
    if name not in list(Choosing) or not (number.isascii() and number.isdigit() and 1 <= int(number) <= MOST_SHOTS):
        forms = ", ".join(f"{one}:K" for one in Choosing)
        raise ConfigError(f"protocol: few_shot={text!r} must be {forms} with K from 1 to {MOST_SHOTS}, or {NO_SHOTS}")
    return FewShot(Choosing(name), int(number))


class Protocol(msgspec.Struct, frozen=True, kw_only=True):
    """Frozen for the length of a run. Defaults are the paper's (section 4, "Models and default protocol")."""

    k: int = 5
    history: int = 4
    feedback: Feedback = Feedback.L3
    sampling: Sampling = Sampling.ITERATIVE
    temperature: float | None = None
    """None: 0.7 for iterative, 1.0 for repeated sampling."""
    gate: float = 0.7
    gate_mode: GateMode = GateMode.POSTHOC
    early_stop: EarlyStop = EarlyStop.STOP
    oscillation_m: int = 3
    oscillation_n: int = 5
    no_progress_c: int = 3
    stderr_lines: int = 40
    """N of the buildability template; the paper leaves it open."""
    log_budget: int = 6000
    """Characters of one log in a prompt; error lines with context, head and tail are kept."""
    stop_on_resubmitted_start: bool = False
    ambiguous_unclassified: bool = False
    launches: int = 10
    """Relaunches of a timed binary (paper appendix G)."""
    few_shot: str = NO_SHOTS
    """Repairs of other tasks in every prompt, the fifth axis of the CUDABeaver release: random:3, matched:3, curated:3."""
    few_shot_seed: int = 42
    few_shot_pool: str = NO_SHOTS
    """Names the examples that could be chosen: the head of a SHA-256, filled in when a run begins. Runs with other examples
    are other settings."""

    def __post_init__(self) -> None:
        checks = (
            (1 <= self.k <= MOST_ITERATIONS, "k", f"between 1 and {MOST_ITERATIONS}"),
            (self.history >= 0, "history", "0 or more rounds"),
            (self.gate >= 0, "gate", "0 or more"),
            (1 <= self.oscillation_m < self.oscillation_n, "oscillation_m", "at least 1 and below oscillation_n"),
            (self.no_progress_c >= 2, "no_progress_c", "at least 2"),
            (self.temperature is None or 0 <= self.temperature <= 2, "temperature", "between 0 and 2"),
            (self.launches >= 1, "launches", "at least 1"),
            (self.stderr_lines >= 1, "stderr_lines", "at least 1"),
            (self.few_shot_seed >= 0, "few_shot_seed", "0 or more"),
            (self.log_budget >= 200, "log_budget", "at least 200 characters"),
        )
        read_few_shot(self.few_shot)
        for fine, name, wanted in checks:
            if not fine:
                raise ConfigError(f"protocol: {name}={getattr(self, name)!r} must be {wanted}")

    @property
    def effective_temperature(self) -> float:
        if self.temperature is not None:
            return self.temperature
        return 1.0 if self.sampling is Sampling.REPEATED else 0.7

    @property
    def shots(self) -> FewShot | None:
        """``few_shot`` as it is meant."""
        return read_few_shot(self.few_shot)

    @property
    def iterations(self) -> int:
        """Iterations of one trajectory. A repeated attempt is a trajectory of one (docs/decisions/repeated-sampling.md)."""
        return 1 if self.sampling is Sampling.REPEATED else self.k


PRESETS: dict[str, Protocol] = {
    "paper": Protocol(),
    "paper-repeated": Protocol(sampling=Sampling.REPEATED),
}
"""The paper's two default protocols: iterative at T=0.7, and repeated sampling at T=1.0 with the same five calls."""
