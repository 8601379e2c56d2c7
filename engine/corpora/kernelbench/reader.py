"""Problems of a KernelBench clone as tasks, wherever somebody has a broken candidate for one. Nothing is generated and nothing is
written into the clone."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from engine.corpora.files import bytes_of, text_of
from engine.corpora.kernelbench import commands
from engine.errors import TaskError
from engine.task import Budgets, Task, TaskSpec
from engine.text import slug

BUDGETS = Budgets(build=600, test=600, sanitizer=600)
"""Seconds: the build compiles PyTorch's headers, a minute or more; the test makes inputs of gigabytes."""

TRIALS = 5
"""KernelBench's own number."""

_CANDIDATE = re.compile(r"level_?(?P<level>\d+)[_/](?:problem_)?(?P<problem>\d+)(?!\d)")
"""In a candidate's path: level_1_problem_19_sample_0_kernel.py as KernelBench's runs write it, level1/19_ReLU.py, level1_19.py."""

_CHECKER = "kernelbench/kernel_static_checker.py"
_CHECK = (
    'export PYTHONPATH="$PWD/checkout"; python -c "import sys; from kernelbench.kernel_static_checker import validate_kernel_static as check; '
    "ok, errors, warnings = check(open('solution.py').read(), backend='cuda', precision='fp32'); "
    '[print(text, file=sys.stderr) for text in errors]; sys.exit(not ok)" && '
)

_PROMPT = """\
KernelBench, level {level}, problem {number}: {title}.

problem.py defines a PyTorch module `Model` and its inputs. solution.py must define a module `ModelNew` with the same constructor and
the same `forward`, whose work is done by CUDA kernels of its own, compiled with torch.utils.cpp_extension.load_inline or load.

Contract: the extension is compiled once, for the architecture of the device. Then both modules are made from the same seed, so that
their weights agree, and {trials} sets of seeded inputs are given to both. Every output must have the shape and type of Model's and
lie within 1e-4, absolute and relative. problem.py must stay as it is, and solution.py must not catch exceptions.

The problem:

{problem}
"""


def is_kernelbench(path: Path) -> bool:
    """Whether a folder is a clone of KernelBench, or the folder of its levels."""
    return _levels(path) is not None


def _levels(path: Path) -> Path | None:
    return next((place for place in (path / "KernelBench", path) if any(place.glob("level[0-9]*/1_*.py"))), None)


@dataclass
class Problems:
    """``path`` is the clone, ``broken`` a folder of candidates (any depth), ``error_logs`` a folder of logs that this machine has
    captured (``<task>/error.log``)."""

    path: Path
    broken: Path | None
    error_logs: Path | None = None

    def candidates(self) -> list[Path]:
        """The files that are candidates of some problem. Raises TaskError where there are none."""
        if self.broken is None:
            raise TaskError(
                f"{self.path}: KernelBench holds problems and no broken candidates; --broken DIR names a folder of them"
            )
        if not self.broken.is_dir():
            raise TaskError(f"{self.broken}: no such folder; --broken takes a folder of candidates")
        files = [path for path in sorted(self.broken.rglob("*")) if path.suffix in (".py", ".cu") and path.is_file()]
        found = [path for path in files if _CANDIDATE.search(self._name(path))]
        if not found:
            raise TaskError(
                f"{self.broken}: no candidates; their names say whose they are, "
                "such as level_1_problem_19_sample_0_kernel.py or level1/19_ReLU.py"
            )
        kept: dict[tuple[str, bytes], Path] = {}
        for path in found:  # samples that are the same to the byte are one task
            kept.setdefault((self._key(path), path.read_bytes()), path)
        return list(kept.values())

    def _name(self, path: Path) -> str:
        assert self.broken is not None
        return path.relative_to(self.broken).as_posix()

    def _key(self, path: Path) -> str:
        match = _CANDIDATE.search(self._name(path))
        assert match is not None
        return f"level{match['level']}_{match['problem']}"

    def read(self, candidate: Path) -> Task:
        """The task of one candidate. Raises TaskError when its problem is not in the clone."""
        level, _, number = self._key(candidate).removeprefix("level").partition("_")
        folder = _levels(self.path)
        assert folder is not None
        problems = sorted((folder / f"level{level}").glob(f"{number}_*.py"))
        if len(problems) != 1:
            raise TaskError(f"{candidate}: there is no problem {number} of level {level} in {folder}")
        broken = bytes_of(candidate)
        name = f"kernelbench_level{level}_{number}__{hashlib.sha256(broken).hexdigest()[:8]}"
        checker = self.path / "src" / _CHECKER
        own = {f"checkout/{_CHECKER}": checker} if checker.is_file() else {}
        log = self.error_logs / slug(name) / "error.log" if self.error_logs is not None else None
        return Task(
            spec=_spec(name, checked=bool(own)),
            folder=candidate.parent,
            prompt=_PROMPT.format(
                level=level,
                number=number,
                title=problems[0].stem.partition("_")[2].strip("_").replace("_", " "),
                trials=TRIALS,
                problem=text_of(problems[0]),
            ),
            broken=broken,
            error_log=text_of(log) if log is not None and log.is_file() else "",
            harness_files={"problem.py": problems[0], **own, **commands.files()},
            libraries=(commands.LIBRARY, *(["checkout"] if own else [])),
        )


def _spec(name: str, *, checked: bool) -> TaskSpec:
    return TaskSpec(
        task_id=name,
        source="kernelbench",
        backend="kernelbench",
        solution_file="solution.py",
        build_cmd=commands.EXPORTS + (_CHECK if checked else "") + commands.BUILD,
        test_cmd=commands.EXPORTS + commands.judged(TRIALS),
        pass_evidence=commands.EVIDENCE,
        time_cmd=commands.EXPORTS + commands.TIMING.command,
        timing_parser=commands.TIMING.parser,
        reference_parser=commands.TIMING.reference_parser,
        requires=list(commands.REQUIRES),
        timeouts={"cuda": BUDGETS},
    )
