"""The command ``beaver-tui``. Dispatches before any heavy import: a sweep starts fast and runs without a terminal."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from beaver_tui import __version__

if TYPE_CHECKING:
    import click

USAGE = """\
usage: beaver-tui [TASK | RUN] [OPTIONS]  the workbench: at home, live on a task, or on a stored run
       beaver-tui --batch [OPTIONS]       repair tasks headless; see beaver-tui --batch --help
       beaver-tui COMMAND [ARGUMENTS]

commands:
  open       the workbench, by its own name: beaver-tui open --help
  replay     step through a stored run
  tasks      list and check the tasks of a corpus
  verify     show on this machine that each task holds what it promises
  init       make a task of a failing program of your own
  apply      print the fix that a run accepted, as a patch
  diff       what changed between two steps of a trajectory
  lens       what one version of a program gave up of what made another fast
  harvest    make tasks of the failing candidates of runs
  import     make runs of the results of the CUDABeaver release
  classify   classify evidence records (JSON lines)
  doctor     what this machine offers, and what is missing
  submit     hand in the file that a human fixer's folder holds
  manifest   rebuild a run's manifest.jsonl from its journals
  plan       a sweep over the protocol's axes: runs, calls and cost, before anything is spent
  rescore    score stored runs again: other gates, other thresholds, today's classifier
  card       the evaluation card of stored runs: every field, or why there is none
  report     scores with intervals, failures, ranks: in the terminal, md, html, json, csv, latex

options:
  --version  print the version
  --help     print this text; every command has its own --help

exit codes: 0 done, 1 some tasks had infrastructure faults, 2 usage, 130 interrupted"""

USAGE_ERROR, INTERRUPTED = 2, 130


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code. Errors that a user can act on are one line on standard error."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    _open_streams()
    try:
        code = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader of our output has gone (beaver-tui tasks | head): not an error, and nothing more to say
        code, complaint = 0, ""
    except KeyboardInterrupt:
        code, complaint = INTERRUPTED, ""
    except (OSError, UnicodeError, RecursionError) as error:
        code, complaint = USAGE_ERROR, _in_words(error)
    else:
        return code
    _to_nowhere(sys.stdout)
    if complaint:
        _complain("beaver-tui", complaint)
    return code


def _run(words: list[str]) -> int:
    if words[:1] in (["--version"], ["-V"]):
        print(f"beaver-tui {__version__}")
        return 0
    if words[:1] in (["--help"], ["-h"], ["help"]) or (not words and not _at_a_terminal()):
        print(USAGE)
        return 0 if words else USAGE_ERROR
    from engine.errors import BeaverError

    try:
        return _dispatch(words)
    except BeaverError as error:
        _complain("beaver-tui", str(error))
        return USAGE_ERROR


def _dispatch(words: list[str]) -> int:
    import click

    if "--batch" in words:
        from beaver_tui.batch.command import batch as command

        words = [word for word in words if word != "--batch"]
        name = "beaver-tui --batch"
    else:
        from beaver_tui.commands import COMMANDS

        name, words = _command(words)
        if name not in COMMANDS:
            _complain("beaver-tui", f"{name}: neither a command, nor a run's folder, nor a task{_nearest(name, words)}")
            return USAGE_ERROR
        command = COMMANDS[name]
        name = f"beaver-tui {name}"
    try:
        return _invoke(command, name, words)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        _complain(name, error.format_message())
        return USAGE_ERROR


def _command(words: list[str]) -> tuple[str, list[str]]:
    """The command that is meant, and its words: without a command's name, the workbench on what is named."""
    from beaver_tui.commands import COMMANDS

    if not words:
        return "open", []
    if words[0] in COMMANDS:
        return words[0], words[1:]
    from beaver_tui.open import opens

    return ("open", words) if opens(words) else (words[0], words[1:])


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _invoke(command: click.Command, name: str, words: list[str]) -> int:
    """Not ``command.main``: that one ends the process by itself when nobody reads its output."""
    with command.make_context(name, list(words)) as context:
        result = command.invoke(context)
    return result if isinstance(result, int) else 0


def _nearest(name: str, words: list[str]) -> str:
    """What the user may have meant, as the end of a sentence."""
    from difflib import get_close_matches

    from beaver_tui.commands import COMMANDS
    from beaver_tui.open import task_ids

    near = get_close_matches(name, [*COMMANDS, "--batch", *task_ids(None)], n=1)
    if near:
        return f"; did you mean {near[0]}?"
    if name.startswith("-"):
        from beaver_tui.batch.command import batch

        options = {option for parameter in batch.params for option in parameter.opts}
        if name.partition("=")[0] in options:
            return f"; did you mean beaver-tui --batch {' '.join([name, *words])}?"
    return "; see beaver-tui --help"


def _complain(who: str, text: str) -> None:
    """One line on standard error."""
    with suppress(OSError, ValueError):  # nobody to tell
        print(f"{who}: {' '.join(text.split())}", file=sys.stderr, flush=True)


def _in_words(error: OSError | UnicodeError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "the input is nested too deeply"
    if isinstance(error, UnicodeError):
        return f"text that is not UTF-8: {error}"
    named = f"{error.filename}: " if error.filename is not None else ""
    try:
        os.getcwd()  # noqa: PTH109 (the question is whether there is one)
    except OSError:
        named = named or "the current folder is gone: "
    return f"{named}{error.strerror or error}"


def _open_streams() -> None:
    """Standard streams that can be used: a closed one (``<&-``, ``>&-``) is as good as /dev/null, and a sign that the
    terminal's encoding lacks is shown as its escape."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123 (for the life of the process)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, PTH123
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _to_nowhere(stream: TextIO) -> None:
    """What the stream still holds must go somewhere when the interpreter flushes it at its end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
