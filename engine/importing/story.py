"""One trajectory of foreign results as events. Nothing is guessed: what the rows do not say has no event, or says so."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine import events as ev
from engine.candidate import line_changes
from engine.evidence import Evidence, StepEvidence
from engine.harness.capture import Capture
from engine.importing.layout import API_ERROR, Performance, Results, Row
from engine.protocol import Protocol, Sampling
from engine.rundir import Cell
from engine.store import Store, sha256
from engine.task import Task
from engine.verdict import Category, Signal, classify, outcome_bucket
from engine.verdict.categories import UNCLASSIFIED
from engine.verdict.signature import normalise

RULE = "imported"
"""The rule of every imported verdict: the category is what the results say. ``rescore`` asks today's classifier."""

UNKNOWN = "unknown"

CATEGORIES: dict[str, Category] = {
    "compile_error": Category.BUILDABILITY,
    "perf_below_threshold": Category.PASSED,
    "perf_unmeasured": Category.PASSED,
}
"""Spellings of the eight that are neither ours nor ``*_bug``. The two of the gate are correct programs (docs/analysis.md)."""

GATES = {"perf_below_threshold": ("fail", "too_slow"), "perf_unmeasured": (UNKNOWN, "unmeasured")}
"""Verdict's gate and signature of a correct candidate that the results' own gate refused."""

BUCKETS: dict[str, Category] = {"timeout": Category.TIMEOUT, "passed": Category.PASSED}
"""Buckets of one category. The others may be two or three: such a row is unclassified."""

_TEST, _BUILD = "\n\n[TEST OUTPUT]\n", "[BUILD OUTPUT]\n"
_TIMED_OUT = ("[BUILD TIMEOUT]", "[TEST TIMEOUT]")


@dataclass(frozen=True)
class Teller:
    """What all trajectories of some results share. ``model`` is empty where it is not known."""

    results: Results
    run: str
    protocol: Protocol
    model: str

    def story(self, cell: Cell, rows: list[Row], task: Task | None, store: Store) -> Iterator[ev.Event]:
        """The events of a trajectory, from its rows in their order, which are numbered anew from 1."""
        yield ev.TrajectoryOpened(
            at="",
            run=self.run,
            task=cell.task,
            fixer=cell.fixer,
            attempt=cell.attempt,
            protocol=self.protocol,
            device=UNKNOWN,
            sandbox=UNKNOWN,
            broken=task.broken_sha if task is not None else UNKNOWN,
            start_bucket=task.spec.start_bucket if task is not None else None,
            source_model=task.spec.source_model if task is not None else None,
        )
        before = task.broken if task is not None else b""
        number, passed = 0, False
        reason = rows[-1].stop_reason
        for row in rows:
            if row.error_type == API_ERROR:
                message = "the results say that the service did not answer"
                yield ev.InfraFailed(at="", iteration=number + 1, kind="service", message=message, final=True)
                return
            number += 1
            code = self.results.code(row)
            signal = reason if row is rows[-1] and reason in list(Signal) else None
            yield from self._iteration(number, row, code, before, task, store, signal)
            before = code if code is not None else before
            passed = passed or row.status == "passed"
        last = reason or ("passed" if passed else None)
        if self.protocol.sampling is Sampling.REPEATED and last is None:
            last = "max_iterations"  # an attempt is over after its one call
        if last in (None, API_ERROR):
            return
        yield ev.TrajectoryClosed(at="", stop_reason=last, passed=passed, iterations=number)

    def _iteration(
        self,
        number: int,
        row: Row,
        code: bytes | None,
        before: bytes,
        task: Task | None,
        store: Store,
        signal: str | None,
    ) -> Iterator[ev.Event]:
        yield self._reply(number, row, code, store)
        yield self._candidate(number, code, before, task, store)
        build, test = self._steps(row)
        for name, step in (("build", build), ("test", test)):
            if step is not None:
                store.save_log(number, name, step.stdout)
        if build is not None:
            yield ev.Built(at="", iteration=number, step=_record(build))
        if test is not None:
            yield ev.Tested(at="", iteration=number, step=_record(test))
        if row.performance is not None:
            yield _timed(number, row.performance, self.protocol.gate)
        yield _verdict(number, row, Evidence(build=build, test=test) if build is not None else None)
        if signal is not None:  # the one that ended it: others are not told
            yield ev.SignalRaised(at="", iteration=number, name=signal, iterations=[number])
        yield ev.IterationClosed(at="", iteration=number, passed=row.status == "passed")

    def _reply(self, number: int, row: Row, code: bytes | None, store: Store) -> ev.ReplyReceived:
        """Where the reply was not kept, the file that was extracted from it stands for it, as a whole file."""
        reply = self.results.reply(row)
        text = reply if reply is not None else code if code is not None else b""
        return ev.ReplyReceived(
            at="",
            iteration=number,
            response=store.put("responses", text),
            whole_file=reply is None,
            model=self.model,
        )

    @staticmethod
    def _candidate(number: int, code: bytes | None, before: bytes, task: Task | None, store: Store) -> ev.CandidateMade:
        if code is None:
            return ev.CandidateMade(at="", iteration=number, problem="the results do not hold the file")
        suffix = Path(task.spec.solution_file).suffix.lstrip(".") if task is not None else "cu"
        store.put("solutions", code, suffix or "txt")
        added, removed = line_changes(before, code) if before else (0, 0)
        resubmitted = task is not None and code == task.broken
        return ev.CandidateMade(
            at="", iteration=number, solution=sha256(code), added=added, removed=removed, resubmitted_start=resubmitted
        )

    def _steps(self, row: Row) -> tuple[StepEvidence | None, StepEvidence | None]:
        """Build and test, as far as the log and the row tell. A status that was not 0 is not known: it stays None."""
        if row.build_ok is None:
            return None, None
        _, _, log = (self.results.log(row) or "").partition(_BUILD)
        said, _, tested = log.partition(_TEST) if row.build_ok else (log, "", "")
        build = _step(said, row.build_ok)
        return build, _step(tested, row.status == "passed") if row.build_ok else None


