"""Everything that happens to a trajectory, as typed events.

The journal stores them, the loop yields them, and every reader (live view, replay, resume, manifest, metrics) folds them
through ``engine.trajectory``. Adding a field with a default keeps old journals readable; anything else raises
``SCHEMA_VERSION`` and needs a migration in ``engine.journal``.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import ClassVar

import msgspec

from engine.evidence import CheckResult
from engine.protocol import Protocol

SCHEMA_VERSION = 1


def utc_now() -> str:
    """The time as events store it: ISO 8601, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """Base of all events. ``durable`` ones are journaled; the others only stream past a live reader."""

    durable: ClassVar[bool] = True
    at: str = msgspec.field(default_factory=utc_now)


class IterationEvent(Event, frozen=True, kw_only=True):
    """An event of one iteration, counted from 1. The broken start is step 0 and has no events of its own."""

    iteration: int


class Excerpt(msgspec.Struct, frozen=True, omit_defaults=True):
    """A log in an event: its head and tail (text), and how long the whole was. ``tail`` is empty when the head is all."""

    head: str = ""
    tail: str = ""
    bytes: int = 0

    @property
    def text(self) -> str:
        if not self.tail:
            return self.head
        left_out = self.bytes - len(self.head.encode()) - len(self.tail.encode())
        return f"{self.head}\n... {max(left_out, 0)} bytes left out ...\n{self.tail}"


class StepRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One process of the harness: how it ended, what it printed, what it cost. Seconds are wall-clock, memory is in bytes."""

    command: str = ""
    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    memory_killed: bool = False
    not_run: str | None = None
    stdout: Excerpt = Excerpt()
    stderr: Excerpt = Excerpt()
    seconds: float = 0.0
    peak_memory: int = 0


class TrajectoryOpened(Event, frozen=True, kw_only=True, omit_defaults=False, tag="trajectory_opened"):
    """Always the first event of a journal. Defaults are written too: a version that is left out would change its meaning with
    the next one."""

    schema_version: int = SCHEMA_VERSION
    run: str
    task: str
    fixer: str
    attempt: int
    protocol: Protocol
    device: str
    sandbox: str
    broken: str
    """SHA-256 of the broken start."""
    start_bucket: str | None = None
    source_model: str | None = None
    interactive: bool = False


class RequestBuilt(IterationEvent, frozen=True, kw_only=True, tag="request_built"):
    """A prompt is ready and about to be sent. ``prompt`` is the SHA-256 of its messages, ``history`` the rounds it shows,
    ``examples`` the ids of the repairs of other tasks that it shows, ``notes`` which of the rounds have another feedback level
    than the prompt, and why."""

    prompt: str
    feedback: str
    history: list[int] = []
    characters: int = 0
    examples: list[str] = []
    notes: list[str] = []


class ReplyDelta(IterationEvent, frozen=True, kw_only=True, tag="reply_delta"):
    """A piece of a reply while it streams."""

    durable: ClassVar[bool] = False
    text: str
    reasoning: bool = False


class ReplyReceived(IterationEvent, frozen=True, kw_only=True, tag="reply_received"):
    """A reply is complete. ``cost`` is in US dollars, None when no price is known; ``calls`` counts retries too."""

    response: str
    """SHA-256 of the reply's text."""
    whole_file: bool = False
    model: str = ""
    finish_reason: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    seconds: float = 0.0
    calls: int = 1
    reasoning: str | None = None


class CandidateMade(IterationEvent, frozen=True, kw_only=True, tag="candidate"):
    """What was extracted from the reply. ``problem`` says why there is no usable file; ``added``/``removed`` are lines
    against the step before."""

    solution: str | None = None
    """SHA-256 of the exact bytes after extraction."""
    problem: str | None = None
    truncated: bool = False
    added: int = 0
    removed: int = 0
    resubmitted_start: bool = False


class PreflightDone(IterationEvent, frozen=True, kw_only=True, tag="preflight"):
    findings: list[str] = []


class OutputArrived(IterationEvent, frozen=True, kw_only=True, tag="output"):
    """A piece of a running step's output. Not journaled: whole logs are files of the run."""

    durable: ClassVar[bool] = False
    step: str
    stream: str
    text: str


class Built(IterationEvent, frozen=True, kw_only=True, tag="built"):
    """``rewrites`` lists what the backend changed in the task's command, in words."""

    step: StepRecord
    rewrites: list[str] = []


class Tested(IterationEvent, frozen=True, kw_only=True, tag="tested"):
    """``seed`` is revealed here, after the candidate has ended. ``evidence_grade``: A separate checker, B pass token,
    C exit code only."""

    step: StepRecord
    check: CheckResult | None = None
    pass_evidence: bool | None = None
    evidence_grade: str = "C"
    seed: int | None = None
    blocking: StepRecord | None = None
    """The rerun with CUDA_LAUNCH_BLOCKING=1 that attributes an asynchronous error."""


class Sanitized(IterationEvent, frozen=True, kw_only=True, tag="sanitized"):
    tool: str
    exit_code: int | None
    output: Excerpt = Excerpt()
    seconds: float = 0.0


