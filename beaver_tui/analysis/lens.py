"""``beaver-tui lens``: what one version of a program gave up against another, in words, with lines and a score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from engine.authoring.losses import Judged
    from engine.verdict.compiled import Compiled
    from engine.verdict.degeneration import Finding
    from engine.verdict.structure import Structure

_PATH = click.Path(path_type=Path)
_PARTS = ("broken", "reference")
_MOST = 4
"""Kinds of loss that a summary names."""


@dataclass(frozen=True)
class Version:
    """One side. ``beside`` are the files that it is built with, by their path in the program."""

    name: str
    file: str
    code: bytes
    beside: Mapping[str, Path] = field(default_factory=dict)

    @property
    def suffix(self) -> str:
        return Path(self.file).suffix


@click.command()
@click.argument("baseline")
@click.argument("candidate", required=False)
@click.option("--corpus", metavar="PATH", type=_PATH, help="Where tasks are looked up (default: the built-in ones).")
@click.option("--compiled", is_flag=True, help="Compile both, and judge by registers, spills and instructions too.")
@click.option("--arch", metavar="SM", default="sm_90", show_default=True, help="What --compiled compiles for.")
@click.option("--include", "-I", "includes", multiple=True, type=_PATH, metavar="DIR", help="Headers for --compiled.")
@click.option(
    "--sandbox",
    default="auto",
    metavar="auto|bubblewrap|namespaces|none",
    help="What --compiled compiles in (default: auto).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def lens(
    baseline: str,
    candidate: str | None,
    corpus: Path | None,
    compiled: bool,
    arch: str,
    includes: tuple[Path, ...],
    sandbox: str,
    as_json: bool,
) -> int:
    """Say what CANDIDATE gave up of what made BASELINE fast: tiles, wide loads, tensor cores, parallel loops, and so on.

    Each is a file, TASK (its broken start) or TASK:reference. Nothing is run; without --compiled nothing is compiled either.

    With one argument, a run: every fix of it that passed, against the broken start or, where that has nothing to lose, the reference.
    """
    import msgspec

    if candidate is None:
        return _of_run(Path(baseline), as_json)

    from engine.verdict.degeneration import lens as compare
    from engine.verdict.degeneration import score
    from engine.verdict.degeneration_compiled import with_compiled
    from engine.verdict.structure import structure

    sides = [_version(wanted, corpus) for wanted in (baseline, candidate)]
    if compiled and not sides[1].beside:
        # A file that is compared with a task is built as the task is.
        sides[1] = Version(sides[1].name, sides[0].file, sides[1].code, sides[0].beside)
    before, after = (structure(side.code, side.suffix) for side in sides)
    found = compare(before, after)
    built = _built(sides, arch, includes, sandbox) if compiled else None
    if built is not None:
        found = with_compiled(found, *built)
    if as_json:
        click.echo(msgspec.json.encode(_record(sides, found, (before, after), built, score(found))))
        return 0
    for line in _lines(sides, found, (before, after), built):
        click.echo(line)
    return 0


def _of_run(path: Path, as_json: bool) -> int:
    """A line for each fix that passed, then what each fixer's fixes lost, and how many of all lost something."""
    import msgspec

    from beaver_tui.state.lines import one_line
    from beaver_tui.state.structuretext import verdict_line
    from engine.authoring.losses import judged
    from engine.rundir import RunDirectory

    fixers: dict[str, list[Judged]] = {}
    for fix in judged(RunDirectory(path)):
        fixers.setdefault(fix.cell.fixer, []).append(fix)
        if as_json:
            row = {
                "task": fix.cell.task,
                "fixer": fix.cell.fixer,
                "attempt": fix.cell.attempt,
                "iteration": fix.iteration,
                "speedup": fix.speedup,
                "baseline": fix.baseline,
                "score": round(fix.score, 4),
                "findings": [_finding(finding) for finding in fix.findings],
            }
            click.echo(msgspec.json.encode(row))
        else:
            words = verdict_line("passed", fix.speedup, fix.findings)
            said = f"; score {fix.score:.2f} against the {fix.baseline}" if fix.findings else ""
            click.echo(one_line(f"{fix.cell}, iteration {fix.iteration}: {words}{said}"))
    if not as_json:
        if len(fixers) > 1:
            for fixer, fixes in fixers.items():
                click.echo(one_line(f"{fixer}: {_summary(fixes)}"))
        click.echo(_summary([fix for fixes in fixers.values() for fix in fixes]))
    return 0


