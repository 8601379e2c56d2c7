"""The options of ``beaver-tui --batch``: click reads them, ``engine.sweep.opening`` makes a sweep of them."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from beaver_tui import __version__
from beaver_tui.batch.play import play
from beaver_tui.batch.printers import FORMATS
from beaver_tui.state.lines import one_line
from engine.corpora import with_broken
from engine.sweep.opening import Options, open_sweep


@click.command()
@click.option("--corpus", metavar="PATH", help="Folder of tasks (default: the built-in corpus).")
@click.option(
    "--broken",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Broken candidates, where the corpus is KernelBench.",
)
@click.option("--tasks", multiple=True, metavar="GLOB", help="Task ids to play; may be repeated.")
@click.option("--fixer", "fixers", multiple=True, metavar="NAME", help="Fixer to play; may be repeated.")
@click.option(
    "--config", metavar="FILE", type=click.Path(path_type=Path), help="YAML file with fixers, protocol, tasks, limits."
)
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="New folder of the run (default: runs/<UTC>-<name>)."
)
@click.option(
    "--resume",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Go on with a run; its own settings hold (--config only for fixers with secrets).",
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
@click.option(
    "--few-shot", metavar="HOW:K", help="Repairs of other tasks in every prompt: random:3, matched:3 or curated:3."
)
@click.option(
    "--few-shot-from",
    multiple=True,
    metavar="RUN",
    type=click.Path(path_type=Path),
    help="Run that the repairs are from; may be repeated.",
)
@click.option(
    "--few-shot-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="For curated: a list of task ids, or a mapping from tasks to such lists.",
)
@click.option("--few-shot-seed", type=click.IntRange(min=0), metavar="N", help="Chooses the repairs (default: 42).")
@click.option(
    "--baseline",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Measured times of references (a CUDABeaver checkout, its references_cache, a file) in place of launching them.",
)
@click.option("--baseline-any-device", is_flag=True, help="Use those of another GPU, too, and mark them.")
@click.option("--jobs", type=int, metavar="N", help="Trajectories at a time (default: cores).")
@click.option("--seed", metavar="TEXT", help="Secret that checkers' inputs come from (default: a fresh one).")
@click.option("--sandbox", metavar="auto|bubblewrap|namespaces|none", help="Containment of candidates (default: auto).")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Output (default: rich on a terminal, else plain).")
def batch(form: str | None, corpus: str | None, broken: Path | None, **given: object) -> int:
    """Repair broken CUDA programs headless and leave a run that can be archived, resumed and read again.

    Exit codes: 0 done, 1 some tasks had infrastructure faults, 2 usage, 130 interrupted (also when nobody reads the output
    any more). One Ctrl+C finishes the running steps and flushes, a second one kills.
    """
    given["corpus"] = with_broken(corpus, broken)
    opened = open_sweep(msgspec.convert(given, Options), __version__, _warn)
    return play(opened, form)


def _warn(text: str) -> None:
    click.echo(f"beaver-tui: warning: {one_line(text)}", err=True)
