"""Instances of a checkout as tasks: one folder of data/ each, with the libraries that its family wants beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from engine.corpora import kernelbench
from engine.corpora.cudabeaver.families import CATEGORY_OF_BUCKET, FAMILIES, Family, needs_of
from engine.corpora.cudabeaver.layout import Inputs, Instance, faults_of, inner, read_json, source_model
from engine.corpora.cudabeaver.timing import Timing, own_timing, read_timing
from engine.corpora.files import bytes_of, file_tree, text_of
from engine.corpora.kernelbench.reader import TRIALS
from engine.errors import TaskError
from engine.task import Task, TaskSpec
from engine.text import slug

_OWN_FILES = Path(__file__).parent / "workspace"
_TRIALS = re.compile(r"\bnum_correct_trials=([1-9][0-9]?)\b")
_ELF = b"\x7fELF"
_COMMENTS = re.compile(rb"//[^\n]*|/\*.*?\*/|^\s*#(?!include|define|pragma|if)[^\n]*", re.DOTALL | re.MULTILINE)


def is_checkout(path: Path) -> bool:
    """Whether a folder is a checkout: data/ holds instances that nobody has prepared."""
    return any((path / "data").glob("*/instance.json"))


@dataclass
class Checkout:
    """``path`` is the checkout, ``error_logs`` a folder of logs that this machine has captured (``<task>/error.log``): the
    checkout has none."""

    path: Path
    error_logs: Path | None = None
    _libraries: dict[str, dict[str, Path]] = field(default_factory=dict)

    def folders(self) -> list[Path]:
        """The folders of all instances; one without its record is a faulty instance, not a stranger."""
        found = {file.parent for name in ("instance.json", "input.json") for file in self.path.glob(f"data/*/{name}")}
        return sorted(found)

    def read(self, folder: Path) -> Task:
        """The instance in ``folder``. Raises TaskError with every fault that was found."""
        instance = read_json(folder / "instance.json", Instance)
        inputs = read_json(folder / "input.json", Inputs)
        family = FAMILIES.get(instance.task_family)
        if family is None:
            known = ", ".join(FAMILIES)
            raise TaskError(
                f"{folder / 'instance.json'}: task_family: {instance.task_family!r} is unknown; known: {known}"
            )
        broken = bytes_of(inner(folder, instance.files.broken_start, "broken_start"))
        faults = faults_of(folder, instance, inputs, broken)
        timing = read_timing(self.path, instance.id)
        if family.times_itself:
            timing = own_timing(family.backend, family.test or inputs.test_command)
        spec = _spec(instance, inputs, family, timing)
        faults += [f"{folder / 'input.json'}: {name}: {reason}" for name, reason in spec.problems()]
        testbench = inner(folder, instance.files.testbench, "testbench")
        if not testbench.is_dir():
            faults.append(f"{testbench}: missing; a task needs its test harness there")
        if faults:
            raise TaskError(*faults)
        given = file_tree(testbench)
        return Task(
            spec=spec,
            folder=folder,
            prompt=text_of(inner(folder, instance.files.prompt, "prompt")),
            broken=broken,
            error_log=self._error_log(spec.task_id),
            harness_files={**_harness(given, spec.solution_file), **self._beside(family), **_own(family, timing)},
            reference=_solution(inner(folder, instance.files.reference, "reference"), given, spec.solution_file),
            libraries=(
                *(place for place, _ in family.libraries),
                *(["timing"] if timing and timing.own else []),
                *{Path(name).parts[0] for name in family.own},
            ),
        )

    def _beside(self, family: Family) -> dict[str, Path]:
        """Libraries of the checkout in the workspaces of a family."""
        files: dict[str, Path] = {}
        for place, source in family.libraries:
            if source not in self._libraries:
                self._libraries[source] = file_tree(self.path / source)
                if not self._libraries[source]:
                    raise TaskError(f"{self.path / source}: missing; some tasks of a checkout need it")
            files |= {f"{place}/{name}": path for name, path in self._libraries[source].items()}
        return files

    def _error_log(self, task: str) -> str:
        path = self.error_logs / slug(task) / "error.log" if self.error_logs is not None else None
        return text_of(path) if path is not None and path.is_file() else ""


def _own(family: Family, timing: Timing | None) -> dict[str, Path]:
    """Files of ours in a workspace."""
    names = timing.own if timing is not None else ()
    return {name: _OWN_FILES / name for name in names} | dict(family.own)


def _spec(instance: Instance, inputs: Inputs, family: Family, timing: Timing | None) -> TaskSpec:
    build = " && ".join(part for part in (family.build or inputs.build_command, family.after_build) if part)
    test = family.test or inputs.test_command
    if family.backend == "kernelbench":
        given = _TRIALS.search(test)
        test = kernelbench.judged(int(given[1]) if given else TRIALS)
    return TaskSpec(
        task_id=instance.id,
        source=instance.task_family,
        backend=family.backend,
        solution_file=inputs.solution_file,
        build_cmd=family.before + build,
        test_cmd=family.before + test,
        pass_evidence=family.evidence,
        time_cmd=family.before + timing.command if timing is not None else None,
        timing_parser=timing.parser if timing is not None else None,
        reference_parser=timing.reference_parser if timing is not None else None,
        min_sm=inputs.hardware.min_sm if inputs.hardware is not None else 0,
        arch_exact=inputs.required_arch or family.arch_exact,
        requires=needs_of(family, f"{build}\n{test}"),
        start_bucket=instance.error_category,
        category=CATEGORY_OF_BUCKET.get(instance.error_category),
        difficulty=instance.difficulty,
        source_model=source_model(instance.broken_start_provenance),
        timeouts={"cuda": family.budgets},
    )


def _harness(given: dict[str, Path], solution_file: str) -> dict[str, Path]:
    """The testbench without what is no harness: programs that the author's builds left there (make would take them for built
    already), and the solution's own place, where some testbenches keep the reference."""
    return {name: path for name, path in given.items() if name != solution_file and not _is_program(path)}


def _is_program(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(_ELF)) == _ELF


def _solution(reference: Path, given: dict[str, Path], solution_file: str) -> Path | None:
    """The reference, where it is a solution. Some families keep there a copy of the driver, of the problem or of the reference
    that the testbench itself compiles; others nothing but a comment."""
    if not reference.is_file():
        return None
    content = bytes_of(reference)
    if not _COMMENTS.sub(b"", content).strip():
        return None
    size = len(content)
    twins = (path for name, path in given.items() if name != solution_file and path.stat().st_size == size)
    return None if any(path.read_bytes() == content for path in twins) else reference
