"""From what a user asks for to a sweep that is ready to play: a new run, or one that goes on under the same conditions.

Wishes are taken from the command line first, then from the run's record or the config file, then from the defaults.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from engine.config import BatchConfig, check_bounds, first_given, read_batch_config, read_protocol
from engine.corpora import Corpus, builtin_folder, load_corpus
from engine.errors import ConfigError, RunError
from engine.fixers.base import Fixer, Recorded
from engine.fixers.config import FixerConfig, unset_key
from engine.fixers.scripted import scripts_of
from engine.harness.examine import Harness
from engine.harness.limits import Limits
from engine.local import local_harness
from engine.protocol import NO_SHOTS, Protocol, Sampling
from engine.rundir import BUILTIN, Cell, DeviceRecord, FewShotRecord, RunDirectory, RunRecord
from engine.store import write_whole
from engine.sweep.cached_baselines import FILE as BASELINES
from engine.sweep.cached_baselines import chosen_baselines
from engine.sweep.example_pool import FILE as EXAMPLES
from engine.sweep.example_pool import choose_examples, encode_chosen, read_pool, record_of
from engine.sweep.registry import build_fixer, chosen_configs, recorded_configs
from engine.sweep.sweep import Sweep, plan_cells
from engine.task import Task

Warn = Callable[[str], None]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says; None and empty where it says nothing. Names are those of its flags."""

    corpus: str | None = None
    tasks: tuple[str, ...] = ()
    fixers: tuple[str, ...] = ()
    config: Path | None = None
    out: Path | None = None
    resume: Path | None = None
    device: str | None = None
    k: int | None = None
    history: int | None = None
    feedback: str | None = None
    gate: float | None = None
    gate_mode: str | None = None
    sampling: str | None = None
    temperature: float | None = None
    observe: bool = False
    attempts: int | None = None
    preset: str | None = None
    two_phase: bool = False
    jobs: int | None = None
    seed: str | None = None
    sandbox: str | None = None
    few_shot: str | None = None
    few_shot_seed: int | None = None
    few_shot_from: tuple[Path, ...] = ()
    few_shot_file: Path | None = None
    baseline: Path | None = None
    baseline_any_device: bool = False

    def __post_init__(self) -> None:
        check_bounds("--jobs", "jobs", self.jobs)
        check_bounds("--attempts", "attempts", self.attempts)
        if self.seed is not None and not self.seed.strip():
            raise ConfigError("--seed: must not be empty; without --seed a fresh one is drawn")
        if self.seed is not None and len(self.seed) > MOST_SEED_CHARACTERS:
            raise ConfigError(f"--seed: must have at most {MOST_SEED_CHARACTERS} characters, and has {len(self.seed)}")
        if self.corpus is not None and not self.corpus.strip():
            raise ConfigError("--corpus: must not be empty; without --corpus the built-in tasks are played")
        if self.baseline_any_device and self.baseline is None:
            raise ConfigError("--baseline-any-device: goes with --baseline")
        for name, value in (("--corpus", self.corpus), ("--out", self.out), ("--seed", self.seed)):
            if value is not None and not _is_text(str(value)):
                raise ConfigError(f"{name} {value}: must be UTF-8; a run's record could not name it")


MOST_SEED_CHARACTERS = 200

RESUMABLE = ("config", "resume", "device", "jobs", "sandbox")
"""Options that --resume allows: where the run goes on. All others were decided when it began."""

PROTOCOL_OPTIONS = ("k", "history", "feedback", "gate", "gate_mode", "sampling", "temperature")


@dataclass(frozen=True)
class Opened:
    """A sweep that is ready, and the harness that it plays on: close the harness when the sweep is over."""

    sweep: Sweep
    harness: Harness
    configs: dict[str, FixerConfig]
    """What the fixers were built from, with their secrets, by name."""


def open_sweep(
    options: Options, tool_version: str, warn: Warn, *, live: bool = False, interactive: bool = False
) -> Opened:
    """Make or reopen the run that ``options`` ask for, with everything that playing it needs. Nothing is written before all of
    it is there. ``warn`` is called with what a user should know and need not act on. A ``live`` run has one trajectory, else
    ConfigError; a new run that is ``interactive`` may be changed by hand."""
    settings = read_batch_config(options.config) if options.config is not None else BatchConfig()
    for warning in settings.warnings:
        warn(warning)
    if options.resume is None:
        return _begin(options, settings, tool_version, warn, live, interactive)
    return _go_on(options, options.resume, settings, warn, live)


