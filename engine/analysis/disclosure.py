"""What a card discloses that is no result: runs, fixers, corpus, settings, coverage, and where all this leaves the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from engine.analysis.document import clean as line
from engine.analysis.frame import PASSED, Frame, Why, setting_of
from engine.analysis.grids import measured
from engine.analysis.rates import setting_label
from engine.fixers.config import FixerConfig
from engine.protocol import PRESETS, Protocol
from engine.rundir import RunDirectory, RunRecord

Card = dict[str, Any]

NOISY_CV = 0.03
"""Coefficient of variation above which the paper flags a timing (appendix G)."""

PAPER_TASKS = 213

COVERAGE_NAMES: Mapping[Why, str] = {
    "missing": "missing",
    "unfinished": "unfinished",
    "infra": "infra_excluded",
    "interactive": "interactive_left_out",
    "no_answer": "no_answer",
    "needs_device": "needs_device",
    "damaged": "damaged",
}
"""The field of a card that counts each kind of gap."""


def absent(why: str) -> dict[str, str]:
    """In the place of a value that there is none of."""
    return {"not_available": line(why)}


def runs_of(runs: Sequence[RunDirectory]) -> list[Card]:
    return [_run(run) for run in runs]


def _run(run: RunDirectory) -> Card:
    record, device = run.record, run.record.device
    return {
        "name": line(record.name),
        "created": line(record.created),
        "setting": setting_label(record.protocol),
        "schema_version": record.schema_version,
        "tool_version": line(record.tool_version),
        "cells": len(run.plan),
        "plan_sha256": record.plan.sha256 if record.plan is not None else absent("written by an earlier version"),
        "two_phase": record.two_phase,
        "interactive": record.interactive,
        "imported": _imported(record),
        "baseline": _baseline(record),
        "python": line(record.python),
        "system": line(record.system),
        "toolkit": line(record.toolkit) or "unknown",
        "sandbox": line(record.sandbox),
        "limits": msgspec.to_builtins(record.limits),
        "hardware": {
            "kind": line(device.kind),
            "name": line(device.name),
            "sm": device.sm or absent(f"a {line(device.kind)} device has no compute capability"),
            "memory_bytes": device.memory or absent("not told by the device"),
            "driver": line(device.driver) or absent("no driver"),
        },
    }


def _imported(record: RunRecord) -> Card:
    """What a run that was not played here was read from. Where that lies on this machine is nobody's business."""
    told = record.imported
    if told is None:
        return absent("played by this tool")
    return {
        "format": line(told.format),
        "sha256": line(told.sha256),
        "recorded": line(told.recorded),
        "unknown": [line(text) for text in told.unknown],
        "notes": [line(text) for text in told.notes],
    }


def _baseline(record: RunRecord) -> Card:
    """Times of references that were measured in no run of these."""
    told = record.baseline
    if told is None or not told.tasks:
        return absent("every reference that was timed was timed in the run")
    return {
        "tasks": told.tasks,
        "devices": [line(name) for name in told.devices],
        "any_device": told.any_device,
        "sha256": line(told.sha256),
    }


def fixers_of(runs: Sequence[RunDirectory], frame: Frame) -> list[Card]:
    """Every fixer as its first run describes it, with the models that the service said it was."""
    described: dict[str, dict[str, Any]] = {}
    for run in runs:
        for entry in run.record.fixers:
            described.setdefault(str(entry.get("name", "")), entry)
    protocols = [run.record.protocol for run in runs]
    return [_fixer(name, entry, protocols, frame) for name, entry in described.items()]


