"""The repair loop (paper 3.3): broken start, fixer, candidate, evidence, verdict, feedback, again."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol as Plug

from engine import events as ev
from engine.baselines import Baseline
from engine.candidate import exact_bytes, make_candidate
from engine.errors import InfraError, NoMoreAnswers, RunError
from engine.evidence import Evidence
from engine.fewshot import Example
from engine.fixers.base import Fixer, FixRequest, Reply
from engine.harness.aside import SLOW, aside
from engine.harness.examine import Examined, Job, Place
from engine.harness.step import Emit, SaveLog
from engine.prompts import Round, build_messages, decode, encode_messages, shown_rounds
from engine.protocol import Feedback, GateMode, Protocol, Sampling
from engine.pump import Pump
from engine.stopping import RESUBMITTED, raised_signals, why_over
from engine.store import MemoryStore, Store, sha256
from engine.task import Task
from engine.trajectory import Iteration, Trajectory
from engine.verdict import classify
from engine.verdict.feedback import Observed, feedback_text, given_level

_HARNESS_TRIES = 3


class Examiner(Plug):
    """What judges a candidate: the harness, or something around it."""

    @property
    def place(self) -> Place:
        """Where candidates are judged, for events and budgets."""
        ...

    async def examine(self, job: Job, emit: Emit, save_log: SaveLog) -> Examined: ...


@dataclass(frozen=True)
class Setting:
    """Who tries what under which rules: one cell of a plan. ``seed`` is the run's secret."""

    task: Task
    fixer: Fixer
    protocol: Protocol = field(default_factory=Protocol)
    attempt: int = 1
    run: str = ""
    seed: str = ""
    interactive: bool = False
    """A person may change things while it is played (protocol 25)."""
    examples: tuple[Example, ...] = ()
    """Repairs of other tasks that every prompt shows."""
    baseline: Baseline | None = None
    """The time of the task's reference, measured earlier."""


async def repair(
    setting: Setting,
    harness: Examiner,
    store: Store | None = None,
    past: Trajectory | None = None,
    stop_after: int | None = None,
) -> AsyncGenerator[ev.Event, None]:
    """Play a trajectory and yield its events; whoever reads them journals them, so each is on disk before the next step.

    ``past`` is a trajectory to go on with: a reply that was received is never asked for again, an unfinished iteration is
    examined anew. With ``stop_after`` the trajectory is left open after that iteration. An InfraError ends the iteration
    with an infra_error event and leaves the trajectory open; closing the iterator kills what runs and leaves it open too.
    """
    play = _Play(setting, harness, store or MemoryStore(), past or Trajectory())
    # every level is closed by name: leaving an ``async for`` early does not close what it iterates over
    async with aclosing(play.events(stop_after or setting.protocol.iterations)) as events:
        async for event in events:
            play.state.apply(event)
            yield event


