"""The options of ``beaver-tui --batch``, and from them a run."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from beaver_tui import __version__
from beaver_tui.batch.printers import FORMATS, make_printer
from engine.config import BatchConfig, read_batch_config, read_protocol
from engine.corpora import Corpus, builtin_folder, load_corpus
from engine.errors import ConfigError, RunError
from engine.fixers.base import Fixer
from engine.fixers.config import FixerConfig, read_config
from engine.harness.examine import Harness
from engine.harness.limits import Limits
from engine.local import local_harness
from engine.rundir import RunDirectory, RunRecord
from engine.sweep import Sweep, plan_cells
from engine.sweep.registry import build_fixer, parse_fixer
from engine.task import Task

BUILTIN = "built-in"


@click.command()
@click.option("--corpus", metavar="PATH", help="Folder of tasks (default: the built-in corpus).")
@click.option("--tasks", multiple=True, metavar="GLOB", help="Task ids to play; may be repeated.")
@click.option("--fixer", "fixers", multiple=True, metavar="NAME", help="Fixer to play; may be repeated.")
@click.option(
    "--config", metavar="FILE", type=click.Path(path_type=Path), help="YAML file with fixers, protocol, tasks, limits."
)
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="New folder of the run (default: runs/<UTC>-<name>)."
)
@click.option(
    "--resume", metavar="DIR", type=click.Path(path_type=Path), help="Go on with a run; its own settings hold."
)
@click.option("--device", metavar="auto|cuda|cpu", help="Where kernels run (default: auto).")
@click.option("-k", "k", type=int, metavar="K", help="Iterations of a trajectory (paper: 5).")
@click.option("--history", type=int, metavar="H", help="Rounds that a prompt shows (paper: 4).")
@click.option(
    "--feedback", type=click.Choice(["L0", "L1", "L2", "L3", "L3raw", "L4"]), help="Feedback level (paper: L3)."
)
@click.option("--gate", type=float, metavar="P", help="Least speedup that passes (paper: 0.7).")
@click.option("--gate-mode", type=click.Choice(["posthoc", "inloop"]), help="Where the gate acts (paper: posthoc).")
@click.option(
    "--sampling", type=click.Choice(["iterative", "repeated"]), help="One trajectory, or independent attempts."
)
@click.option("--temperature", type=float, metavar="T", help="Sampling temperature (paper: 0.7, repeated 1.0).")
@click.option("--observe", is_flag=True, help="Record stagnation signals and play all K iterations.")
@click.option("--attempts", type=int, metavar="N", help="Independent attempts of each task and fixer.")
@click.option("--preset", metavar="NAME", help="paper or paper-repeated.")
@click.option("--two-phase", is_flag=True, help="First iteration of every task first (paper C.3).")
@click.option("--jobs", type=int, metavar="N", help="Trajectories at a time (default: cores).")
@click.option("--seed", metavar="HEX", help="Secret that checkers' inputs come from (default: fresh).")
@click.option("--sandbox", metavar="auto|bubblewrap|namespaces|none", help="Containment of candidates (default: auto).")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Output (default: rich on a terminal, else plain).")
def batch(config: Path | None, out: Path | None, resume: Path | None, form: str | None, **options: Any) -> int:
    """Repair broken CUDA programs headless and leave a run that can be archived, resumed and read again.

    Exit codes: 0 done, 1 some tasks had infrastructure faults, 2 usage, 130 interrupted. One Ctrl+C finishes the running
    steps and flushes, a second one kills.
    """
    settings = read_batch_config(config) if config else BatchConfig()
    for warning in settings.warnings:
        click.echo(f"beaver-tui: warning: {warning}", err=True)
    jobs = options["jobs"] or settings.jobs or os.cpu_count() or 1
    if jobs < 1:
        raise ConfigError(f"--jobs {jobs}: must be at least 1")
    run = _reopen(resume, out, options) if resume is not None else None
    corpus_path = run.record.corpus if run else options["corpus"] or settings.corpus or BUILTIN
    corpus = load_corpus(builtin_folder() if corpus_path == BUILTIN else Path(corpus_path))
    harness = local_harness(
        options["device"] or (run.record.device["wish"] if run else None) or settings.device or "auto",
        options["sandbox"] or (run.record.sandbox if run else None) or settings.sandbox or "auto",
        (run.record.limits if run else settings.limits).apply(Limits()),
        hide=(corpus.path.resolve(), (resume or out or Path("runs")).resolve()),
    )
    if run is None:
        run = _create(corpus, corpus_path, settings, options, out, harness)
    else:
        _same_conditions(run, corpus, harness)
    fixers = {entry["name"]: build_fixer(read_config(entry, str(run.path)), os.environ) for entry in run.record.fixers}
    return _play(run, corpus.tasks, fixers, harness, jobs, form)


def _same_conditions(run: RunDirectory, corpus: Corpus, harness: Harness) -> None:
    """Rows of one run must be comparable: same corpus, same kind of device."""
    record, device = run.record, harness.device
    if record.corpus_hash != corpus.digest:
        raise RunError(
            f"{run.path}: the corpus {record.corpus} has changed since the run began; rows would not be comparable"
        )
    if (record.device["kind"], record.device["name"]) != (device.kind, device.name):
        raise RunError(
            f"{run.path}: begun on {record.device['name']}, and this is {device.name}; rows would not be comparable. "
            "Replay its answers into a new run instead: --fixer replay:" + str(run.path)
        )


def _reopen(resume: Path, out: Path | None, options: dict[str, Any]) -> RunDirectory:
    fixed = (
        "corpus",
        "k",
        "history",
        "feedback",
        "gate",
        "gate_mode",
        "sampling",
        "temperature",
        "attempts",
        "preset",
        "seed",
    )
    given = [f"--{name.replace('_', '-')}" for name in fixed if options[name] is not None]
    given += [f"--{name}" for name in ("tasks", "fixers") if options[name]] + (["--out"] if out else [])
    given += [flag for flag in ("--observe", "--two-phase") if options[flag.strip("-").replace("-", "_")]]
    if given:
        raise ConfigError(f"--resume {resume}: a run keeps its settings; leave out {', '.join(given)}")
    return RunDirectory(resume)


def _create(
    corpus: Corpus,
    corpus_path: str,
    settings: BatchConfig,
    options: dict[str, Any],
    out: Path | None,
    harness: Harness,
) -> RunDirectory:
    layer = {
        name: options[name] for name in ("k", "history", "feedback", "gate", "gate_mode", "sampling", "temperature")
    }
    layer["early_stop"] = "observe" if options["observe"] else None
    protocol = read_protocol(options["preset"] or settings.preset, settings.protocol, layer)
    attempts = options["attempts"] or settings.attempts
    if attempts is not None and attempts < 1:
        raise ConfigError(f"--attempts {attempts}: must be at least 1")
    configs = _fixer_configs(options["fixers"], settings.fixers)
    panel = [build_fixer(config, os.environ) for config in configs]
    chosen = corpus.select(tuple(options["tasks"]) or tuple(settings.tasks))
    plan = plan_cells(chosen, panel, protocol, attempts)
    if not plan:
        raise ConfigError("nothing to do: no chosen fixer has an answer for any chosen task")
    record = RunRecord(
        name=settings.name or "-".join(dict.fromkeys(config.name for config in configs))[:60],
        tool_version=__version__,
        protocol=protocol,
        corpus=corpus_path if corpus_path == BUILTIN else str(Path(corpus_path).resolve()),
        corpus_hash=corpus.digest,
        tasks=len(chosen),
        fixers=[config.describe() for config in configs],
        device={"wish": options["device"] or settings.device or "auto", **harness.device.describe()},
        sandbox=harness.sandbox.name,
        toolkit=harness.toolkit.version,
        limits=settings.limits,
        two_phase=bool(options["two_phase"] or settings.two_phase),
        **({"seed": options["seed"]} if options["seed"] else {}),
    )
    return RunDirectory.create(record, plan, out)


def _fixer_configs(names: tuple[str, ...], configured: list[FixerConfig]) -> list[FixerConfig]:
    configs = [parse_fixer(name, configured) for name in names] if names else configured
    if not configs:
        raise ConfigError("no fixer: give --fixer NAME, for example --fixer scripted:good, or a --config with fixers")
    twice = sorted({config.name for config in configs if [other.name for other in configs].count(config.name) > 1})
    if twice:
        raise ConfigError(f"fixers: the name {twice[0]} is given twice; names must differ")
    return configs


def _play(
    run: RunDirectory, tasks: dict[str, Task], fixers: dict[str, Fixer], harness: Harness, jobs: int, form: str | None
) -> int:
    printer = make_printer(form, run, harness.device)
    sweep = Sweep(run, tasks, fixers, harness, jobs, printer.event)
    try:
        with closing(harness), run.lock(), printer:
            finished = asyncio.run(_with_signals(sweep, printer.notice))
    except RunError as error:  # a full disk, a folder that was removed under us: the machine's fault, not the command's
        if not sweep.began:
            raise
        print(f"beaver-tui: {error}; go on with: beaver-tui --batch --resume {run.path}", file=sys.stderr)
        return 1
    if not finished:
        print(f"beaver-tui: interrupted; go on with: beaver-tui --batch --resume {run.path}", file=sys.stderr)
        return 130
    return 1 if sweep.faults else 0


async def _with_signals(sweep: Sweep, notice: Any) -> bool:
    """Play the sweep; the first SIGINT or SIGTERM stops it after the running steps, the second at once. False: stopped."""
    loop = asyncio.get_running_loop()
    playing = asyncio.ensure_future(sweep.play())

    def interrupt() -> None:
        if sweep.stopping:
            playing.cancel()
        else:
            notice("stopping after the running steps; once more to kill them")
            sweep.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    loop.add_signal_handler(signal.SIGHUP, playing.cancel)
    try:
        await playing
    except asyncio.CancelledError:
        return False
    return not sweep.stopping