def _fixer(name: str, entry: Mapping[str, Any], protocols: Sequence[Protocol], frame: Frame) -> Card:
    kind = str(entry.get("kind", "chat"))
    asks_nobody = absent(f"a {line(kind)} fixer asks no service")
    not_set = absent("not set: the service's own default")
    mine = np.unique(frame.trajectories.model[frame.of("fixer", name)])
    models = [line(frame.names["model"][index]) for index in mine if index >= 0]
    chat = kind == "chat"
    own = entry.get("temperature")
    temperatures = sorted({protocol.effective_temperature for protocol in protocols})
    return {
        "name": line(name) or "unnamed",
        "kind": line(kind),
        "models": models or absent("no reply named one"),
        "backend": line(_host(entry)) if chat else asks_nobody,
        "temperature": _temperature(own, temperatures) if chat else asks_nobody,
        "max_tokens": (entry.get("max_tokens") or not_set) if chat else asks_nobody,
        "seed": (not_set if entry.get("seed") is None else entry["seed"]) if chat else asks_nobody,
        "extra_body": (entry.get("extra_body") or absent("nothing is sent besides")) if chat else asks_nobody,
        "prices": (entry.get("prices") or absent("not given")) if chat else asks_nobody,
    }


def _temperature(own: object, protocols: Sequence[float]) -> float | str:
    if own == "default":
        return "the service's default"
    if isinstance(own, int | float):
        return float(own)
    return protocols[0] if len(protocols) == 1 else "by setting: " + ", ".join(map(str, protocols))


def _host(entry: Mapping[str, Any]) -> str:
    """Where a service is, without user, path or query."""
    url = str(entry.get("base_url") or "")
    return FixerConfig(name="-", model="-", base_url=url or None).host if url.startswith("http") else url or "unknown"


def corpus_of(
    runs: Sequence[RunDirectory], frame: Frame, verdicts: Mapping[str, int] | None, filters: str | None
) -> Card:
    """The corpus that all runs share. ``verdicts`` counts what ``beaver-tui verify`` said of its tasks, where that is known."""
    record = runs[0].record
    tasks = {cell.task for run in runs for cell in run.plan}
    starts = dict(zip(frame.trajectories.task.tolist(), frame.trajectories.bucket.tolist(), strict=True))
    names = frame.labels("bucket")
    return {
        "name": "built-in" if record.corpus == "built-in" else "a folder of tasks",
        "sha256": line(record.corpus_hash) or "unknown",
        "tasks": len(tasks),
        "filters": line(filters)
        if filters is not None
        else absent("a run's record holds the chosen tasks, not how they were chosen"),
        "start_buckets": dict(sorted(Counter(line(names[bucket]) for bucket in starts.values()).items())),
        "verify": {"verdicts": dict(verdicts), "tasks": sum(verdicts.values())}
        if verdicts
        else absent("no result of beaver-tui verify was given (--verify FILE)"),
    }


def settings_of(runs: Sequence[RunDirectory]) -> list[Card]:
    """Every protocol that was played, once."""
    attempts: dict[Protocol, int] = {}
    for run in runs:
        deepest = max(cell.attempt for cell in run.plan)
        attempts[run.record.protocol] = max(deepest, attempts.get(run.record.protocol, 0))
    return [_setting(protocol, deepest) for protocol, deepest in attempts.items()]


def _setting(protocol: Protocol, attempts: int) -> Card:
    return {
        "name": setting_label(protocol),
        "a1_gate": protocol.gate,
        "gate_mode": str(protocol.gate_mode),
        "a2_sampling": str(protocol.sampling),
        "temperature": protocol.effective_temperature,
        "a3_feedback": str(protocol.feedback),
        "a4_history": protocol.history,
        "k": protocol.k,
        "attempts": attempts,
        "early_stop": str(protocol.early_stop),
        "oscillation": {"m": protocol.oscillation_m, "n": protocol.oscillation_n},
        "no_progress": protocol.no_progress_c,
        "stderr_lines": protocol.stderr_lines,
        "log_budget": protocol.log_budget,
        "ambiguous_unclassified": protocol.ambiguous_unclassified,
        "stop_on_resubmitted_start": protocol.stop_on_resubmitted_start,
        "launches": protocol.launches,
        "few_shot": {
            "examples": protocol.few_shot,
            "seed": protocol.few_shot_seed,
            "pool": protocol.few_shot_pool,
        },
    }


