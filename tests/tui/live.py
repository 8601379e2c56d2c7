"""Live runs of the small task "sum" in a real terminal, and what they leave on disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from engine.cells import read_cell
from engine.rundir import RunDirectory
from engine.trajectory import Trajectory
from tests.support.tasks import WRONG, write_task
from tests.tui.terminal import Terminal

SECOND_WRONG = WRONG.replace("i = 1;", "i = 2;")
THIRD_WRONG = WRONG.replace("i = 1;", "i = 3;")


class Bench:
    """A folder with a corpus of one task, in which the program is started. Use it as a context manager."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open = ExitStack()

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def start(
        self, *answers: str, fixer: str = "scripted:s", words: tuple[str, ...] = (), **terminal: object
    ) -> Terminal:
        """Start a live run of the task "sum", whose scripted fixer gives ``answers`` (a wrong one when
        nobody will ask it)."""
        if not (self.folder / "corpus").exists():
            write_task(self.folder / "corpus", answers={"s": list(answers or [WRONG])})
        return self.open("sum", "--corpus", "corpus", "--fixer", fixer, "--device", "cpu", *words, **terminal)

    def open(self, *words: object, **terminal: object) -> Terminal:
        """Start the program with these words."""
        return self._open.enter_context(Terminal(*words, folder=self.folder, **terminal))  # type: ignore[arg-type]

    @property
    def runs(self) -> list[Path]:
        """All runs of the folder, in the order in which they were begun."""
        folders = [path.parent for path in (self.folder / "runs").glob("*/run.json")]
        return sorted(folders, key=lambda path: (path / "run.json").stat().st_mtime_ns)

    @property
    def run(self) -> Path:
        """The only run."""
        (run,) = self.runs
        return run


def story(run: Path) -> Trajectory:
    """What the journal of a run with one trajectory tells."""
    directory = RunDirectory(run)
    past = read_cell(directory, directory.plan[0])
    assert past is not None
    return past


def categories(run: Path) -> list[str]:
    return [iteration.verdict.category for iteration in story(run).finished if iteration.verdict]


def actions(run: Path) -> list[str]:
    """What a person did, in order."""
    return [control.action for control in story(run).controls]


def solution(run: Path, iteration: int) -> bytes:
    """The bytes of a candidate."""
    directory = RunDirectory(run)
    candidate = story(run).iterations[iteration - 1].candidate
    assert candidate is not None
    assert candidate.solution is not None
    return directory.store(directory.plan[0]).get("solutions", candidate.solution)


def in_a_row(*texts: str) -> Callable[[str], bool]:
    """Whether each text stands in the line after the one before, somewhere on a screen."""

    def seen(screen: str) -> bool:
        lines = screen.splitlines()
        return any(
            all(text in line for text, line in zip(texts, lines[at:], strict=False))
            for at in range(len(lines) - len(texts) + 1)
        )

    return seen