def _begin(
    options: Options, settings: BatchConfig, tool_version: str, warn: Warn, live: bool, interactive: bool
) -> Opened:
    corpus_path = first_given(options.corpus, settings.corpus, default=BUILTIN)
    corpus = _load(corpus_path)
    wish = first_given(options.device, settings.device, default="auto")
    out = first_given(options.out, default=Path("runs"))
    harness = local_harness(
        wish,
        first_given(options.sandbox, settings.sandbox, default="auto"),
        settings.limits.apply(Limits()),
        hide=(corpus.path.resolve(), out.resolve()),
    )
    configs = chosen_configs(options.fixers, settings.fixers)
    fixers = _built(configs, warn)
    protocol = read_protocol(first_given(options.preset, settings.preset), settings.protocol, _protocol_layer(options))
    chosen = corpus.select(options.tasks or tuple(settings.tasks))
    for fixer in fixers.values():
        _has_answers(fixer, chosen)
    protocol, examples = _examples(options, settings, protocol, chosen, warn)
    attempts = first_given(options.attempts, settings.attempts)
    if attempts is not None and protocol.sampling is Sampling.REPEATED and attempts < protocol.k:
        warn(f"--attempts {attempts}: repeated sampling draws at least K attempts; {protocol.k} are played (see -k)")
    plan = plan_cells(chosen, fixers.values(), protocol, attempts)
    if live:
        _one(plan)
    record = RunRecord(
        name=first_given(settings.name, default="-".join(config.name for config in configs)[:60]),
        tool_version=tool_version,
        protocol=protocol,
        corpus=corpus_path if corpus_path == BUILTIN else str(Path(corpus_path).resolve()),
        corpus_hash=corpus.digest,
        tasks=len(chosen),
        fixers=[config.describe() for config in configs],
        device=DeviceRecord.of(harness.device, wish),
        sandbox=harness.sandbox.name,
        toolkit=harness.toolkit.version,
        limits=settings.limits,
        two_phase=options.two_phase or bool(settings.two_phase),
        interactive=interactive,
        few_shot=examples[0] if examples is not None else None,
    )
    if options.seed is not None:
        record = msgspec.structs.replace(record, seed=options.seed)
    files = {EXAMPLES: examples[1]} if examples is not None else {}
    if options.baseline is not None:
        names = [task.id for task in chosen]
        baseline, files[BASELINES] = chosen_baselines(
            options.baseline, harness.device, harness.toolkit.version, names, options.baseline_any_device, warn
        )
        record = msgspec.structs.replace(record, baseline=baseline)
    run = create_run(record, plan, options.out, files)
    harness.device.make_ready(harness.toolkit, warn)  # not before every wrong word has been told
    return _opened(run, corpus, fixers, harness, first_given(options.jobs, settings.jobs), configs)


def _examples(
    options: Options, settings: BatchConfig, protocol: Protocol, tasks: list[Task], warn: Warn
) -> tuple[Protocol, tuple[FewShotRecord, bytes] | None]:
    """The protocol with the name of its examples, and they themselves as the run will keep them; None where none are asked for."""
    sources = options.few_shot_from or tuple(Path(path) for path in settings.few_shot_from)
    if protocol.shots is None:
        if options.few_shot_from or options.few_shot_file is not None:
            warn("--few-shot-from and --few-shot-file: without --few-shot no examples are shown")
        return msgspec.structs.replace(protocol, few_shot_pool=NO_SHOTS), None
    if not sources:
        raise ConfigError(f"--few-shot {protocol.few_shot}: name the runs that hold repairs with --few-shot-from RUN")
    for path in sources:
        if not (path / "run.json").is_file():
            raise ConfigError(
                f"--few-shot-from {path}: no run here; name runs of your own, or results that beaver-tui import has read"
            )
    curated = options.few_shot_file or (Path(settings.few_shot_file) if settings.few_shot_file is not None else None)
    pool = read_pool(sources)
    protocol, examples = choose_examples(tasks, pool, protocol, curated, warn)
    content = encode_chosen(examples)
    return protocol, (record_of(content, sources, pool), content)


def _one(plan: list[Cell]) -> None:
    if len(plan) > 1:
        raise ConfigError(
            f"a live run is one trajectory, and these are {len(plan)}; choose one task, one fixer and one attempt"
        )


def _has_answers(fixer: Fixer, chosen: list[Task]) -> None:
    """Raises ConfigError, which names the scripts there are, when a recorded fixer has nothing to say to any chosen task."""
    if not isinstance(fixer, Recorded) or any(fixer.covers(task) for task in chosen):
        return
    scripts = sorted({script for task in chosen for script in scripts_of(task)})
    known = f"; their scripts are {', '.join(scripts[:10])}" if scripts else "; they have no scripts"
    raise ConfigError(f"--fixer {fixer.name}: has no answer for any of the {len(chosen)} chosen tasks{known}")


def create_run(record: RunRecord, plan: list[Cell], out: Path | None, files: Mapping[str, bytes]) -> RunDirectory:
    """A new run on disk, in ``out`` or in a fresh folder under runs/, with the ``files`` that it begins with. A plan without cells is
    refused."""

    def fill(folder: Path) -> None:
        for name, content in files.items():
            write_whole(folder / name, content)

    if not plan:
        raise ConfigError("nothing to do: no chosen fixer has an answer for any chosen task")
    return RunDirectory.create(record, plan, out, fill)