class _Play:
    def __init__(self, setting: Setting, harness: Examiner, store: Store, state: Trajectory) -> None:
        self._setting, self._harness, self._store, self.state = setting, harness, store, state
        self._task, self._protocol = setting.task, setting.protocol

    async def events(self, until: int) -> AsyncGenerator[ev.Event, None]:
        if self.state.closed is not None:
            return
        if self.state.opened is None:
            yield self._opening()
        elif self.state.pending is not None:
            yield ev.Controlled(action="resume")
        while (reason := why_over(self.state, self._protocol)) is None and len(self.state.finished) < until:
            number = len(self.state.finished) + 1
            try:
                async with aclosing(self._iterate(number)) as events:
                    async for event in events:
                        yield event
            except InfraError as fault:
                yield ev.InfraFailed(iteration=number, kind=fault.kind, message=str(fault), final=True)
                return
            except NoMoreAnswers:
                reason = "no_more_answers"
                break
        if reason is not None:
            yield ev.TrajectoryClosed(stop_reason=reason, passed=self.state.passed, iterations=len(self.state.finished))

    async def _iterate(self, number: int) -> AsyncGenerator[ev.Event, None]:
        iteration = self.state.iteration(number)
        if iteration.reply is None:
            async with aclosing(self._ask(number)) as asking:
                async for event in asking:
                    yield event
        candidate, code = await aside(SLOW * len(self._task.broken), self._candidate, iteration)
        yield candidate
        examined = Examined(Evidence(preflight=[f"unusable_reply: {candidate.problem}"]), 0.0)
        if code is None:
            yield ev.PreflightDone(iteration=number, findings=examined.evidence.preflight)
        else:
            async with aclosing(self._examine(number, code)) as examining:
                async for item in examining:
                    if isinstance(item, Examined):
                        examined = item
                    else:
                        yield item
        verdict = await self._verdict(iteration, examined.evidence)
        yield verdict
        for signal in self._signals(iteration):
            yield signal
        if not verdict.passed:
            feedback = await aside(examined.evidence.characters, self._feedback, iteration)
            level, note = given_level(iteration.profiled, self._protocol)
            yield ev.FeedbackGiven(iteration=number, level=level, text=feedback, note=note)
        seconds = round(examined.own_seconds, 5)
        yield ev.IterationClosed(iteration=number, passed=verdict.passed, harness_seconds=seconds)

    # asking

    async def _ask(self, number: int) -> AsyncGenerator[ev.Event, None]:
        shown = shown_rounds(self._protocol, self.state.finished)
        rounds = [self._round(iteration) for iteration in shown]
        task, examples = self._task, self._setting.examples
        messages = await aside(len(task.error_log), build_messages, task, self._protocol, rounds, examples)
        prompt = encode_messages(messages)
        yield ev.RequestBuilt(
            iteration=number,
            prompt=self._store.put("prompts", prompt, "json"),
            feedback=self._protocol.feedback,
            history=[item.iteration for item in rounds],
            characters=len(prompt),
            examples=[one.id for one in examples],
            notes=[f"{one.number}: {one.feedback.note}" for one in shown if one.feedback and one.feedback.note],
        )
        pump: Pump[ev.Event, Reply] = Pump(lambda emit: self._propose(number, messages, emit))
        async with aclosing(pump.items()) as deltas:
            async for event in deltas:
                yield event
        reply = pump.result
        yield ev.ReplyReceived(
            iteration=number,
            response=self._store.put("responses", exact_bytes(reply.text)),
            whole_file=reply.whole_file,
            model=reply.model,
            finish_reason=reply.finish_reason,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            cost=reply.cost,
            seconds=reply.seconds,
            calls=reply.calls,
            reasoning=self._store.put("responses", exact_bytes(reply.reasoning)) if reply.reasoning else None,
        )

    async def _propose(self, number: int, messages: list[dict[str, str]], emit: Emit) -> Reply:
        last = self.state.finished[-1] if self.state.finished else None
        request = FixRequest(
            task=self._task,
            attempt=self._setting.attempt,
            iteration=number,
            messages=messages,
            source=self._source_before(number),
            feedback=last.feedback.text if last is not None and last.feedback is not None else "",
            temperature=self._protocol.effective_temperature,
            sample=self._setting.attempt,
            on_delta=lambda text, reasoning: emit(ev.ReplyDelta(iteration=number, text=text, reasoning=reasoning)),
        )
        return await self._setting.fixer.propose(request)

    def _round(self, iteration: Iteration) -> Round:
        solution = iteration.candidate.solution if iteration.candidate else None
        source = decode(self._solution(iteration)) if solution else None
        return Round(iteration.number, source, iteration.feedback.text if iteration.feedback else "")

    def _source_before(self, number: int) -> bytes:
        """The file as it stood before an iteration: the last usable candidate, or the broken start."""
        for iteration in reversed(self.state.iterations[: number - 1]):
            if iteration.candidate is not None and iteration.candidate.solution is not None:
                return self._solution(iteration)
        return self._task.broken

    def _solution(self, iteration: Iteration) -> bytes:
        """An earlier candidate. Solutions are not fsynced: what a power cut took is extracted from the reply again."""
        assert iteration.candidate is not None
        assert iteration.candidate.solution is not None
        try:
            return self._store.get("solutions", iteration.candidate.solution)
        except RunError:
            _, code = self._candidate(iteration)
            if code is None or sha256(code) != iteration.candidate.solution:
                raise
            return code

    # judging

    def _candidate(self, iteration: Iteration) -> tuple[ev.CandidateMade, bytes | None]:
        assert iteration.reply is not None
        text = self._store.get("responses", iteration.reply.response).decode("utf-8", "surrogateescape")
        made, code = make_candidate(self._task, iteration.reply, text, self._source_before(iteration.number))
        if code is not None:
            self._store.put("solutions", code, Path(self._task.spec.solution_file).suffix.lstrip(".") or "txt")
        return made, code

    async def _examine(self, number: int, code: bytes) -> AsyncGenerator[ev.Event | Examined, None]:
        """The harness's events and, last, what was examined. A fault of the machine is retried: it is not the candidate's."""
        setting = self._setting
        job = Job(
            task=self._task,
            code=code,
            iteration=number,
            seed=derive_seed(setting.seed, self._task.id, setting.attempt, number),
            gate=self._protocol.gate,
            launches=self._protocol.launches,
            baseline=setting.baseline,
            hazards=self._protocol.feedback in (Feedback.L3, Feedback.L3RAW, Feedback.L4),
            profile=self._protocol.feedback is Feedback.L4 and self._protocol.sampling is Sampling.ITERATIVE,
        )
        for tries_left in range(_HARNESS_TRIES - 1, -1, -1):
            pump: Pump[ev.Event, Examined] = Pump(
                lambda emit: self._harness.examine(
                    job, emit, lambda step, text: self._store.save_log(number, step, text)
                )
            )
            try:
                async with aclosing(pump.items()) as events:
                    async for event in events:
                        yield event
            except InfraError as fault:
                if not fault.retryable or not tries_left:
                    raise
                yield ev.InfraFailed(iteration=number, kind=fault.kind, message=str(fault))
            else:
                yield pump.result
                return

    async def _verdict(self, iteration: Iteration, evidence: Evidence) -> ev.VerdictReached:
        """The classifier's verdict; under the in-loop gate a correct candidate that is not fast enough gets a signature."""
        strict = self._protocol.ambiguous_unclassified
        verdict = await aside(evidence.characters, classify, evidence, ambiguous_unclassified=strict)
        gate = self._gate(iteration) if verdict.passed else "off"
        return ev.VerdictReached(
            iteration=iteration.number,
            category=verdict.category,
            outcome_bucket=verdict.outcome_bucket,
            rule=verdict.rule,
            signature={"fail": "too_slow", "unmeasured": "unmeasured"}.get(gate, verdict.signature),
            stage=verdict.stage,
            rivals=list(verdict.rivals),
            line=verdict.line,
            span=verdict.span,
            hazards=list(verdict.hazards),
            gate=gate,
        )

    def _gate(self, iteration: Iteration) -> str:
        if self._protocol.gate_mode is GateMode.POSTHOC or self._protocol.gate == 0:
            return "off"
        return iteration.timed.gate if iteration.timed else "unmeasured"

    def _feedback(self, iteration: Iteration) -> str:
        assert iteration.verdict is not None
        observed = Observed(
            verdict=iteration.verdict,
            preflight=iteration.preflight,
            built=iteration.built,
            tested=iteration.tested,
            sanitized=iteration.sanitized,
            timed=iteration.timed,
            profiled=iteration.profiled,
            problem=iteration.candidate.problem if iteration.candidate else None,
            budgets=self._task.spec.budgets(self._harness.place.kind),
        )
        return feedback_text(observed, self._protocol)

    def _signals(self, iteration: Iteration) -> list[ev.SignalRaised]:
        raised = raised_signals([*self.state.steps, iteration.step], self._protocol)
        if iteration.candidate is not None and iteration.candidate.resubmitted_start:
            raised = {RESUBMITTED: [iteration.number], **raised}
        return [
            ev.SignalRaised(iteration=iteration.number, name=name, iterations=seen) for name, seen in raised.items()
        ]

    def _opening(self) -> ev.TrajectoryOpened:
        setting, spec = self._setting, self._task.spec
        return ev.TrajectoryOpened(
            run=setting.run,
            task=self._task.id,
            fixer=setting.fixer.name,
            attempt=setting.attempt,
            protocol=self._protocol,
            device=self._harness.place.label,
            sandbox=self._harness.place.sandbox,
            broken=self._task.broken_sha,
            start_bucket=spec.start_bucket,
            source_model=spec.source_model,
            interactive=setting.interactive,
        )


def derive_seed(secret: str, task: str, attempt: int, iteration: int) -> int:
    """64 bits for a checker: from the run's secret, the same for every fixer, fresh in every iteration."""
    text = "\0".join((secret, task, str(attempt), str(iteration)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
