"""The logs of a step in full: from the run's files where they are, from the events' excerpts where they are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from beaver_tui.state.speedtext import timed_lines
from engine import events as ev
from engine.text import plain_text
from engine.trajectory import Iteration
from engine.verdict.profile_table import profile_table

Read = Callable[[str], str | None]
"""The whole log of a step of the harness, by the step's name; None when it is not stored."""

LOGS: dict[str, tuple[str, ...]] = {
    "build": ("build",),
    "test": ("checker-generate", "test", "blocking", "checker-compare", "again"),
    "sanitizer": ("sanitizer-build", "memcheck", "racecheck", "initcheck", "synccheck"),
    "profile": ("timed-build", "time", "profile"),
}
"""The four logs that are shown, each with the harness's steps that belong to it, in the order in which they run."""

LOG_OF = {step: name for name, steps in LOGS.items() for step in steps}
"""The log that a step of the harness is shown in."""

_ROLES = {
    "checker-generate": "the checker makes the inputs",
    "checker-compare": "the checker compares the outputs",
    "blocking": "run again with blocking launches",
    "again": "run again on the same inputs",
    "sanitizer-build": "built again, with line tables",
    "timed-build": "built again, without flags for debuggers",
    "time": "the last timed call",
    "profile": "run once more, under the profiler",
}
"""What a step is for, where its command does not say so."""


@dataclass(frozen=True)
class Section:
    """One step of the harness in a log. ``how`` says how it ended."""

    step: str
    command: str = ""
    how: str = ""
    excerpt: str = ""


def log_text(iteration: Iteration, name: str, read: Read) -> str:
    """A whole log of an iteration, empty when there is nothing: each step with a line that says what ran, how it ended and how
    long it took. Harmless text."""
    sections = {section.step: section for section in _SECTIONS[name](iteration)}
    parts = [_preflight(iteration)] if name == "build" else []
    parts += [_section(sections.get(step) or Section(step), read) for step in _steps(iteration, name)]
    parts += [_checked(iteration)] if name == "test" else []
    parts += [_timed(iteration), _profiled(iteration)] if name == "profile" else []
    return "\n".join(part for part in parts if part)


def _steps(iteration: Iteration, name: str) -> list[str]:
    """The harness's steps whose files are of the examination that the events tell. A candidate that is examined anew after a
    resume finds the files of the first try beside it."""
    judged = iteration.verdict is not None
    ran = {
        "build": iteration.built is not None,
        "checker-generate": iteration.tested is not None,
        "test": iteration.tested is not None,
        "blocking": iteration.tested is not None and iteration.tested.blocking is not None,
        "checker-compare": iteration.tested is not None and iteration.tested.check is not None,
        "again": iteration.tested is not None and judged,
        "sanitizer-build": iteration.tested is not None and (judged or bool(iteration.sanitized)),
        "timed-build": iteration.timed is not None and bool(iteration.timed.rewrites),
        "time": iteration.timed is not None,
        "profile": iteration.profiled is not None,
    }
    tools = [tool for tool in iteration.sanitized if tool not in LOGS[name]] if name == "sanitizer" else []
    return [step for step in LOGS[name] if ran.get(step, step in iteration.sanitized)] + tools


def how_it_ended(record: ev.StepRecord) -> str:
    """ "exit 2, 2.41 s", "timed out, 30.00 s", "signal 11, 0.30 s", or why it was not run."""
    if record.not_run:
        return f"not run: {record.not_run}"
    if record.timed_out:
        end = "timed out"
    elif record.memory_killed:
        end = "ended for its memory"
    elif record.signal is not None:
        end = f"signal {record.signal}"
    else:
        end = f"exit {record.exit_code}"
    return f"{end}, {record.seconds:.2f} s"


def _section(section: Section, read: Read) -> str:
    text = read(section.step)
    command, body = section.command, section.excerpt
    if text is not None:
        first, _, rest = text.partition("\n")
        command, body = (first.removeprefix("$ "), rest) if first.startswith("$ ") else (command, text)
    if not command and not body and not section.how:
        return ""
    # the command comes from the task, the file from a disk that others may write: neither is trusted to be one line
    head = " ".join(plain_text(f"$ {command or section.step}").split())
    how = " ".join(plain_text(", ".join(filter(None, (_ROLES.get(section.step), section.how)))).split())
    return "\n".join(filter(None, (f"{head}  [{how}]" if how else head, plain_text(body).rstrip("\n"))))


def _recorded(step: str, record: ev.StepRecord) -> Section:
    output = "\n".join(filter(None, (record.stdout.text.rstrip("\n"), record.stderr.text.rstrip("\n"))))
    return Section(step, record.command, how_it_ended(record), output)


def _build_sections(iteration: Iteration) -> list[Section]:
    return [_recorded("build", iteration.built.step)] if iteration.built is not None else []


def _test_sections(iteration: Iteration) -> list[Section]:
    if iteration.tested is None:
        return []
    sections = [_recorded("test", iteration.tested.step)]
    if iteration.tested.blocking is not None:
        sections.append(_recorded("blocking", iteration.tested.blocking))
    return sections


def _sanitizer_sections(iteration: Iteration) -> list[Section]:
    return [
        Section(tool, "", f"exit {report.exit_code}, {report.seconds:.2f} s", report.output.text)
        for tool, report in iteration.sanitized.items()
    ]


_SECTIONS: dict[str, Callable[[Iteration], list[Section]]] = {
    "build": _build_sections,
    "test": _test_sections,
    "sanitizer": _sanitizer_sections,
    "profile": lambda iteration: [],
}


def _preflight(iteration: Iteration) -> str:
    findings = iteration.preflight.findings if iteration.preflight is not None else []
    rewrites = iteration.built.rewrites if iteration.built is not None else []
    return plain_text(
        "\n".join([*(f"preflight: {finding}" for finding in findings), *(f"note: {text}" for text in rewrites)])
    )


def _checked(iteration: Iteration) -> str:
    """What the checker found, as far as its own log does not say it."""
    check = iteration.tested.check if iteration.tested is not None else None
    if check is None:
        return ""
    lines = [f"checker: {'passed' if check.passed else 'failed'}: {check.message}"]
    figures = {"max abs": check.max_abs, "mean abs": check.mean_abs, "max rel": check.max_rel}
    told = ", ".join(f"{name} {value:.3g}" for name, value in figures.items() if value is not None)
    if told:
        lines.append(f"  errors: {told}")
    if check.tolerance:
        lines.append("  tolerance: " + ", ".join(f"{name} {value:.3g}" for name, value in check.tolerance.items()))
    lines += [f"  at {item.index}: got {item.got}, want {item.want}" for item in check.mismatches]
    return plain_text("\n".join(lines))


def _timed(iteration: Iteration) -> str:
    return "\n".join(timed_lines(iteration.timed)) if iteration.timed is not None else ""


def _profiled(iteration: Iteration) -> str:
    profiled = iteration.profiled
    if profiled is None:
        return ""
    lines = [f"profiler: {profiled.note}"] if profiled.note else []
    return plain_text("\n".join(filter(None, (*lines, profile_table(profiled)))))