def _go_on(options: Options, folder: Path, settings: BatchConfig, warn: Warn, live: bool) -> Opened:
    run = open_run(options, folder)
    if live:
        _one(run.plan)
    record = run.record
    if ignored := [name for name in settings.given if name != "fixers"]:
        warn(f"--config {options.config}: a run keeps its settings; ignored: {', '.join(ignored)}")
    if strangers := {config.name for config in settings.fixers} - {entry.get("name") for entry in record.fixers}:
        warn(f"--config {options.config}: the run has no fixers {', '.join(sorted(strangers))}; ignored")
    corpus = _load(record.corpus)
    harness = local_harness(
        first_given(options.device, default=record.device.wish),
        first_given(options.sandbox, default=record.sandbox),
        record.limits.apply(Limits()),
        hide=(corpus.path.resolve(), folder.resolve()),
    )
    same_conditions(run, corpus, harness, warn)
    configs = recorded_configs(run, settings.fixers)
    fixers = _built(configs, warn)
    for cell in run.plan:
        if cell.task not in corpus.tasks or cell.fixer not in fixers:
            raise RunError(
                f"{run.path / 'plan.jsonl'}: {cell}: no such task or fixer in this run; it was changed by hand"
            )
    harness.device.make_ready(harness.toolkit, warn)
    return _opened(run, corpus, fixers, harness, options.jobs, configs)


def open_run(options: Options, folder: Path) -> RunDirectory:
    """The run in ``folder``, to go on with. Raises ConfigError that names the options which a run in progress does not take."""
    plain = Options()
    flags = {"fixers": "--fixer", "k": "-k"}
    given = [
        flags.get(name, f"--{name.replace('_', '-')}")
        for name in Options.__struct_fields__
        if name not in RESUMABLE and getattr(options, name) != getattr(plain, name)
    ]
    if given:
        raise ConfigError(f"--resume {folder}: a run keeps its settings; leave out {', '.join(given)}")
    run = RunDirectory(folder)
    if run.record.imported is not None:
        raise ConfigError(
            f"{folder}: was imported from {run.record.imported.source}, and cannot go on here; "
            f"replay its answers into a new run instead: --fixer replay:{folder}"
        )
    return run


def same_conditions(run: RunDirectory, corpus: Corpus, harness: Harness, warn: Warn) -> None:
    """Rows of one run must be comparable: same corpus, same kind of device, same sandbox. Raises RunError where they differ;
    another toolkit, which a machine may not offer twice, is only a warning."""
    record, device = run.record, harness.device
    if record.corpus_hash != corpus.digest:
        raise RunError(
            f"{run.path}: the corpus {record.corpus} has changed since the run began; rows would not be comparable"
        )
    if (record.device.kind, record.device.name) != (device.kind, device.name):
        raise RunError(
            f"{run.path}: begun on {record.device.name}, and this is {device.name}; rows would not be comparable. "
            f"Replay its answers into a new run instead: --fixer replay:{run.path}"
        )
    if record.sandbox != harness.sandbox.name:
        raise RunError(
            f"{run.path}: begun in the sandbox {record.sandbox}, and this is {harness.sandbox.name}; rows would not be "
            f"comparable. Leave out --sandbox, or replay its answers into a new run: --fixer replay:{run.path}"
        )
    if record.toolkit != harness.toolkit.version:
        warn(
            f"{run.path}: begun with CUDA {record.toolkit}, and this is {harness.toolkit.version}; "
            "compiler messages and times may differ within this run"
        )


def _opened(
    run: RunDirectory,
    corpus: Corpus,
    fixers: dict[str, Fixer],
    harness: Harness,
    jobs: int | None,
    configs: list[FixerConfig],
) -> Opened:
    at_a_time = first_given(jobs, os.cpu_count(), default=1)
    sweep = Sweep(run, corpus.tasks, fixers, harness, at_a_time)
    return Opened(sweep, harness, {config.name: config for config in configs})


def _load(path: str) -> Corpus:
    return load_corpus(builtin_folder() if path == BUILTIN else Path(path))


def _built(configs: list[FixerConfig], warn: Warn) -> dict[str, Fixer]:
    """Each fixer, built once: what it was configured with is what it asks with."""
    for config in configs:
        if warning := unset_key(config, os.environ):
            warn(warning)
    return {config.name: build_fixer(config, os.environ) for config in configs}


def _is_text(value: str) -> bool:
    """Whether a file of UTF-8 can hold it: bytes on a command line that are none become lone surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _protocol_layer(options: Options) -> dict[str, object]:
    layer: dict[str, object] = {name: getattr(options, name) for name in PROTOCOL_OPTIONS}
    layer |= {"few_shot": options.few_shot, "few_shot_seed": options.few_shot_seed}
    return {**layer, "early_stop": "observe" if options.observe else None}