def _step(log: str, ok: bool) -> StepEvidence:
    timed_out = not ok and log.lstrip().startswith(_TIMED_OUT)
    return StepEvidence(exit_code=0 if ok else None, timed_out=timed_out, stdout=log)


def _record(step: StepEvidence) -> ev.StepRecord:
    capture = Capture()
    capture.feed(step.stdout.encode("utf-8", "replace"))
    return ev.StepRecord(exit_code=step.exit_code, timed_out=step.timed_out, stdout=capture.excerpt())


def _timed(number: int, measured: Performance, gate: float) -> ev.Timed:
    """The results' own means; single launches are not told. Their reference was measured once and cached, for all candidates."""
    speedup = measured.speedup
    if speedup is None or not math.isfinite(speedup) or speedup <= 0:
        return ev.Timed(at="", iteration=number, note=f"imported: not measured ({measured.skipped or UNKNOWN})")
    return ev.Timed(
        at="",
        iteration=number,
        speedup=speedup,
        reference_mean_ms=measured.reference_runtime_ms,
        cv=measured.candidate_cv,
        gate="pass" if speedup >= gate else "fail",
        note=f"imported: {measured.timing_method or 'method unknown'}",
        flags=["baseline: cached"],
    )


def category_of(row: Row) -> str:
    """The row's category among the eight, or ``unclassified`` where it names only a bucket that several share."""
    if row.category:
        if row.category in CATEGORIES:
            return CATEGORIES[row.category]
        try:
            return Category.parse(row.category)
        except ValueError:
            return UNCLASSIFIED
    return BUCKETS.get(row.five_category, UNCLASSIFIED)


def _verdict(number: int, row: Row, evidence: Evidence | None) -> ev.VerdictReached:
    category = category_of(row)
    gate, signature = GATES.get(row.category, ("off", ""))
    detail = next((line for line in (row.logic_error_detail or "").splitlines() if line.strip()), "")
    if category != Category.PASSED:
        signature = _signature(detail, evidence)
    bucket = outcome_bucket(category)
    return ev.VerdictReached(
        at="",
        iteration=number,
        category=category,
        outcome_bucket=row.five_category or UNKNOWN if category == UNCLASSIFIED else bucket,
        rule=RULE,
        signature=signature,
        stage="build" if row.build_ok is False else "test",
        line=detail[:500] if category != Category.PASSED else "",
        gate="unmeasured" if gate == UNKNOWN else gate,
    )


def _signature(detail: str, evidence: Evidence | None) -> str:
    """Today's signature of the log, where there is one: the results have none of their own, and signals compare them."""
    if evidence is not None and any(
        step is not None and step.stdout.strip() for step in (evidence.build, evidence.test)
    ):
        verdict = classify(evidence)
        if not verdict.passed:
            return verdict.signature
    return normalise(detail) or UNKNOWN