def _summary(fixes: Sequence[Judged]) -> str:
    """How many gave up structure, by how much in the middle, and what most often."""
    lossy = [fix for fix in fixes if fix.findings]
    text = f"{len(fixes)} passed, {len(lossy)} of them gave up structure"
    if not lossy:
        return text
    often = Counter(words for fix in lossy for words in {f"{finding.how} {finding.words}" for finding in fix.findings})
    most = ", ".join(
        f"{words} {count}" for words, count in sorted(often.items(), key=lambda item: (-item[1], item[0]))[:_MOST]
    )
    return f"{text}, median score {median(fix.score for fix in lossy):.2f}: {most}"


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "words": finding.text,
        "before": finding.before,
        "after": finding.after,
        "severity": round(finding.severity, 4),
        "weight": finding.weight,
        "lines_before": finding.lines_before,
        "lines_after": finding.lines_after,
        "seen_in": finding.seen_in,
    }


def _version(wanted: str, corpus: Path | None) -> Version:
    """A file, or a version of a task. Raises ConfigError when there is no such thing."""
    from engine.corpora import builtin_folder, load_corpus
    from engine.errors import ConfigError, TaskError

    path = Path(wanted)
    if path.is_file():
        return Version(wanted, path.name, path.read_bytes())
    name, _, part = wanted.partition(":") if wanted.rpartition(":")[2] in _PARTS else (wanted, "", "broken")
    folder = corpus or builtin_folder()
    try:
        tasks = load_corpus(folder, strict=False).tasks
    except TaskError as error:
        raise ConfigError(f"{wanted}: no such file, and {error}") from error
    task = tasks.get(name)
    if task is None:
        raise ConfigError(f"{wanted}: neither a file nor a task of {folder}; a version is TASK or TASK:reference")
    if part == "broken":
        return Version(f"{name} (broken start)", task.spec.solution_file, task.broken, task.harness_files)
    if task.reference is None:
        raise ConfigError(f"{wanted}: this task has no reference")
    return Version(f"{name} (reference)", task.spec.solution_file, task.reference.read_bytes(), task.harness_files)


def _built(sides: list[Version], arch: str, includes: tuple[Path, ...], sandbox: str) -> tuple[Compiled, Compiled]:
    import asyncio

    from engine.devices.toolkit import find_toolkit
    from engine.harness.disassembly import compiled_structure
    from engine.harness.sandbox import choose_sandbox

    toolkit, box = find_toolkit(), choose_sandbox(sandbox)

    async def both() -> tuple[Compiled, Compiled]:
        first, second = [
            await compiled_structure(
                side.code,
                side.file,
                toolkit=toolkit,
                sandbox=box,
                architecture=arch,
                beside=side.beside,
                includes=includes,
            )
            for side in sides
        ]
        return first, second

    return asyncio.run(both())


def _lines(
    sides: list[Version],
    found: tuple[Finding, ...],
    structures: tuple[Structure, Structure],
    built: tuple[Compiled, Compiled] | None,
) -> list[str]:
    from beaver_tui.state.lines import one_line
    from beaver_tui.state.structuretext import compiled_rows, evidence, notes

    baseline, candidate = sides
    lines = [f"{one_line(candidate.name)} against {one_line(baseline.name)}"]
    lines += evidence(found, "baseline", "candidate") or ["structure kept"]
    lines += [f"baseline: {note}" for note in notes(structures[0])]
    lines += [f"candidate: {note}" for note in notes(structures[1], structures[0])]
    if built is not None:
        lines += ["", *compiled_rows(*built)]
    return lines


def _record(
    sides: list[Version],
    found: tuple[Finding, ...],
    structures: tuple[Structure, Structure],
    built: tuple[Compiled, Compiled] | None,
    score: float,
) -> dict[str, Any]:
    record: dict[str, Any] = {
        "baseline": sides[0].name,
        "candidate": sides[1].name,
        "score": round(score, 4),
        "findings": [_finding(finding) for finding in found],
        "unparsed_lines": {"baseline": structures[0].errors, "candidate": structures[1].errors},
    }
    if built is not None:
        record["compiled"] = {"baseline": built[0], "candidate": built[1]}
    return record
