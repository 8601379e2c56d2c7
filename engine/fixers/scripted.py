"""Recorded answers as a fixer: the loop can be seen, tested and benchmarked without a model."""

from __future__ import annotations

import re
from pathlib import Path

from engine.errors import ConfigError, NoMoreAnswers
from engine.fixers.base import FixRequest, Reply
from engine.task import Task
from engine.yaml_file import read_yaml


class ScriptedFixer:
    """Answers number n of a script in iteration n (attempt a begins a-1 answers later).

    ``script`` names a folder of a task's answers (answers/<script>/<n>.<ext>), or a YAML file that maps task ids to lists of
    replies. A file with the solution's extension is the whole candidate; a ``.md`` file, and a reply from YAML, is a chat
    reply from which the candidate is extracted.
    """

    def __init__(self, script: str, name: str | None = None) -> None:
        self.name = name or f"scripted:{script}"
        self._script = script
        self._replies = _read_yaml(Path(script)) if script.endswith((".yaml", ".yml")) else None

    def covers(self, task: Task) -> bool:
        """Whether there is any answer for the task: a sweep leaves the others out of its plan."""
        return bool(self._answers(task))

    async def propose(self, request: FixRequest) -> Reply:
        answers = self._answers(request.task)
        number = request.iteration + request.attempt - 1
        if number > len(answers):
            raise NoMoreAnswers(f"{self.name}: no answer {number} for {request.task.id}")
        answer = answers[number - 1]
        text = answer if isinstance(answer, str) else answer.read_bytes().decode("utf-8", "surrogateescape")
        whole = isinstance(answer, Path) and answer.suffix != ".md"
        request.on_delta(text, False)
        return Reply(text=text, whole_file=whole, model=self.name)

    async def close(self) -> None:
        """Nothing is held open."""

    def _answers(self, task: Task) -> list[str] | list[Path]:
        if self._replies is not None:
            return self._replies.get(task.id, [])
        folder = task.answers / self._script if task.answers else None
        if folder is None or not folder.is_dir():
            return []
        files = [path for path in folder.iterdir() if path.is_file() and re.fullmatch(r"\d+", path.stem)]
        return sorted(files, key=lambda path: int(path.stem))


def scripts_of(task: Task) -> list[str]:
    """The scripts that lie beside a task."""
    if task.answers is None:
        return []
    return sorted(folder.name for folder in task.answers.iterdir() if folder.is_dir())


def _read_yaml(path: Path) -> dict[str, list[str]]:
    content = read_yaml(path, f"--fixer scripted:{path}")
    if not isinstance(content, dict) or not all(
        isinstance(replies, list) and all(isinstance(reply, str) for reply in replies) for replies in content.values()
    ):
        raise ConfigError(f"--fixer scripted:{path}: must map task ids to lists of replies (text)")
    return {str(task): replies for task, replies in content.items()}