def coverage_of(runs: Sequence[RunDirectory], frame: Frame, plan: Mapping[str, Protocol] | None) -> Card:
    """Planned cells, counted ones, and every other one with its reason: none becomes a failure in silence. ``plan`` holds the
    runs that a sweep was planned as."""
    coverage, table, rows = frame.coverage, frame.trajectories, frame.iterations
    reasons = coverage.reasons
    passes = rows.category == PASSED
    return {
        "planned": coverage.planned,
        "counted": coverage.counted,
        **{name: reasons.get(why, 0) for why, name in COVERAGE_NAMES.items()},
        "interactive_counted": int(table.interactive.sum()),
        "infra_overcome": int(table.infra.sum()),
        "feedback_fell_back": int(table.fell_back.sum()),
        "truncated_replies": int(rows.truncated.sum()),
        "unmeasured_passes": int((passes & np.isnan(rows.speedup)).sum()),
        "noisy_timings": int((rows.cv > NOISY_CV).sum()),
        "planned_runs": _planned(runs, plan)
        if plan is not None
        else absent("no plan of a sweep was given (--plan FILE)"),
        "gaps": [
            {
                "run": line(gap.run),
                "task": line(gap.cell.task),
                "fixer": line(gap.cell.fixer),
                "attempt": gap.cell.attempt,
                "why": gap.why,
                "detail": line(gap.detail),
            }
            for gap in coverage.gaps
        ],
    }


def _planned(runs: Sequence[RunDirectory], plan: Mapping[str, Protocol]) -> Card:
    """The runs of a sweep, and those that none of ``runs`` was played as."""
    played = {setting_of(run.record.protocol) for run in runs}
    missing = [line(name) for name, protocol in plan.items() if setting_of(protocol) not in played]
    return {"planned": len(plan), "missing": missing}


def deviations(runs: Sequence[RunDirectory]) -> list[Card]:
    """Where these runs leave the paper's protocol, and what is ours wherever a run is played."""
    found = list(_of_protocols({run.record.protocol for run in runs}))
    devices = sorted({line(run.record.device.name) for run in runs})
    toolkits = sorted({line(run.record.toolkit) or "unknown" for run in runs})
    tasks = len({cell.task for run in runs for cell in run.plan})
    found += [
        ("corpus", f"{PAPER_TASKS} tasks of CUDABeaver", f"{tasks} tasks; see corpus"),
        ("hardware", "RTX PRO 6000 (Blackwell) and H200 (Hopper)", ", ".join(devices)),
        ("toolkit", "CUDA 12.4", f"CUDA {', '.join(toolkits)}"),
        *OURS,
    ]
    return [{"topic": topic, "paper": paper, "here": here} for topic, paper, here in found if paper != here]


OURS: tuple[tuple[str, str, str], ...] = (
    ("stderr lines of the buildability template", "not told", "a parameter; see settings"),
    ("templates of environment_dependency and of a slow pass", "none given", "our own"),
    ("a broken start that is handed back", "not told", "no duplicate_code: flagged resubmitted_broken_start"),
    ("fixed versions of models", "not told", "the model's name as each service returned it"),
)
"""Decisions where the paper is silent; docs/analysis.md has the reasons."""


def _of_protocols(protocols: Iterable[Protocol]) -> Iterable[tuple[str, str, str]]:
    plain = PRESETS["paper"]
    for name in plain.__struct_fields__:
        values = {getattr(protocol, name) for protocol in protocols} - {getattr(plain, name)}
        for value in sorted(values, key=str):
            if value is not None and not measured(name, value):  # what the paper has measured too is a setting
                yield f"protocol: {name}", str(getattr(plain, name)), str(value)