class TimedLaunch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One launch of a timing session: what the program said, what the parent's clock said, and how the GPU stood meanwhile.

    ``side`` is reference or candidate, ``number`` counts the launches of that side from 1. ``batches_ms`` are milliseconds a call
    in each timed batch of ``calls`` calls by the program's own clock (CUDA events), ``wall_ms`` the same by the parent's; both are
    empty where a program does not let the parent watch its batches. NVML's figures are those under load; None where it has none.
    """

    side: str
    number: int
    ms: float
    calls: int = 0
    batches_ms: list[float] = []
    wall_ms: list[float] = []
    sm_mhz: int | None = None
    memory_mhz: int | None = None
    celsius: int | None = None
    watts: float | None = None
    reasons: list[str] = []
    """NVML's reasons for the clock (sw_power_cap, hw_thermal_slowdown, ...); an idle GPU's or none: empty."""


class Outlier(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A launch whose time lies far from its side's median. ``score`` is the modified z score (Iglewicz and Hoaglin); the launch
    stays in every figure."""

    side: str
    number: int
    ms: float
    score: float


class SizeTime(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row of a program's own table of sizes: mean milliseconds of both sides over the launches."""

    size: str
    reference_ms: float
    candidate_ms: float

    @property
    def speedup(self) -> float:
        return self.reference_ms / self.candidate_ms


class Timed(IterationEvent, frozen=True, kw_only=True, tag="timed"):
    """Kernel times in milliseconds, one per relaunch. ``gate``: pass, fail or unmeasured; ``note`` says why it is unmeasured.

    ``interval`` is the 95 % bootstrap interval of the speedup (low, high), empty below five launches. ``source`` says who took the
    times: events (CUDA events, the parent's clock agreeing), program (the program's own figure, which the parent cannot check),
    nvtx, process. ``flags`` are words about what a reader must know: an interval across the gate, a throttled GPU, a roofline
    that could not be checked. ``sizes`` is filled where a program times several; its speedup is their geometric mean. ``rewrites``
    say how the programs that were timed were built otherwise than the tested one: without flags for debuggers.
    """

    reference_ms: list[float] = []
    candidate_ms: list[float] = []
    speedup: float | None = None
    reference_mean_ms: float | None = None
    cv: float | None = None
    gate: str = "unmeasured"
    note: str = ""
    seconds: float = 0.0
    interval: list[float] = []
    source: str = ""
    flags: list[str] = []
    outliers: list[Outlier] = []
    launches: list[TimedLaunch] = []
    sizes: list[SizeTime] = []
    rewrites: list[str] = []


class Profiled(IterationEvent, frozen=True, kw_only=True, tag="profiled"):
    """Profiler figures by kernel, the longest first, each with its unit in the figure's name (engine/verdict/profile_metrics.py).
    Without figures ``note`` says why; ``seconds`` is what the profiled run took."""

    figures: dict[str, dict[str, float]] = {}
    note: str = ""
    seconds: float = 0.0


class VerdictReached(IterationEvent, frozen=True, kw_only=True, tag="verdict"):
    """What the evidence means. ``gate`` is the in-loop performance gate of a correct candidate: off (not asked, or posthoc),
    pass, fail or unmeasured. ``span`` is the part of ``line`` that the rule matched."""

    category: str
    outcome_bucket: str
    rule: str
    signature: str
    stage: str
    rivals: list[str] = []
    line: str = ""
    span: str = ""
    hazards: list[str] = []
    gate: str = "off"

    @property
    def passed(self) -> bool:
        return self.category == "passed" and self.gate in ("off", "pass")


class SignalRaised(IterationEvent, frozen=True, kw_only=True, tag="signal"):
    """A stagnation signal (paper 3.5, D.1), or the flag resubmitted_broken_start. ``iterations`` are those that raised it."""

    name: str
    iterations: list[int]


class FeedbackGiven(IterationEvent, frozen=True, kw_only=True, tag="feedback"):
    """The message that later prompts show for this iteration, exactly as they show it. ``level`` is the text's own; where it is
    not the protocol's, ``note`` says why."""

    level: str
    text: str
    note: str = ""


class IterationClosed(IterationEvent, frozen=True, kw_only=True, tag="iteration_closed"):
    """``passed`` is correctness and, with the in-loop gate, the gate too. ``harness_seconds`` excludes child processes."""

    passed: bool
    harness_seconds: float = 0.0


class InfraFailed(IterationEvent, frozen=True, kw_only=True, tag="infra_error"):
    """The machine or the model's service failed; never an iteration, never one of the eight categories."""

    kind: str
    message: str
    final: bool = False


class Controlled(Event, frozen=True, kw_only=True, tag="control"):
    """Somebody intervened, or the run went on: resume, repaired, fork, mode, rejected, edited, preview, sanitized, timed.
    ``response`` is the SHA-256 of the reply that was rejected or edited."""

    action: str
    detail: str = ""
    response: str | None = None


class TrajectoryClosed(Event, frozen=True, kw_only=True, tag="trajectory_closed"):
    """``stop_reason``: passed, one of the four signals, max_iterations, resubmitted_broken_start, no_more_answers (a recorded
    fixer ran out) or needs_device (built, but this machine cannot run it)."""

    stop_reason: str
    passed: bool
    iterations: int


class RunOpened(Event, frozen=True, kw_only=True, omit_defaults=False, tag="run_opened"):
    """First line of a batch's event stream; the run's own record is run.json."""

    schema_version: int = SCHEMA_VERSION
    run: str
    cells: int
    device: str
    sandbox: str


AnyEvent = (
    RunOpened
    | TrajectoryOpened
    | RequestBuilt
    | ReplyDelta
    | ReplyReceived
    | CandidateMade
    | PreflightDone
    | OutputArrived
    | Built
    | Tested
    | Sanitized
    | Timed
    | Profiled
    | VerdictReached
    | SignalRaised
    | FeedbackGiven
    | IterationClosed
    | InfraFailed
    | Controlled
    | TrajectoryClosed
)
